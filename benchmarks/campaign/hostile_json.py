"""Hostile JSON lines."""

import json

from campaign.hostile import Hostile, json_lines, raw


def _cases() -> list[Hostile]:
    """Every case."""
    made: dict[str, str | bytes] = {}
    for depth in (100, 1_000, 10_000, 1_000_000):
        for key in ("text", "labels", "unused"):
            others = {"text": '"x"', "labels": '["camp"]', "unused": "1"}
            for opened, closed in (("[", "]"), ('{"a":', "}")):
                fields = others | {key: opened * depth + "1" + closed * depth}
                row = ", ".join(f'"{name}": {one}' for name, one in fields.items())
                made[f"{key} {depth:,} deep, {opened}"] = json_lines(f"{{{row}}}")
    wide = {f"k{n}": n for n in range(100_000)}
    long = "9" * 5000
    made |= {
        "100,000 keys": json_lines({"text": "x", "labels": ["camp"], **wide}),
        "99,990 keys inside": json_lines(
            {"text": "x", "labels": ["camp"], "unused": {f"k{n}": n for n in range(99_990)}}
        ),
        "other keys in each line": json_lines(*({"text": "x", f"k{n}": 1} for n in range(20_000))),
        "20,000 labels": json_lines({"text": "x", "labels": [f"l{n}" for n in range(20_000)]}),
        "a text of 10 MB": json_lines({"text": "word " * 2_000_000, "labels": ["camp"]}),
        "5,000 digits": json_lines(f'{{"text": "x", "labels": ["camp"], "n": {long}}}'),
        "5,000 digits as label": json_lines(f'{{"text": "x", "labels": {long}}}'),
        "5,000 digits as text": (
            f'{{"text": {long}, "labels": "a"}}\n{{"text": 1, "labels": "b"}}\n' * 6
        ),
        "5,000 digits behind the point": json_lines(
            f'{{"text": "x", "labels": ["camp"], "n": 0.{long}}}'
        ),
        "an exponent of 5,000 digits": json_lines(
            f'{{"text": "x", "labels": ["camp"], "n": 1e{long}}}'
        ),
        "NaN": json_lines('{"text": "x", "labels": ["camp"], "n": NaN}'),
        "Infinity": json_lines('{"text": "x", "labels": ["camp"], "n": -Infinity}'),
        "half a surrogate pair in the text": json_lines('{"text": "\\ud800", "labels": ["camp"]}'),
        "half a surrogate pair as a label": json_lines('{"text": "x", "labels": ["\\udfff"]}'),
        "half a surrogate pair in a key": json_lines(
            '{"text": "x", "labels": ["camp"], "\\ud800": 1}'
        ),
        "NUL as an escape": json_lines({"text": "\0", "labels": ["\0"]}),
        "a key twice": json_lines('{"text": "x", "text": "y", "labels": ["camp"]}'),
        "null": json_lines("null"),
        "a number": json_lines("5"),
        "a string": json_lines('"x"'),
        "a list": json_lines("[1]"),
        "a list of all": '[{"text": "x", "labels": ["camp"]}]',
        "not a list at the start": " \n\n[\n",
        "empty objects": "{}\n" * 20,
        "an empty key": json_lines({"": "x", "text": "y", "labels": []}),
        "labels of many kinds": json_lines(
            {"text": "x", "labels": 5}, {"text": "x", "labels": {"a": 1}}
        ),
        "texts of many kinds": json_lines({"text": ["x"]}, {"text": True}),
        "texts of lists": (
            json_lines().replace('"a red', '["a red').replace('", "labels', '"], "labels')
        ),
        "labels of objects": (
            '{"text": "x", "labels": {"a": 1}}\n{"text": "y", "labels": {"b": [2]}}\n' * 6
        ),
        "labels of lists of lists": (
            '{"text": "x", "labels": [["a"]]}\n{"text": "y", "labels": [["b"]]}\n' * 6
        ),
        "cut": json_lines()[:-20],
        "invalid UTF-8": json_lines().encode().replace(b"red", b"r\xff", 1),
        "invalid UTF-8 in a key": json_lines().encode().replace(b'"labels"', b'"lab\xffels"', 1),
        "two objects on a line": json_lines('{"text": "x"}{"text": "y"}'),
        "Python's words": json_lines("{'text': 'x', 'labels': None}"),
        "line ends of old": json_lines().replace("\n", "\r"),
        "objects over several lines": json.dumps([{"text": "x"}], indent=1)[2:-2],
        "dates": json_lines({"text": "2024-01-31", "labels": ["2024-01-31"]}),
    }
    return [
        Hostile(what=f"JSON: {what}", name="a.jsonl", write=raw(one)) for what, one in made.items()
    ]


CASES = _cases()
