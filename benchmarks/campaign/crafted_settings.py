"""Crafted model folders whose settings ask for what their weights have no room for, or for
nonsense.
"""

import json
from typing import Any

from campaign.crafted import DEEP, HEAD, INFINITE, Change, all_of, cases, each, option, text, value

HUGE = (10**6, 10**9, 10**12, 10**30)
ODD = (0, -1, INFINITE, "8", None, True, [8], {"a": 8})


def _options(name: str, *values: Any) -> dict[str, Change]:
    return {f"{name} = {to!r:.30}": option(name, to) for to in values}


PARTS = (
    "../x",
    "os",
    "cnn\n",
    "__init__",
    "_shell",
    "pretrained",
    "minilm",
    "CNN",
    "",
    "x" * 10**5,
    "\x1b[31m",
    "\0",
)
CNN: dict[str, Change] = {
    **_options("width", *HUGE, *ODD),
    **_options("filters", 10**9, 10**30, 0, -1),
    **_options(
        "windows", [10**9], [1] * 10**5, [], [0], [-1], ["3"], [[3]], [INFINITE], [3, 4, 5] * 10**5
    ),
    **_options("dropout", INFINITE, -1, 2, 10**400, "0.5"),
    **_options("unheard", 1),
    **each("inference.json", "encoder", "name", to=[*PARTS, None, 1, ["cnn"]]),
    **each("inference.json", "encoder", to=[None, [], "cnn", {"name": "cnn"}, {}]),
    **each(
        "inference.json",
        "limit",
        to=[0, -1, 2**31, 2**31 + 1, 10**30, INFINITE, "24", None, [24], 1.5],
    ),
    **each("inference.json", "precision", to=["", "float8", "bfloat16", 16, None, "x" * 10**6]),
    **each(
        "inference.json",
        "data",
        to=[None, [], {"text": 1}, {"unheard": 1}, {"task": "tokens"}, {"cut": "x"}],
    ),
    **each(
        "inference.json",
        "data",
        "text",
        to=["n", "missing", ["text", "n"], "", "\x1b[2J", "t" * 10**6, 5],
    ),
    **each("inference.json", "data", "separator", to=["", 1, "\0", ";" * 10**6]),
    **each(
        "inference.json",
        "heads",
        to=[None, [], {"main": 1}, {"main": {"a": 1}}, {"x": {"text": "n"}}],
    ),
    "inference deep": text("inference.json", '{"encoder": ' * DEEP),
    "inference deep inside": value(
        "inference.json", "data", "text", to=json.loads("[" * 900 + "]" * 900)
    ),
    "inference NaN": text("inference.json", '{"limit": NaN}'),
    "inference empty": text("inference.json", ""),
    "inference of 4 MiB of keys": text("inference.json", {f"k{n}": n for n in range(3 * 10**5)}),
    "everything huge": all_of(
        option("width", 10**9), option("filters", 10**9), option("windows", [10**6] * 1000)
    ),
}
LSTM = {
    name: one
    for key in ("layers", "hidden", "width")
    for name, one in _options(key, 0, -1, 10**6, 10**30).items()
}
SIZES = ("layers", "heads", "hidden", "feed")
BAT = {name: one for key in SIZES for name, one in _options(key, 0, -1, 3, 10**12).items()}
BAT |= _options("norm", "x", None) | _options("pooling", "x", ["mean"], None)
PERFORMER = _options("features", 0, -1, 10**9, 10**30)
SWITCH = _options("experts", 0, -1, 1, 10**9)
MUSE = _options("kernels", [], [0], [2], [10**9 + 1], [3] * 10**5, ["3"])
BOW = {
    **_options("longest", 0, -1, 10**9, "2"),
    **_options("spelling", INFINITE, -1, 1e300, None, "x"),
    **_options("minimum", -1, 10**30),
}
BERT = {
    **_options("path", "owner/repo", "/etc/passwd", "http://localhost:1/x", 1, "x" * 10**6),
    **_options("pooling", "x", "cls", "max", "attention", 1),
    **_options("long", "windows", "x", 1),
    **_options("windows", 0, -1, 10**9),
    **_options("overlap", -1, 24, 10**9, 10**30),
    **_options("freeze", -1, 10**9, "all", "x", 1.5),
    **_options("lora", -1, 8, 10**9),
    **_options("attention_dropout", 5, INFINITE, "x"),
    **_options("window_pooling", "x", None),
    **each("inference.json", "limit", to=[1, 2, 10**6, 64, 65]),
    "windows beside": all_of(
        option("long", "windows"), option("overlap", 23), option("windows", 10**6)
    ),
}
DOCUMENT: dict[str, Any] = {
    "chunk": [1, -1, 10**9, 10**30, "x"],
    "dtype": ["bfloat16", "float64", "x", 1],
    "shortlist": [0, -1, 1, 10**30],
    "optimizer": ["x", None],
    "learning_rate": [INFINITE, -1],
    "unheard": [1],
}
OF_HEAD: dict[str, Change] = {
    name: one
    for key, values in DOCUMENT.items()
    for name, one in each(f"{HEAD}/head.json", "part", "options", key, to=values).items()
}
OF_HEAD |= {
    **each(
        f"{HEAD}/head.json", "part", "name", to=["cloze", "chain", "tokens", "../document", "x", 1]
    ),
    **each(f"{HEAD}/head.json", "part", to=[None, [], {}, "document"]),
    **each(f"{HEAD}/head.json", "extra_logits", to=[-1, 1, 10**9, 10**30, 1.0, None]),
    **each(f"{HEAD}/head.json", "zero", to=[INFINITE, 1e308, "0", 10**400]),
}
OF_CLOZE = {
    name: one
    for key, values in {
        "chunks": [0, -1, 10**9],
        "share": [-1, INFINITE],
        "template": ["x"],
        "names": ["x"],
    }.items()
    for name, one in each(f"{HEAD}/head.json", "part", "options", key, to=values).items()
}
OF_CHAIN = each(
    f"{HEAD}/head.json", "part", "options", "order", to=[["camp"], ["x"] * 3, [["camp"]], [1], 5]
)
OF_TAGS = {
    **each(f"{HEAD}/head.json", "part", "options", "overlap", to=[-1, 0, 24, 10**9, 10**30, "x"]),
    **each(f"{HEAD}/decision.json", "legal", to=[False, 1, "x"]),
    **each("inference.json", "data", "cut", to=["characters", "jieba", "x", None]),
    **each("inference.json", "limit", to=[1, 2]),
}
TOML = {
    "cut": "[encoder",
    "nested": "a = " + "[" * DEEP,
    "a long dotted key": ".".join(["a"] * DEEP) + " = 1",
    "dotted keys": "\n".join(f"{'.'.join(['a'] * 900)}.b{n} = 1" for n in range(500)),
    "100,000 sections": "".join(f"[a{n}.b.c.d]\n" for n in range(10**5)),
    "2 MB of numbers": f"a = [{'1,' * 10**6}]",
    "5,000 digits": "a = " + "9" * 5000,
    "sections of values": 'heads = 1\ntags = "x"\ndata = [1]\nencoder = 5',
    "invalid UTF-8": b'a = "\xff"',
    "dates": "heads = 1979-05-27\nobjective = 07:32:00\nsplit = inf\nfit = nan",
    "what is no setting": "[heads]\nmain = 3\n[[split]]\na = 1\n[fit]\nrefit = 'x'",
}
OF_RECORD = {
    f"{file} {name}": text(f"{file}.toml", one)
    for file in ("settings", "resolved")
    for name, one in TOML.items()
}

CASES = [
    *cases("cnn", CNN | OF_HEAD | OF_RECORD),
    *cases("lstm", LSTM),
    *cases("bat", BAT),
    *cases("performer", PERFORMER),
    *cases("switch", SWITCH),
    *cases("muse", MUSE),
    *cases("bow", BOW),
    *cases("bert", BERT),
    *cases("cloze", OF_CLOZE),
    *cases("chain", OF_CHAIN),
    *cases("tokens", OF_TAGS),
]
