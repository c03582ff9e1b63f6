"""Networks with label slots on tiny random encoders, untrained: what attention is does not depend
on training.
"""

from typing import Any, NamedTuple

import pytest

from tagwright.data import read_data
from tagwright.inference.model import inputs_of
from tagwright.models.build import build_network
from tagwright.settings.schema import resolve
from tagwright.training.prepare import prepare

from ..tiny_encoders import write_encoder

KINDS = {"city": "paris", "fruit": "apple", "metal": "iron", "sport": "golf", "tool": "saw"}
TEXTS = ["paris apple iron the of", "golf", "a tent for the city of rome", "saw drill"]


class Made(NamedTuple):
    """A network, its tokenizer, and the folder that its encoder comes from."""

    network: Any
    tokenizer: Any
    folder: Any

    def inputs(self, texts=TEXTS, *, limit=9):
        """The texts as the network takes them."""
        return inputs_of(self.network, self.tokenizer.encode(texts), limit=limit)


@pytest.fixture(scope="session")
def encoder(tmp_path_factory):
    """The folder of a family's encoder, written once."""
    made = {}

    def folder(family):
        if family not in made:
            made[family] = write_encoder(tmp_path_factory.mktemp("encoders") / family, family)
        return made[family]

    return folder


@pytest.fixture(scope="session")
def make(encoder, tmp_path_factory):
    """A network of a family with five labels and these options of its head."""
    source = tmp_path_factory.mktemp("data") / "texts.csv"
    rows = [f"{word} n{number},{label}" for number in range(8) for label, word in KINDS.items()]
    source.write_text("\n".join(["text,labels", *rows, "paris golf,city;sport"]))

    def made(family="bert", *, limit=9, encoder_options=None, **options):
        folder = encoder(family)
        own = {"name": "pretrained", "path": str(folder), **(encoder_options or {})}
        head = {"name": "cloze", **options}
        settings = resolve(
            {"encoder": own, "objective": "cloze", "head": head, "fit": {"limit": limit}}
        )
        prepared = prepare(read_data(str(source)), settings)
        labels, sizes = {"main": (prepared.space, 0)}, prepared.tokenizer.sizes
        network = build_network(settings, labels, sizes=sizes, learned=prepared.learned, fresh=True)
        return Made(network.eval(), prepared.tokenizer, folder)

    return made
