"""Makes networks from settings and facts of the data."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from tagwright import registry
from tagwright.arrays import Floats, Numbers
from tagwright.errors import SettingsError
from tagwright.labels.space import LabelSpace
from tagwright.models.device import forked_random
from tagwright.models.empty_weights import EmptyWeights
from tagwright.models.encoders import Encoder
from tagwright.models.heads import Head
from tagwright.models.label_slots import NO_SLOTS, slot_facts
from tagwright.models.network import Network, soft_head
from tagwright.randomness import seed_of
from tagwright.settings.inference import InferenceSettings, inference_of
from tagwright.settings.schema import Choice, Settings
from tagwright.tokenizers import Tokenizer
from tagwright.tokenizers.tokens import Tokens


def learn(
    settings: Settings, tokens: Tokens, tokenizer: Tokenizer | None = None
) -> dict[str, Numbers]:
    """What the encoder takes from the training texts before training, if it does."""
    encoder = registry.find(registry.ENCODERS, settings.encoder.name).factory
    found: dict[str, Numbers] = encoder.learn(tokens, tokenizer, **settings.encoder.options)
    return found


def build_network(
    settings: Settings,
    labels: Mapping[str, tuple[LabelSpace, int]],
    *,
    sizes: tuple[int, ...],
    learned: Mapping[str, Numbers],
    vectors: Floats | None = None,
    fresh: bool = False,
    tokenizer: Tokenizer | None = None,
) -> Network:
    """A network, its weights a function of the seed; a `fresh` one starts from pretrained weights
    where it has some.

    Of each head it takes the labels, and how many examples of train they are counted among. Soft
    labels that have a head of their own find it beside.
    """
    with forked_random():
        torch.manual_seed(seed_of(settings.fit.seed, "init"))
        encoder = _encoder(
            inference_of(settings), sizes=sizes, learned=learned, vectors=vectors, fresh=fresh
        )
        heads = {}
        for name, (space, examples) in labels.items():
            own = settings.of(name)
            bias = starting_bias(space, examples, own.link)
            two = own.soft.heads == 2 and own.targets.name != "hard"
            for one in (name, soft_head(name)) if two else (name,):
                heads[one] = _head(encoder, described(own), space, own.link, bias, tokenizer)
        return Network(encoder, heads)


class LabelledHead(NamedTuple):
    """A head to be made for its labels, and how its logits become probabilities."""

    made: "HeadPart"
    space: LabelSpace
    link: str


class HeadPart(NamedTuple):
    """A head before it has labels: the part, its logits beside those of the labels, and where it
    reads them from.
    """

    part: Choice
    extra_logits: int
    zero: float


def described(settings: Settings) -> HeadPart:
    """The head that these settings choose, with what their loss asks of it."""
    extra = registry.find(registry.LOSSES, settings.loss.name).factory.extra_logits
    return HeadPart(settings.head, extra, float(settings.loss.options.get("threshold", 0.0)))


def trained_network(
    inference: InferenceSettings,
    heads: Mapping[str, LabelledHead],
    *,
    sizes: tuple[int, ...],
    learned: Mapping[str, Numbers],
    shapes: Collection[tuple[int, ...]],
) -> Network:
    """The network of a trained model, before its weights, which have these shapes, are loaded."""
    with forked_random(), EmptyWeights(shapes):
        encoder = _encoder(inference, sizes=sizes, learned=learned)
        made = {
            name: _head(encoder, *head, torch.zeros(len(head.space)))
            for name, head in heads.items()
        }
        return Network(encoder, made)


def _encoder(
    inference: InferenceSettings,
    *,
    sizes: tuple[int, ...],
    learned: Mapping[str, Numbers],
    vectors: Floats | None = None,
    fresh: bool = False,
) -> Encoder:
    known: dict[str, object] = {
        "sizes": sizes,
        "learned": learned,
        "vectors": vectors,
        "fresh": fresh,
    }
    known |= {"precision": inference.precision, "limit": inference.limit}
    return registry.build(
        registry.ENCODERS, inference.encoder.name, inference.encoder.options, **known
    )


def _head(
    encoder: Encoder,
    head: HeadPart,
    space: LabelSpace,
    link: str,
    bias: Tensor,
    tokenizer: Tokenizer | None = None,
) -> Head:
    known: dict[str, object] = {
        "width": encoder.width_out,
        "sparse": encoder.sparse,
        "label_count": len(space),
    }
    known |= {"label_names": space.names, "bias": bias, "whole_texts": encoder.whole_texts}
    known |= {"extra_logits": head.extra_logits, "zero": head.zero, "link": link}
    known |= slot_facts(encoder, head.part, space, tokenizer)
    return registry.build(registry.HEADS, head.part.name, head.part.options, **known)


def check_head(settings: Settings, space: LabelSpace) -> None:
    """Refuse settings of the head that do not go together, or not with these labels: it is made
    once, of width 1.
    """
    factory = registry.find(registry.ENCODERS, settings.encoder.name).factory
    facts: dict[str, object] = {
        "width": 1,
        "label_count": len(space),
        "label_names": space.names,
        "zero": 0.0,
    }
    facts |= {"bias": torch.zeros(len(space)), "link": settings.link, **NO_SLOTS}
    facts |= {name: getattr(factory, name) for name in ("sparse", "whole_texts", "reads_slots")}
    facts["extra_logits"] = registry.find(registry.LOSSES, settings.loss.name).factory.extra_logits
    registry.build(registry.HEADS, settings.head.name, settings.head.options, **facts)
    if settings.head.options.get("chunk") and settings.encoder.options.get("long") == "windows":
        raise SettingsError(
            "windows pool the logits of a text, and a head in chunks makes none; take encoder.long"
            " head, tail or both, or leave --head-chunk out"
        )


def starting_bias(space: LabelSpace, row_count: int, link: str) -> Tensor:
    """Logits (L,) whose probabilities are the labels' shares in train, so that training need not
    learn them first.
    """
    if row_count == 0 or link == "none":  # such logits are an order, and say nothing of shares
        return torch.zeros(len(space))
    share = (torch.tensor(space.counts, dtype=torch.float32) / row_count).clamp(1e-4, 1 - 1e-4)
    if link == "softmax":
        return torch.log(share)
    return torch.logit(share) / (2 if link == "sigmoid2" else 1)
