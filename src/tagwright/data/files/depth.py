"""How deeply the lines of JSON are nested, told without a parser: what is too deep would exhaust a
parser's stack.
"""

import numpy as np

from tagwright.arrays import Bytes, Ints

QUOTE, BACKSLASH, NEWLINE = ord('"'), ord("\\"), ord("\n")


def line_starts(values: Bytes) -> Ints:
    """Where each line of the bytes (N,) begins.

    >>> line_starts(np.frombuffer(b"ab\\nc\\n", np.uint8)).tolist()
    [0, 3]
    """
    return np.append(0, np.flatnonzero(values[:-1] == NEWLINE) + 1)


def is_too_deep(lines: bytes, most: int) -> bool:
    """Whether a line opens more than `most` lists and objects inside each other.

    >>> [is_too_deep(b'{"a": ["[", "["]}', most) for most in (1, 2)]
    [True, False]
    """
    values = np.frombuffer(lines, np.uint8)
    return too_deep(values, line_starts(values), most)


def too_deep(values: Bytes, starts: Ints, most: int) -> bool:
    """The same of bytes (N,) whose lines begin at `starts`."""
    folded = values | 32  # makes one of [ and {, and one of ] and }
    opening = np.flatnonzero(folded == ord("{"))
    ends = np.append(starts, len(values))
    if (opening[most:] - opening[: len(opening[most:])]).min(initial=len(values)) >= np.diff(
        ends
    ).max():
        return False  # no line is long enough for so many brackets, whether nested or not
    closing = np.flatnonzero(folded == ord("}"))
    places = np.concatenate([opening, closing])
    steps = np.repeat([1, -1], [len(opening), len(closing)])
    order = np.argsort(places, kind="stable")
    return _deepest(places[order], steps[order], _quotes(values), starts) > most


def _deepest(places: Ints, steps: Ints, quotes: Ints, starts: Ints) -> int:
    """The deepest that brackets at `places` lead, from 0 at each line; those between quotes are
    letters.
    """
    line = np.searchsorted(starts, places, side="right") - 1
    inside = (np.searchsorted(quotes, places) - np.searchsorted(quotes, starts)[line]) % 2
    depths = np.cumsum(np.where(inside, 0, steps))
    firsts = np.searchsorted(places, starts)
    return int((depths - np.append(0, depths)[firsts][line]).max(initial=0))


def _quotes(values: Bytes) -> Ints:
    """Where the quotes are that begin or end a string: not behind an odd number of backslashes."""
    quotes = np.flatnonzero(values == QUOTE)
    slashes = np.flatnonzero(values == BACKSLASH)
    if not len(slashes):
        return quotes
    firsts = np.append(True, np.diff(slashes) > 1)  # of a run
    lengths = (
        np.arange(len(slashes))
        - np.maximum.accumulate(np.where(firsts, np.arange(len(slashes)), 0))
        + 1
    )
    run_before = np.zeros(len(values) + 1, np.bool_)
    run_before[slashes[lengths % 2 == 1] + 1] = True
    return quotes[~run_before[quotes]]
