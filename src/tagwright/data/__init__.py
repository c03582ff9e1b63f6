"""Files and frames to labelled text: readers, columns, splits, streams, and the embedded shop."""

from tagwright.data.dataset import Data, Task
from tagwright.data.readers.conll import conll
from tagwright.data.readers.csv import csv
from tagwright.data.readers.fasttext import fasttext
from tagwright.data.readers.jsonl import jsonl
from tagwright.data.readers.parquet import parquet
from tagwright.data.readers.reader import Reader
from tagwright.data.source import read_data
from tagwright.data.stream import stream

__all__ = [
    "Data",
    "Reader",
    "Task",
    "conll",
    "csv",
    "fasttext",
    "jsonl",
    "parquet",
    "read_data",
    "stream",
]
