"""File formats to Arrow tables: one file, one format."""

from tagwright.data.readers.reader import Reader
from tagwright.registry import Kind

__all__ = ["KIND", "Reader"]

KIND = Kind(title="reader", facts=None, base=Reader)
