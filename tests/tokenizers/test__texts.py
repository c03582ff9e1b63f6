"""Texts come in slices of few bytes, so that a tokenizer's memory does not grow with them."""

import pyarrow as pa
import pytest

from tagwright.tokenizers import _texts
from tagwright.tokenizers._texts import slices

TEXTS = ["short", "long " * 20, None, "é" * 30, "", "long " * 30, "short", "short"]
FORMS = {
    "array": pa.array(TEXTS),
    "chunks": pa.chunked_array([TEXTS[:3], TEXTS[3:]], pa.string()),
    "list": [text or "" for text in TEXTS],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [1, 110, 10_000])
def test_slices_have_few_bytes_and_all_texts(form, size, monkeypatch):
    monkeypatch.setattr(_texts, "SLICE_BYTES", size)
    found = list(slices(FORMS[form]))
    assert [text for part in found for text in part] == [text or "" for text in TEXTS]
    assert all(len(part) == 1 or sum(map(len, part)) <= size for part in found)
    assert len(found) == {1: 8, 110: len(found), 10_000: 1}[size]
    assert 1 <= len(found) < 8 or size == 1


def test_ten_thousand_pages_do_not_come_at_once():
    pages = pa.array(["word " * 10_000] * 100)
    assert max(sum(map(len, part)) for part in slices(pages)) <= _texts.SLICE_BYTES
