"""bytes -> Arrow tables: readers by suffix, text and labels found, one canonical form."""

from tagwright.parts import Kind
from tagwright.read._reader import Reader
from tagwright.read.conll import conll
from tagwright.read.csv import csv
from tagwright.read.data import Data, Task
from tagwright.read.fasttext import fasttext
from tagwright.read.jsonl import jsonl
from tagwright.read.parquet import parquet
from tagwright.read.source import read_data
from tagwright.read.stream import stream

__all__ = ["KIND", "Data", "Reader", "Task", "conll", "csv", "fasttext", "jsonl", "parquet", "read_data", "stream"]

KIND = Kind(title="reader", facts=None, base=Reader)
