"""What every reader of a file format is."""

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pyarrow as pa


class Reader:
    """What every reader derives from. Nothing is made of it: its functions are called on the class.

    Files may be compressed (`opening.COMPRESSED`), which the suffix before says nothing of: open
    them by `opening.open_bytes`, or `load` or `lines` of `text_bytes`.
    """

    suffixes: ClassVar[tuple[str, ...]]  # of the files that it reads, such as ".csv", in lower case

    @staticmethod
    def read(path: Path) -> pa.Table:
        """The raw columns of a file; a fault is a `DataError` that names file and line.

        Metadata `found` of the schema is a sentence about the file, for a person.
        """
        raise NotImplementedError

    @classmethod
    def batches(cls, path: Path) -> Iterator[pa.RecordBatch]:
        """The same in pieces, in constant memory where the format allows it."""
        yield from cls.read(path).to_batches()
