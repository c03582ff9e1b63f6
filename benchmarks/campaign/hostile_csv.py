"""Hostile CSV files, and other files by that name."""

import random

from campaign.hostile import Hostile, raw, table


def _cases() -> list[Hostile]:
    """Every case."""
    sound, many = table(), [f"c{n}" for n in range(100_000)]
    made: dict[str, str | bytes] = {
        "100,000 columns": ",".join(["text", "labels", *many[2:]])
        + "\n"
        + "x,a"
        + ",1" * 99_998
        + "\n",
        "100,001 columns": ",".join(["text", "labels", *many[1:]]) + "\n",
        "300,000 columns": ",".join(["text", "labels", *map(str, range(299_998))]) + "\n",
        "20,000 labels in a row": sound + f"x,{';'.join(f'l{n}' for n in range(20_000))}\n",
        "20,000 rows of other labels": "text,labels\n"
        + "".join(f"x {n},l{n}\n" for n in range(20_000)),
        "a cell of 10 MB": sound + f'"{"word " * 2_000_000}",camp\n',
        "a cell of 10 MB without blanks": sound + f"{'x' * 10_000_000},camp\n",
        "a label of 10 MB": sound + f"x,{'y' * 10_000_000}\n",
        "a header of 5 MB": f"text,{'x' * 5_000_000}\na,b\n",
        "invalid UTF-8 in a text": sound.encode() + b"\xff,camp\n",
        "invalid UTF-8 as a label": sound.encode() + b"x,\xc3\x28\n",
        "invalid UTF-8 in the header": sound.encode().replace(b"labels", b"labels,\xff", 1),
        "overlong UTF-8": sound.encode() + b"\xc0\xaf,camp\n",
        "a surrogate as bytes": sound.encode() + b"\xed\xa0\x80,camp\n",
        "a mark": b"\xef\xbb\xbf" + sound.encode(),
        "two marks": b"\xef\xbb\xbf" * 2 + sound.encode(),
        "a mark alone": b"\xef\xbb\xbf",
        "UTF-16": sound.encode("utf-16"),
        "UTF-16 without a mark": sound.encode("utf-16-be"),
        "UTF-32": sound.encode("utf-32"),
        "a NUL": sound.encode() + b"a\0b,camp\n",
        "nothing but NUL": bytes(10_000),
        "line ends of old": sound.replace("\n", "\r"),
        "line ends of all kinds": sound.replace("\n", "\r\n", 3).replace("\n", "\r", 3),
        "an open quote": sound + '"x,camp\n' + sound,
        "a quote in a cell": sound + 'a "b" c,camp\n',
        "text behind a quote": sound + '"a" b,camp\n',
        "1,000,001 quotes": sound + '"' * 1_000_001 + ",camp\n",
        "a short row": sound + "x\n",
        "a long row": sound + "x,camp,more\n",
        "a column twice": sound.replace("labels", "labels,labels", 1),
        "a column without name": sound.replace("labels", "labels,", 1),
        "blank names": ",,,\n1,2,3,4\n",
        "nothing": b"",
        "one byte": b"x",
        "a quote": b'"',
        "a line end": b"\n",
        "only a header": "text,labels\n",
        "only a header without an end": "text,labels",
        "only blank lines": "\n" * 10_000,
        "only blanks": " \t\n" * 1000,
        "a header and blank lines": "text,labels\n" + "\n" * 10_000,
        "empty cells": "text,labels\n" + ",\n" * 1000,
        "1 million rows": "text,labels\n" + "a,x\nb,y\n" * 500_000,
        "1 million rows of one column": "t\n" + "a\n" * 1_000_000,
        "noise": random.Random(0).randbytes(200_000),
        "noise of text": "".join(random.Random(1).choices('",;\n\r\t ab\\\u202e', k=20_000)),
        "markup as labels": sound + "x,[bold red]a[/]\ny,[/]\nz,:smile:\nw,[link=http://x]b\n",
        "escapes as labels": sound + "x,\x1b[31mred\ny,\x1b]0;title\x07\nz,\x9b2J\n",
        "escapes in texts": sound + "\x1b[2J\x1b[31mred,camp\n\x1b[2J\x1b[31mred,kitchen\n",
        "escapes in the header": sound.replace("labels", "labels,\x1b[31mc", 1),
        "turning marks": sound + "x,\u202egnp.exe\ny,\u2066a\n\u200f,\u200e\n",
        "line separators": sound + "x\u2028y,a\u2028b\nx\x85y,a\x85b\n",
        "formulas": sound + "=1+1,=cmd|'/c calc'!A1\n@x,+1\n-1,-2\n",
        "scripts": sound + "<script>alert(1)</script>,<img src=x onerror=alert(1)>\n",
        "labels of blanks": sound + "x, \ny,  ;  \nz,;;;\n",
        "weights that are none": table(weight="x"),
        "weights of NaN": table(weight="nan"),
        "weights beyond": table(weight="1e999"),
        "weights below 0": table(weight="-1"),
        "splits that are none": table(split="x"),
        "splits all alike": table(split="test"),
        "a column that tag writes": table(tags="x"),
        "separators alone": ";;;;\n;;;;\n",
        "a zip": b"PK\x03\x04" + random.Random(2).randbytes(5000),
        "a workbook": b"PK\x03\x04\x14\0\x06\0" + b"[Content_Types].xml" + bytes(500),
        "an old workbook": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000),
        "a Parquet file": b"PAR1" + bytes(100) + b"PAR1",
        "a gzip": b"\x1f\x8b\x08" + bytes(100),
        "HTML": "<!doctype html><html><body>404, not found</body></html>",
    }
    own_column = {"a column that tag writes"}
    learnt = {
        "markup as labels",
        "escapes as labels",
        "turning marks",
        "formulas",
        "20,000 labels in a row",
        "scripts",
    }
    learnt |= {"empty cells", "only a header", "noise", "weights of NaN", "line separators"}
    return [
        Hostile(
            what=f"CSV: {what}",
            name="a.csv",
            write=raw(one),
            alike=what not in own_column,
            learn=what in learnt,
        )
        for what, one in made.items()
    ]


CASES = _cases()
