"""The limits of what is read, in one place. Ordinary files are far from them (docs/data.md)."""

from pathlib import Path

from tagwright.errors import DataError

ROW = 1 << 27  # bytes of a row in a text file
COLUMNS = 100_000  # of a file, the keys inside nested ones included
DEPTH = 100  # levels of nesting in a row; the Parquet reader has the same limit
CELLS = 1 << 27  # of a piece of JSON lines, where every line may have keys of its own
SPARSE = 4  # cells per byte of JSON lines: with more, nearly all cells are empty
GROWTH = 500  # times its size to which a compressed file may grow
LEAST_GROWTH = 1 << 28  # bytes to which any file may grow

STREAM_BLOCK = 1 << 22  # bytes read at a time; some forty blocks may be under way
JSON_BLOCK = 1 << 20  # bytes parsed at a time
BATCH_ROWS, BATCH_BYTES = 32768, 1 << 22  # handled at a time


class Growth:
    """How large a compressed file has become so far; beyond all measure it is an error."""

    def __init__(self, path: Path) -> None:
        self.path, self.bytes = path, 0
        self.most = max(LEAST_GROWTH, GROWTH * path.stat().st_size)

    def add(self, count: int) -> None:
        """Count so many bytes more."""
        self.bytes += count
        if self.bytes > self.most:
            raise DataError(
                f"{self.path.name}: {self.path.stat().st_size:,} bytes that grow to {self.bytes:,}"
                f" or more when read; at most {LEAST_GROWTH:,}, or {GROWTH} times the file, are"
                " allowed. If that is meant, write it anew without compression or dictionaries"
            )


def require_columns(path: Path, count: int) -> None:
    """Refuse a file of too many columns."""
    if count > COLUMNS:
        raise DataError(
            f"{path.name}: {count:,} columns, at most {COLUMNS:,} are read; write labels as one"
            " column, such as a;b, and what else differs from row to row as a list in one"
        )


def long_row(place: str) -> DataError:
    """What is wrong with a row beyond the limit."""
    limit = f"longer than {ROW:,} bytes, the most that a row may have"
    return DataError(f"{place}: {limit}; is a line end or a quote missing?")
