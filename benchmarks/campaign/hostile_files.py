"""Hostile files of other formats and of no format: compressed, special, linked, strangely named,
changing.
"""

import bz2
import gzip
import os
import time
import zlib
from collections.abc import Callable
from pathlib import Path

from campaign.hostile import Hostile, json_lines, raw, sparse, table

BLOCK = 1 << 24


def _members(
    make: Callable[[bytes], bytes], start: bytes, line: bytes, count: int
) -> Callable[[Path], object]:
    """The start, then a block of equal lines, again and again: each a compressed piece of its
    own.
    """

    def write(path: Path) -> None:
        block = make(line * (BLOCK // len(line)))
        with path.open("wb") as file:
            file.write(make(start))
            for _ in range(count):
                file.write(block)

    return write


def _stream(start: bytes, line: bytes, count: int) -> Callable[[Path], object]:
    """The same as one piece of gzip."""

    def write(path: Path) -> None:
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        with path.open("wb") as file:
            file.write(packer.compress(start))
            for _ in range(count):
                file.write(packer.compress(line * (BLOCK // len(line))))
            file.write(packer.flush())

    return write


def _zstandard(start: bytes, line: bytes, count: int) -> Callable[[Path], object]:
    def write(path: Path) -> None:
        import pyarrow as pa

        with pa.CompressedOutputStream(str(path), "zstd") as file:
            file.write(start)
            for _ in range(count):
                file.write(line * (BLOCK // len(line)))

    return write


WORDS = b"x" * 5_500  # rows are long, and have one word: a model takes its time with each
HEADER, ROW, OBJECT = (
    b"text,labels\n",
    WORDS + b",camp\n",
    b'{"text": "' + WORDS + b'", "labels": ["camp"]}\n',
)
BOMBS = {
    "a.csv.gz": _stream(HEADER, ROW, 30),
    "b.csv.gz": _members(gzip.compress, HEADER, ROW, 30),
    "c.csv.gz": _stream(HEADER, b"\0", 30),
    "d.csv.gz": _stream(HEADER, b"x", 30),
    "e.csv.gz": _stream(HEADER, b"\n", 30),
    "f.csv.gz": _stream(HEADER, b'"\n', 30),
    "a.jsonl.gz": _stream(b"", OBJECT, 30),
    "b.jsonl.gz": _stream(b"", b"[", 20),
    "c.jsonl.gz": _stream(b"", b" ", 30),
    "a.txt.gz": _stream(b"", b"__label__camp " + WORDS + b"\n", 30),
    "a.conll.gz": _stream(b"", b"tent B-GOODS\n", 30),
    "b.conll.gz": _stream(b"", b"tent B-GOODS\n\n", 30),
    "a.csv.bz2": _members(bz2.compress, HEADER, ROW, 30),
    "a.csv.zst": _zstandard(HEADER, ROW, 100),
    "b.csv.zst": _zstandard(HEADER, b"\0", 100),
    "a.jsonl.zst": _zstandard(b"", OBJECT, 60),
}
CONLL = "red O\ntent B-GOODS\n\nknife B-GOODS\nand O\n\n" * 6
TEXTS = {
    "a.conll": CONLL,
    "b.conll": CONLL + "tent\n",
    "c.conll": CONLL + "tent I-\n\nx B\n\ny -\n\nz B-B-B\n",
    "d.conll": CONLL + "tent \x1b[31mB-X\n\u202e I-\u202e\n",
    "e.conll": CONLL + "\n".join(f"x B-{n}" for n in range(20_000)) + "\n",
    "f.conll": "x O\n" * 200_000,
    "g.conll": CONLL + "x " + "y " * 100_000 + "O\n",
    "h.conll": CONLL + "a\tb\tc\t\n\t\t\n",
    "i.conll": "\n" * 10_000,
    "j.conll": "-DOCSTART- O\n" * 100,
    "k.iob": CONLL.replace("\n", "\r\n"),
    "a.txt": "__label__a x\n" + "".join(f"__label__{n} " for n in range(10_000)) + "x\n",
    "b.txt": "__label__ x\n__label__\n__label__a\n__label__b \n",
    "c.txt": "__label____label__ x\n__label__\x1b[31m y\n__label__\u202e z\n",
    "d.txt": "__label__a " + "x" * 10_000_000 + "\n__label__b y\n",
    "e.txt": "\n" * 100_000,
    "f.txt": "x\n" * 1_000_000,
    "g.txt": "__label__a x\r__label__b y\r",
    "h.txt": "__label__" * 100_000,
    "i.tsv": table().replace(",", "\t"),
    "j.tsv": table(),
    "k.json": json_lines(),
    "l.ndjson": json_lines(),
}
LEARNT = ("c.conll", "c.txt")
ODD_NAMES = (
    "a\nb.csv",
    "\x1b[31mred.csv",
    "-x.csv",
    "[red]x[bold].csv",
    "\u202egnp.csv",
    "\udcff.csv",
    ".csv",
    "a",
    "a.CSV",
    "a.csv.",
    "a.csv.xz",
    "a.gz",
    "a.xlsx",
    "a.pkl",
    "a.csv.csv.gz.gz",
    "x" * 250 + ".csv",
    "$(touch canary).csv",
)


def _special() -> list[Hostile]:
    def folder(path: Path) -> None:
        path.mkdir()

    def looped(path: Path) -> None:
        path.symlink_to(path.name)

    def linked(target: str) -> Callable[[Path], object]:
        return lambda path: path.symlink_to(target)

    made = {
        "a folder": (folder, "a.csv"),
        "a pipe": (lambda path: os.mkfifo(path), "a.csv"),
        "a pipe of Parquet": (lambda path: os.mkfifo(path), "a.parquet"),
        "a pipe of JSON": (lambda path: os.mkfifo(path), "a.jsonl"),
        "a link to itself": (looped, "a.csv"),
        "a link to nothing": (linked("nothing"), "a.csv"),
        "a link to /dev/zero": (linked("/dev/zero"), "a.csv"),
        "a link to /dev/zero, JSON": (linked("/dev/zero"), "a.jsonl"),
        "a link to /dev/zero, fastText": (linked("/dev/zero"), "a.txt"),
        "a link to /dev/zero, Parquet": (linked("/dev/zero"), "a.parquet"),
        "a link to /dev/full": (linked("/dev/full"), "a.csv"),
        "a link to /dev/urandom": (linked("/dev/urandom"), "a.csv"),
        "a link to /dev/null": (linked("/dev/null"), "a.csv"),
        "a link to /proc": (linked("/proc/self/mem"), "a.csv"),
        "a link to the system's names": (linked("/proc/self/environ"), "a.txt"),
        "a link to a folder": (linked("/proc/self"), "a.csv"),
    }
    return [
        Hostile(what=f"special: {what}", name=name, write=write, alike=False, patience=10)
        for what, (write, name) in made.items()
    ]


def _shrinks(path: Path) -> None:
    """The file becomes shorter and longer while it is read."""
    size = path.stat().st_size
    for _ in range(60):
        os.truncate(path, size // 3)
        time.sleep(0.01)
        with path.open("ab") as file:
            file.write(b"x,camp\n" * 1000)
        time.sleep(0.01)


def _changing() -> list[Hostile]:
    rows = {
        "a.csv": "text,labels\n" + "a red tent,camp\na knife,kitchen\n" * 600_000,
        "a.jsonl": json_lines() * 20_000,
        "a.txt": "__label__camp a red tent\n__label__kitchen a knife\n" * 600_000,
        "a.conll": CONLL * 100_000,
    }
    return [
        Hostile(
            what=f"changing: {name}", name=name, write=raw(one), alike=False, meanwhile=_shrinks
        )
        for name, one in rows.items()
    ]


def _large() -> list[Hostile]:
    starts = {
        "a.csv": HEADER,
        "a.tsv": b"text\tlabels\n",
        "a.jsonl": b'{"text": "x"}\n',
        "a.txt": b"__label__a x\n",
    }
    starts |= {"a.conll": b"x O\n", "a.parquet": b"PAR1"}
    return [
        Hostile(what=f"2 GB of NUL: {name}", name=name, write=sparse(one, 2**31))
        for name, one in starts.items()
    ]


CUT = gzip.compress(table(2000).encode())[:-20]  # which is no bzip2 and no zstandard
CASES = [
    *(Hostile(what=f"bomb: {name}", name=name, write=one) for name, one in BOMBS.items()),
    *(
        Hostile(what=f"text: {name}", name=name, write=raw(one), learn=name in LEARNT)
        for name, one in TEXTS.items()
    ),
    *(Hostile(what=f"name: {name!r:.40}", name=name, write=raw(table())) for name in ODD_NAMES),
    *(
        Hostile(what=f"cut: {name}", name=name, write=raw(CUT))
        for name in ("a.csv.gz", "b.csv.bz2", "c.csv.zst")
    ),
    *_special(),
    *_changing(),
    *_large(),
]
