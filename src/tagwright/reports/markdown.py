"""Markdown of the model card: tables, and text without a meaning of its own."""

import re
from collections.abc import Sequence

import numpy as np


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table: the first column left, the others right."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def three(value: float) -> str:
    """Three decimals; a dash for what is undefined."""
    return "–" if np.isnan(value) else f"{value:.3f}"


def plain(text: str) -> str:
    r"""The text on one line, with no meaning in Markdown or HTML.

    >>> plain("a|b *c*\n<i>")
    'a\\|b \\*c\\* &lt;i>'
    """
    line = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([\\`*\[\]|#~])", r"\\\1", line)
