"""How deep JSON is nested, as a parser counts it."""

import json
import random
from typing import Any

import pytest

from tagwright.data.files.depth import is_too_deep

STRINGS = ["[[[", "}}", "\\", '\\"[{', '"', "\\\\", "x"]


def value(draw: random.Random, levels: int) -> Any:
    if levels == 0 or draw.random() < 0.3:
        return draw.choice([*STRINGS, 1, None])
    count = draw.randrange(4)
    if draw.random() < 0.5:
        return [value(draw, levels - 1) for _ in range(count)]
    return {f"{i}{draw.choice(STRINGS)}": value(draw, levels - 1) for i in range(count)}


def depth(found: Any) -> int:
    if not isinstance(found, list | dict):
        return 0
    return 1 + max(map(depth, found.values() if isinstance(found, dict) else found), default=0)


@pytest.mark.parametrize("seed", range(40))
def test_the_depth_is_that_of_the_deepest_line(seed: int) -> None:
    draw = random.Random(seed)
    rows = [{"a": value(draw, draw.randrange(7))} for _ in range(draw.randrange(1, 6))]
    lines = "\n".join(map(json.dumps, rows)).encode() + draw.choice([b"", b"\n"])
    deepest = max(map(depth, rows))
    assert is_too_deep(lines, deepest - 1)
    assert not is_too_deep(lines, deepest)


def test_a_broken_line_does_not_hide_a_deep_one_behind_it() -> None:
    assert is_too_deep(b'{"a": "]]]]\n{"b": [[[]]]}\n', 3)
    assert not is_too_deep(b'{"a": [[\n{"b": [[]]}\n', 3)


def test_many_brackets_beside_each_other_are_not_deep() -> None:
    assert not is_too_deep(b'{"a": [' + b"[], " * 1000 + b"[]]}", 3)
