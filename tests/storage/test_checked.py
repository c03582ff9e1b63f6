"""Files that somebody else may have made: what goes wrong is one error that names the file."""

import pytest

from tagwright.errors import ModelError
from tagwright.storage.checked import SMALL, json_object, read_small, readable, reason_of


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (KeyError("names"), "'names' is missing"),
        (ValueError("first\nsecond"), r"\(first\)"),
        (RecursionError("maximum recursion depth"), "nested too deeply"),
        (TypeError(), "TypeError"),
        (ValueError("x" * 10_000), "x{300}…"),
        (PermissionError(13, "Permission denied"), "a.json cannot be read: Permission denied"),
    ],
)
def test_what_goes_wrong_names_the_file_and_the_reason_in_short(fault, said):
    with pytest.raises(ModelError, match=said) as found, readable("a.json"):
        raise fault
    assert str(found.value).startswith("a.json ")
    assert len(str(found.value)) < 500


def test_an_error_of_a_model_stays_as_it_is():
    with pytest.raises(ModelError, match=r"^as it is$"), readable("a.json"):
        raise ModelError("as it is")


def test_an_interruption_goes_through():
    with pytest.raises(KeyboardInterrupt), readable("a.json"):
        raise KeyboardInterrupt


def test_reasons_are_one_line():
    assert reason_of(ValueError("  one\n two")) == "one"


@pytest.mark.parametrize("text", ["[]", "null", "3", '{"a": NaN}', '{"a": [-Infinity]}', "{", ""])
def test_only_an_object_of_json_is_taken(text):
    with pytest.raises(ValueError):
        json_object(text)


@pytest.mark.parametrize(
    "content", ['{"a": "\\ud800"}', '{"\\uDC00": 1}', b'{"a": "\xed\xa0\x80"}']
)
def test_half_a_surrogate_pair_is_refused(content):
    """It could not be written to a file: a traceback after the tagging."""
    with pytest.raises(ValueError, match=r"surrogate|utf-8"):
        json_object(content)


def test_a_whole_surrogate_pair_is_a_character():
    assert json_object(r'{"a": "\ud83d\ude00"}') == {"a": "😀"}


def test_a_small_file_is_read_whole_and_a_large_one_not_at_all(tmp_path):
    (tmp_path / "a").write_bytes(b"x" * SMALL)
    assert len(read_small(tmp_path / "a")) == SMALL
    (tmp_path / "a").write_bytes(b"x" * (SMALL + 1))
    with pytest.raises(ModelError, match="4,194,305 bytes"):
        read_small(tmp_path / "a")


@pytest.mark.parametrize("name", ["nowhere", "file/below"])
def test_a_file_that_is_not_there_is_told_apart(tmp_path, name):
    (tmp_path / "file").touch()
    with pytest.raises(FileNotFoundError):
        read_small(tmp_path / name)
