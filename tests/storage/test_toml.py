"""TOML out: whatever is written reads back. TOML in: what would take long is refused."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagwright.storage import toml
from tagwright.storage.toml import dumps, loads

SCALARS = (
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
)
KEYS = st.from_regex(r"[a-z_]{1,8}", fullmatch=True)
TABLES = st.dictionaries(KEYS, SCALARS | st.lists(SCALARS, max_size=3), max_size=4)


@given(TABLES, st.dictionaries(KEYS, TABLES, max_size=3))
def test_every_value_reads_back(scalars, tables):
    values = {**tables, **{f"s_{key}": value for key, value in scalars.items()}}
    assert tomllib.loads(dumps(values)) == loads(dumps(values)) == values


def test_a_tuple_reads_back_as_a_list():
    assert tomllib.loads(dumps({"windows": (3, 4)})) == {"windows": [3, 4]}


def test_a_scalar_after_a_table_stays_outside_it():
    assert tomllib.loads(dumps({"a": {"b": 1}, "c": 2})) == {"a": {"b": 1}, "c": 2}


@pytest.mark.parametrize("text", ["x\x7fy", "😀", 'a"b\\c', "\t\n\r\x00"])
def test_an_odd_character_reads_back(text):
    assert tomllib.loads(dumps({"a": text})) == {"a": text}


NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
NESTED = st.recursive(
    st.dictionaries(NAMES, SCALARS, max_size=3),
    lambda inner: st.dictionaries(NAMES, inner | SCALARS, max_size=3),
)


@given(NESTED)
def test_tables_in_tables_read_back_whatever_their_keys(values):
    assert tomllib.loads(dumps(values)) == values


def test_a_key_is_quoted_only_where_it_must_be():
    assert (
        dumps({"heads": {"topic": {"loss": {"name": "bce"}}}})
        == '\n[heads.topic.loss]\nname = "bce"\n'
    )
    assert dumps({"a b": {"c.d": 1}}) == '\n["a b"]\n"c.d" = 1\n'


LONG = ".".join("a" * (toml.PARTS + 1))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (".".join("a" * 100_000) + " = 1", "a key of more than 16 parts"),
        (LONG + " = 1", "a key of more than 16 parts"),
        (f"[{LONG}]", "a key of more than 16 parts"),
        (f"a = [1, {{{LONG} = 1}}]", "a key of more than 16 parts"),
        (LONG.replace("a", "'a'").replace(".", " . ") + " = 1", "a key of more than 16 parts"),
        (LONG.replace("a", '"\\""') + " = 1", "a key of more than 16 parts"),
        (f'a = """ "\\""" """\n{LONG} = 1', "a key of more than 16 parts"),
        (f"a = ''' \" '''\n# \" '\n{LONG} = 1", "a key of more than 16 parts"),
        ("".join(f"[a{n}]\n" for n in range(toml.TABLES + 1)), "it has 1,025 tables"),
        (f"a = [{'1,' * 10**6}]", "it has 2,000,006 characters"),
        ("a = " + "[" * 50_000, "nested too deeply"),
    ],
    ids=lambda value: value[:20],
)
def test_a_text_that_takes_long_is_refused_unread(text, said):
    with pytest.raises(ValueError, match=said):
        loads(text)


@pytest.mark.parametrize(
    "text",
    [
        f'a = "{LONG}"',
        f"a = '{LONG}'",
        f"a = '''\n{LONG}'''",
        f'a = """\n{LONG}\\\\"""',
        f"# {LONG}\na = 1",
        f'"{LONG}" = 1',
        "a = [" + "1.5, " * 100 + "]",
        LONG[2:] + " = 1",
        "".join(f"[a{n}]\n" for n in range(toml.TABLES)),
        "#" * toml.SIZE,
    ],
    ids=lambda value: value[:20],
)
def test_dots_outside_of_keys_count_for_nothing(text):
    assert loads(text) == tomllib.loads(text)
