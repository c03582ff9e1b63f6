"""A small trained model of the shop, and the data that it learnt from."""

import pytest

from tagwright.data.shop import shop
from tagwright.settings.schema import resolve
from tagwright.training.prepare import prepare
from tagwright.training.train import fit


@pytest.fixture(scope="module")
def made():
    settings = resolve({"encoder": "bow", "fit": {"epochs": 2}})
    prepared = prepare(shop(pages=400), settings)
    return prepared, fit(prepared, settings)
