"""Given word vectors, held as they are, from the file to the loaded model."""

import numpy as np
import pytest

from tagwright.data.shop import shop
from tagwright.errors import SettingsError
from tagwright.inference import model_folder
from tagwright.settings.schema import resolve
from tagwright.training.prepare import prepare
from tagwright.training.read_data import read_for
from tagwright.training.train import fit

SMALL = {"name": "cnn", "filters": 4, "freeze": True}


def test_a_model_with_frozen_vectors_is_loaded_with_them(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text("kettle 1 2 3\nknife 4 5 6\n")
    settings = resolve({"encoder": SMALL, "fit": {"epochs": 1, "vectors": str(path)}})
    prepared = prepare(shop(pages=200), settings)
    model_folder.save(fit(prepared, settings).model, tmp_path / "m", card="")
    path.unlink()
    loaded = model_folder.load(tmp_path / "m")
    row = loaded.tokenizer.vocabulary["knife"]
    np.testing.assert_array_equal(loaded.network.encoder.lookup.tables[0][row].detach(), [4, 5, 6])


def test_freezing_without_vectors_is_refused():
    settings = resolve({"encoder": SMALL, "fit": {"epochs": 1}})
    with pytest.raises(SettingsError, match="freeze"):
        fit(prepare(shop(pages=200), settings), settings)


@pytest.mark.parametrize("freeze", [True, False])
def test_a_tagger_takes_given_vectors_and_holds_them_where_asked(tmp_path, freeze):
    path, texts = tmp_path / "glove.txt", tmp_path / "places.conll"
    path.write_text("york 1 2 3 4\nnew 4 5 6 7\n")
    texts.write_text("".join(f"new\tB-CITY\nyork\tI-CITY\nn{n}\tO\n\n" for n in range(60)))
    sizes = {"hidden": 8, "layers": 1, "heads": 2, "feed": 8}
    given = {"encoder": {"name": "bat", **sizes, "freeze": freeze}, "embed": "word"}
    data, settings = read_for(str(texts), {**given, "fit": {"epochs": 2, "vectors": str(path)}})
    model_folder.save(fit(prepare(data, settings), settings).model, tmp_path / "m", card="")
    path.unlink()
    loaded = model_folder.load(tmp_path / "m")
    row = loaded.tokenizer.vocabulary["york"]
    (table,) = (
        p
        for name, p in loaded.network.encoder.named_parameters()
        if name.endswith("lookup.tables.0")
    )
    vector = table[row].detach().numpy()
    np.testing.assert_allclose(vector, [1, 2, 3, 4], atol=0 if freeze else 0.2)
    assert (vector == [1, 2, 3, 4]).all() == freeze
