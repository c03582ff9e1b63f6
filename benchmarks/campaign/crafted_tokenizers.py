"""Crafted model folders whose tokenizers grow, hang, panic, or give ids that nothing has a vector
for.
"""

import json
from typing import Any

from campaign.crafted import DEEP, INFINITE, Change, cases, each, text, value

TOKENIZER, KIND = "tokenizer/tokenizer.json", "tokenizer/kind.json"


def _replace(pattern: dict[str, str], content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": pattern, "content": content}


def _sequence(kind: str, inner: str, parts: list[Any]) -> dict[str, Any]:
    return {"type": kind, inner: parts}


def _split(regex: str) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False}


def _nested(part: dict[str, Any], inner: str, levels: int) -> dict[str, Any]:
    for _ in range(levels):
        part = {"type": "Sequence", inner: [part]}
    return part


TWICE = [_replace({"Regex": "."}, "aa")] * 7
NORMALIZERS = [
    {"type": "Prepend", "prepend": "a" * 10**4},
    {"type": "Prepend", "prepend": ""},
    _replace({"String": "a"}, "a" * 10**5),
    _replace({"String": ""}, "a" * 60),
    _replace({"Regex": ""}, "a" * 60),
    _replace({"Regex": "(a+)+$"}, "b"),
    _replace({"Regex": "(a|a)*!?b"}, "b"),
    _replace({"Regex": r"(.*)*\1x"}, ""),
    _replace({"Regex": "(" * 5000}, ""),
    _replace({"Regex": "(" * 5000 + ")" * 5000}, ""),
    _replace({"Regex": "a{1,100000}{1,100000}"}, ""),
    _replace({"Regex": "(?:a{1,1000}){1,1000}"}, ""),
    _replace({"Regex": "[" * 1000}, ""),
    _sequence("Sequence", "normalizers", TWICE),
    _sequence("Sequence", "normalizers", [{"type": "NFKD"}] * 1000),
    _sequence("Sequence", "normalizers", []),
    _nested({"type": "NFC"}, "normalizers", 40),
    _nested({"type": "NFC"}, "normalizers", 400),
    {"type": "Precompiled", "precompiled_charsmap": ""},
    {"type": "Precompiled", "precompiled_charsmap": "AAAA"},
    {"type": "Precompiled", "precompiled_charsmap": "/////w=="},
    {"type": "Precompiled", "precompiled_charsmap": "BAAAAP////8="},
    {"type": "Precompiled", "precompiled_charsmap": "!"},
    {"type": "Strip", "strip_left": True, "strip_right": "x"},
    {"type": "unheard"},
    {"type": "ByteLevel"},
    {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": 1,
        "lowercase": 1,
    },
]
PRE_TOKENIZERS = [
    _split("(a+)+$"),
    _split("(a|aa)+$"),
    _split(r"(\w+\s?)+!{2}"),
    _split(""),
    _split("(?=a)"),
    {"type": "FixedLength", "length": 0},
    {"type": "FixedLength", "length": 2**64 - 1},
    {"type": "Metaspace", "replacement": "", "prepend_scheme": "always", "split": True},
    {"type": "Metaspace", "replacement": "xy", "prepend_scheme": "always", "split": True},
    {"type": "CharDelimiterSplit", "delimiter": ""},
    {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    {"type": "Sequence", "pretokenizers": [{"type": "ByteLevel", "add_prefix_space": True}] * 5},
    _nested({"type": "Whitespace"}, "pretokenizers", 400),
]


def _template(*names: str, tokens: dict[str, list[int]] | None = None) -> dict[str, Any]:
    """A post-processor of special tokens around a text, with any ids."""
    pieces = [
        {"Sequence": {"id": "A", "type_id": 0}},
        *({"SpecialToken": {"id": one, "type_id": 0}} for one in names),
    ]
    given = {
        name: {"id": name, "ids": ids, "tokens": ["x"] * len(ids)}
        for name, ids in (tokens or {}).items()
    }
    return {"type": "TemplateProcessing", "single": pieces, "pair": pieces, "special_tokens": given}


PROCESSORS = [
    _template("[X]", tokens={"[X]": [10**6]}),
    _template("[X]", tokens={"[X]": [2**32 - 1]}),
    _template("[X]", tokens={"[X]": [-1]}),
    _template("[X]", tokens={"[X]": [1] * 10**5}),
    _template(*["[X]"] * 1000, tokens={"[X]": [1]}),
    _template("[X]"),
    _template(),
    {"type": "BertProcessing", "sep": ["[SEP]", 10**6], "cls": ["[CLS]", 10**6]},
    {
        "type": "RobertaProcessing",
        "sep": ["x", 10**9],
        "cls": ["y", 7],
        "trim_offsets": True,
        "add_prefix_space": True,
    },
    {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    {"type": "Sequence", "processors": [_template("[X]", tokens={"[X]": [10**6]})] * 3},
]
WORD_LEVEL = {"[PAD]": 0, "[UNK]": 1, "knife": 2, "a": 3, "and": 4, "pan": 5, "red": 6, "tent": 7}
MODELS = [
    {"type": "unheard"},
    {"type": "WordLevel", "vocab": {}, "unk_token": "[UNK]"},
    {"type": "WordLevel", "vocab": WORD_LEVEL | {"tent": 10**6}, "unk_token": "[UNK]"},
    {"type": "WordLevel", "vocab": WORD_LEVEL | {"tent": 6}, "unk_token": "[UNK]"},
    {"type": "WordLevel", "vocab": WORD_LEVEL | {"tent": -1}, "unk_token": "[UNK]"},
    {"type": "WordLevel", "vocab": WORD_LEVEL | {"tent": 2**32}, "unk_token": "[UNK]"},
    {"type": "WordLevel", "vocab": WORD_LEVEL, "unk_token": "nothing"},
    {"type": "WordLevel", "vocab": {f"w{n}": n for n in range(2 * 10**5)}, "unk_token": "w0"},
    {"type": "Unigram", "unk_id": 10**6, "vocab": [["a", 0.0]], "byte_fallback": False},
    {
        "type": "Unigram",
        "unk_id": 0,
        "vocab": [["a", 0.0], ["b", INFINITE]],
        "byte_fallback": False,
    },
    {
        "type": "Unigram",
        "unk_id": None,
        "vocab": [[chr(97 + n), 1.0] for n in range(8)],
        "byte_fallback": False,
    },
    {"type": "Unigram", "unk_id": 0, "vocab": [], "byte_fallback": True},
    {
        "type": "BPE",
        "vocab": WORD_LEVEL,
        "merges": [["a", "zzz"]],
        "dropout": None,
        "unk_token": "[UNK]",
    },
    {"type": "BPE", "vocab": WORD_LEVEL, "merges": [], "dropout": 5.0, "unk_token": "[UNK]"},
    {"type": "BPE", "vocab": WORD_LEVEL, "merges": [], "dropout": None, "unk_token": "nothing"},
    {
        "type": "BPE",
        "vocab": WORD_LEVEL,
        "merges": [],
        "unk_token": None,
        "end_of_word_suffix": "x" * 10**5,
    },
    {
        "type": "WordPiece",
        "vocab": WORD_LEVEL,
        "unk_token": "nothing",
        "max_input_chars_per_word": 100,
    },
    {
        "type": "WordPiece",
        "vocab": WORD_LEVEL,
        "unk_token": "[UNK]",
        "max_input_chars_per_word": 10**9,
    },
]
ADDED = {"single_word": False, "lstrip": True, "rstrip": True, "normalized": True, "special": True}
TOKENS = [
    [{"id": 10**9, "content": "red", **ADDED}],
    [{"id": 2**32 - 1, "content": "red", **ADDED}],
    [{"id": 2, "content": "", **ADDED}],
    [{"id": 2, "content": " ", **ADDED}],
    [{"id": 8 + n, "content": f"t{n}", **ADDED} for n in range(20_000)],
    [{"id": -1, "content": "red", **ADDED}],
]
OF_HASHES = {"size": 8, "affix_size": 8, "shape_size": 8, "affix": 3}
OF_SPELLING = {"lexicon": [], "letters": "", "lowercase": True}
TRUNCATION = {"direction": "Right", "max_length": 0, "strategy": "LongestFirst", "stride": 9}
STRANGE: dict[str, Change] = {
    "tokenizer cut": text(TOKENIZER, '{"version": "1.0", "model": {'),
    "tokenizer nested": text(TOKENIZER, "[" * DEEP),
    "tokenizer nested inside": text(TOKENIZER, '{"a":' * DEEP),
    "tokenizer empty": text(TOKENIZER, ""),
    "tokenizer of invalid UTF-8": text(TOKENIZER, b'{"version": "\xff"}'),
    "kind pieces": text(KIND, {"kind": "pieces"}),
    "kind hashed": text(KIND, {"kind": "hashed", "settings": OF_HASHES}),
    "kind spelled": text(KIND, {"kind": "spelled", "settings": OF_SPELLING}),
    **each(KIND, "kind", to=["unheard", None, 1, "../x"]),
    **each(TOKENIZER, "version", to=["9.9", 1, None]),
    **each(TOKENIZER, "truncation", to=[TRUNCATION]),
}


def _parts(of: str) -> dict[str, Change]:
    every = (
        ("normalizer", NORMALIZERS),
        ("pre_tokenizer", PRE_TOKENIZERS),
        ("post_processor", PROCESSORS),
    )
    every = (
        *every,
        ("model", MODELS),
        ("added_tokens", TOKENS),
        ("decoder", [{"type": "unheard"}]),
    )
    return {
        f"{name} {number}: {json.dumps(one):.70}": value(TOKENIZER, name, to=one)
        for name, many in every
        for number, one in enumerate(many)
        if of == "cnn" or name != "model"
    }


HASHED = {
    name: one
    for key, values in {
        "size": [0, 2, 10**12, "x"],
        "affix": [0, -1, 10**9, 10**30],
        "unheard": [1],
    }.items()
    for name, one in each(KIND, "settings", key, to=values).items()
}
SPELLED = {
    name: one
    for key, values in {
        "lexicon": [[], [1], "abc", ["a"] * 10**5, ["\ud800"], ["\0"]],
        "letters": ["", "zyx", "aaaa", "\ud800", ["a"], "x" * 10**6],
        "lowercase": ["yes", False],
    }.items()
    for name, one in each(KIND, "settings", key, to=values).items()
}

CASES = [
    *cases("cnn", STRANGE | _parts("cnn")),
    *cases("bert", _parts("bert")),
    *cases("bat", HASHED),
    *cases("spelled", SPELLED),
]
