"""Given word vectors, held as they are, from the file to the loaded model."""

import numpy as np
import pytest

from tagwright import bundle
from tagwright.assemble.prepare import prepare
from tagwright.assemble.train import fit
from tagwright.errors import SettingsError
from tagwright.read.shop import shop
from tagwright.settings import resolve

SMALL = {"name": "cnn", "filters": 4, "freeze": True}


def test_a_model_with_frozen_vectors_is_loaded_with_them(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text("kettle 1 2 3\nknife 4 5 6\n")
    settings = resolve({"encoder": SMALL, "fit": {"epochs": 1, "vectors": str(path)}})
    prepared = prepare(shop(pages=200), settings)
    bundle.save(fit(prepared, settings).model, tmp_path / "m", card="")
    path.unlink()
    loaded = bundle.load(tmp_path / "m")
    row = loaded.tokeniser.vocabulary["knife"]
    np.testing.assert_array_equal(loaded.network.encoder.lookup.tables[0][row].detach(), [4, 5, 6])


def test_freezing_without_vectors_is_refused():
    settings = resolve({"encoder": SMALL, "fit": {"epochs": 1}})
    with pytest.raises(SettingsError, match="freeze"):
        fit(prepare(shop(pages=200), settings), settings)
