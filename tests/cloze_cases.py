"""Networks with label slots on tiny encoders, made by hand: what the tests of slots share."""

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch

from tagwright.models.encoders.pretrained import Pretrained
from tagwright.models.heads.cloze import Cloze
from tagwright.models.network import Network
from tagwright.tokenizers.pretrained import read_pieces

from .tiny_encoders import write_encoder

TEXTS = [
    "a tent for the kitchen in paris, very red",
    "iron",
    "",
    "some [SEP] letters xyz and rome of the very blue golf item number two person",
    "zinc gold",
]
# of our tiny ones
BY_POSITION = [
    "bert",
    "roberta",
    "xlm-roberta",
    "mpnet",
    "electra",
    "distilbert",
    "albert",
]
TEMPLATES = ["diff", "same", "short"]
NO, YES, MASK = range(3)


@cache
def _home():
    return TemporaryDirectory(prefix="slots-")  # gone when the tests end


@cache
def folder_of(family):
    """A tiny encoder of the family, written once."""
    return write_encoder(Path(_home().name) / family, family)


@cache
def _read(family):
    tokenizer = read_pieces(folder_of(family))
    tokens = tokenizer.encode(TEXTS)
    return tokenizer, tokens, Pretrained.learn(tokens, tokenizer, path=str(folder_of(family)))


def encoder_of(family, *, limit=16, **options):
    """The encoder, without dropout's draws."""
    torch.manual_seed(5)
    return Pretrained(
        _read(family)[2], True, limit, "float32", path=str(folder_of(family)), **options
    ).eval()


def head_of(
    encoder, labels, *, extra_logits=0, zero=0.0, name_vectors=None, link="sigmoid", **options
):
    """The head, with vectors and maps far from each other, so that a mistake is a large one."""
    torch.manual_seed(7)
    facts = {
        "reads_slots": True,
        "family": encoder.family,
        "word_width": encoder.words.embedding_dim,
        "link": link,
    }
    facts |= {"slot_room": encoder.slot_room, "name_vectors": name_vectors}
    facts |= {"extra_logits": extra_logits, "zero": zero, "bias": torch.randn(labels)}
    head = Cloze(width=encoder.width_out, label_count=labels, **facts, **options)
    with torch.no_grad():
        for own in (head.middle, head.edges, head.weight):
            if own is not None:
                own.normal_()
    return head


def network_of(family="bert", labels=5, *, limit=16, encoder=None, **options):
    """The network in evaluation, in float64."""
    made = encoder_of(family, limit=limit, **(encoder or {}))
    return Network(made, {"main": head_of(made, labels, **options)}).double().eval()


def inputs_of(network, family="bert", *, limit=16):
    """TEXTS as the network's encoder takes them."""
    return network.encoder.inputs_of(_read(family)[1], limit=limit)


def batch_of(network, family="bert", index=range(5), *, limit=16):
    """Some of TEXTS, by number."""
    return inputs_of(network, family, limit=limit).batch(np.array(list(index)))


def shown_of(labels, rows=5, seed=0):
    """What slots show, (rows, L): some of each kind; the first text shows nothing."""
    shown = torch.randint(0, 3, (rows, labels), generator=torch.Generator().manual_seed(seed))
    shown[0] = MASK
    return shown


def taken(network, wanted, **options):
    """A network of the labels `wanted` alone, in that order: their vectors, maps and bias."""
    whole = network.heads["main"]
    head = head_of(network.encoder, len(wanted), **options).to(whole.bias.dtype)
    index = torch.tensor(wanted)
    with torch.no_grad():
        for name in ("middle", "edges", "weight", "bias"):
            theirs, own = getattr(whole, name), getattr(head, name)
            if own is not None:
                own.copy_(theirs if len(theirs) == 1 else theirs[index])
    return Network(network.encoder, {"main": head}).eval()


def published(key):
    """Reference values of the papers, as they are kept beside the tests of losses."""
    return json.loads(
        (Path(__file__).parent / "losses" / "vectors.json").read_text(encoding="utf-8")
    )[key]["cases"]
