"""Data of which every test of training may learn."""

import pytest

from tagwright.data import read_data
from tagwright.settings.schema import resolve
from tagwright.training.prepare import prepare


@pytest.fixture(scope="module")
def data(source):
    return read_data(source)


@pytest.fixture(scope="module")
def make(data, tiny):
    def prepared_and_settings(**sections):
        settings = resolve(tiny(**{"decide": {"name": "zero"}, **sections}))
        return prepare(data, settings), settings

    return prepared_and_settings
