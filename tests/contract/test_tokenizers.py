"""What every way to cut texts into tokens keeps, whichever package it came from."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from tagwright import registry
from tagwright.tokenizers import Tokenizer, _texts, load_tokenizer

TEXTS = ["red apple pie", "red pie, green pie", "", "Zürich 手机 apple", "apple apple red"]
# one that belongs to a pretrained encoder is tested with that
NAMES = [
    part.name
    for part in registry.usable("tokenizers")
    if "source" not in registry.asked(part.factory)
]

pytestmark = pytest.mark.parametrize("name", NAMES)


def trained(name: str) -> Tokenizer:
    return registry.build("tokenizers", name, {}, source=None).train(TEXTS, seed=3)


def test_ids_are_below_the_sizes_of_their_channels(name: str):
    tokenizer = trained(name)
    found = tokenizer.encode(TEXTS)
    ids = found.ids.reshape(len(found.ids), -1)
    assert ids.shape[1] == len(tokenizer.sizes)
    assert (ids >= 0).all()
    assert (ids < np.array(tokenizer.sizes)).all()
    assert len(found.offsets) == len(TEXTS) + 1
    assert found.offsets[-1] == len(found.ids)


def test_a_text_has_the_same_ids_alone(name: str):
    tokenizer = trained(name)
    whole = tokenizer.encode(TEXTS)
    for row, text in enumerate(TEXTS):
        alone = tokenizer.encode([text])
        assert (alone.ids == whole.ids[whole.offsets[row] : whole.offsets[row + 1]]).all()


@pytest.mark.parametrize(("rows", "size"), [(2, 1 << 20), (10_000, 1), (10_000, 40)])
def test_slices_of_any_size_give_the_same_tokenizer_and_ids(
    name: str, rows: int, size: int, monkeypatch: pytest.MonkeyPatch
):
    whole = trained(name)
    ids, words = whole.encode(pa.chunked_array([TEXTS])), whole.encode_words(TEXTS)
    monkeypatch.setattr(_texts, "SLICE", rows)
    monkeypatch.setattr(_texts, "SLICE_BYTES", size)
    sliced = trained(name)
    found = sliced.encode(pa.chunked_array([TEXTS]))
    assert (found.ids == ids.ids).all()
    assert (found.offsets == ids.offsets).all()
    assert sliced.encode_words(TEXTS).words == words.words


def test_the_same_texts_and_seed_give_the_same_ids(name: str):
    assert (trained(name).encode(TEXTS).ids == trained(name).encode(TEXTS).ids).all()


def test_every_token_that_is_cut_already_has_an_id(name: str):
    if registry.find("tokenizers", name).factory.whole_texts:
        return
    words = pa.array(["red", "Zürich", "手机", "never-seen", "."])
    found = trained(name).encode_tokens(words)
    assert len(found.offsets) == len(words) + 1
    assert (np.diff(found.offsets) >= 1).all()


def test_it_learns_from_tokens_that_are_cut_already(name: str):
    if registry.find("tokenizers", name).factory.whole_texts:
        return
    made = registry.build("tokenizers", name, {}, source=None).train_tokens(
        ["red", "apple", "red"] * 3, seed=3
    )
    assert len(made.encode_tokens(pa.array(["red"])).ids) >= 1


def test_it_is_saved_and_loaded(name: str, tmp_path: Path):
    tokenizer = trained(name)
    tokenizer.save(tmp_path / "tokenizer")
    again = load_tokenizer(tmp_path / "tokenizer")
    assert (again.encode(TEXTS).ids == tokenizer.encode(TEXTS).ids).all()
    assert (again.sizes, again.marks, again.around) == (
        tokenizer.sizes,
        tokenizer.marks,
        tokenizer.around,
    )
