"""How much memory a training needs, estimated before it starts; one that does not fit is refused.

The estimate counts what grows with the labels: the weights of the head with the state of their
optimizer, the gradients of a batch, the scores of dev, and the arrays of fitting a decision. The
factors come from measured peaks (docs/log.md).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

from tagwright import registry
from tagwright.errors import SettingsError
from tagwright.models.device import device_of, forked_random
from tagwright.models.encoders import Encoder
from tagwright.models.shortlist import FULL, shortlisted
from tagwright.settings.schema import Settings
from tagwright.tokenizers.tokens import Tokens
from tagwright.training.memory import free_bytes
from tagwright.training.prepared import Prepared

FLOAT = 4
GIGABYTE, MEGABYTE = 1e9, 1e6
# weights, gradient, and Adam's two averages; row Adagrad has one number for a whole row
ADAMW, ROW_ADAGRAD = (
    4,
    2,
)
BATCH = 4  # logits, loss and their gradients
TOUCHED = 2.3  # sparse gradients of the features that a batch has, and their copies
# bytes per text of dev and label: while training, for a decision, for a fitted one
WATCHED, PLAIN, FITTED = (
    18,
    29,
    56,
)


class MemoryPart(NamedTuple):
    """Bytes, and what they are for: "weights", "gradients" or "scores"."""

    size: float
    kind: str
    told: str


@dataclass(frozen=True, kw_only=True)
class Needed:
    """What training takes at its peak on a GPU and on the host; without a GPU all is on the
    host.
    """

    device: Sequence[MemoryPart]
    host: Sequence[MemoryPart]

    @property
    def host_bytes(self) -> float:
        """The sum on the host."""
        return sum(part.size for part in self.host)


def require_memory(prepared: Prepared, settings: Settings) -> None:
    """Refuse a training that needs more memory than is free, where that is known."""
    device, found = device_of(settings), needed(prepared, settings)
    for place, needs in ((device, found.device), (torch.device("cpu"), found.host)):
        free, wanted = free_bytes(place), sum(part.size for part in needs)
        if free is not None and wanted > free:
            large = [part for part in needs if part.size > wanted / 100]
            listed = " + ".join(f"{_told(part.size)} for {part.told}" for part in large)
            where = "are free" if place.type == "cpu" else f"are free on {place}"
            raise SettingsError(
                f"training needs about {_told(wanted)} of memory, and {_told(free)} {where}:"
                f" {listed}. {_advice(max(needs).kind, prepared, settings)}"
            )


def needed(prepared: Prepared, settings: Settings) -> Needed:
    """The larger of two peaks: while weights are trained, and when the decisions are fitted on
    dev.
    """
    first = prepared.first
    heads = [
        _of_head(prepared.alone(name), settings.of(name), encoder=name == first)
        for name in prepared.heads
    ]
    training = [part for head in heads for part in (head.weights, head.gradients)]
    kept, soft = ([getattr(head, kind) for head in heads] for kind in ("kept", "soft"))
    scores, deciding = ([getattr(head, kind) for head in heads] for kind in ("scores", "deciding"))
    if device_of(settings).type == "cuda":
        return Needed(device=training, host=[*kept, *soft, *map(max, scores, deciding)])
    # when the decision is fitted
    once = [head.kept if head.kept.size else head.weights for head in heads]
    phases = [[*training, *kept, *soft, *scores], [*once, *soft, *deciding]]
    return Needed(device=[], host=max(phases, key=lambda phase: sum(part.size for part in phase)))


class _OfHead(NamedTuple):
    """What one head takes, the weights of the encoder among those of one of them."""

    weights: MemoryPart
    kept: MemoryPart
    gradients: MemoryPart
    soft: MemoryPart
    scores: MemoryPart
    deciding: MemoryPart


def _of_head(prepared: Prepared, settings: Settings, *, encoder: bool) -> _OfHead:
    label_count = len(prepared.space)
    rows, cells = _cells(prepared, settings)
    scores = MemoryPart(WATCHED * cells, "scores", f"scores of {rows} × {label_count:,} labels")
    fitted = (
        settings.decide.name in ("auto", "threshold")
        and not prepared.space.exclusive
        and not prepared.tagged
    )
    deciding = MemoryPart(
        (FITTED if fitted or settings.link == "none" else PLAIN) * cells, "scores", scores.told
    )
    soft = MemoryPart(0.0, "scores", "soft labels of train")
    if settings.targets.name != "hard":
        soft = soft._replace(size=float(FLOAT * prepared.tables["train"].num_rows * label_count))
    return _OfHead(*_weights(prepared, settings, encoder=encoder), soft, scores, deciding)


def _weights(
    prepared: Prepared, settings: Settings, *, encoder: bool
) -> tuple[MemoryPart, MemoryPart, MemoryPart]:
    """Weights with the state of their optimizer, the best weights so far, the gradients of a batch;
    those of the `encoder` included, or not."""
    factory = registry.find(registry.ENCODERS, settings.encoder.name).factory
    extra = registry.find(registry.LOSSES, settings.loss.name).factory.extra_logits
    columns, batch = len(prepared.space) + extra, settings.fit.batch
    logits = float(FLOAT * BATCH * columns * batch)
    if factory.sparse:
        width, touched = _sparse_features(prepared, settings)
        told = f"weights of {width:,} features × {columns:,} labels"
        own = float(FLOAT * (width + 1) * columns)
        exact = settings.fit.optimizer == "exact"
        moved = 0.0 if exact else TOUCHED * FLOAT * touched * columns
        best = MemoryPart(
            0.0 if exact else own, "weights", "a second copy of them (the best so far)"
        )
        return (
            MemoryPart(own, "weights", told),
            best,
            MemoryPart(logits + moved, "gradients", f"batches of {batch} texts"),
        )
    width, beside = _dense_width(prepared, settings)
    beside = beside if encoder else 0
    size, copies = _matrix(settings, columns)
    own, told = (
        float(size * (width + 1) * columns),
        f"weights of width {width:,} × {columns:,} labels and their optimizer",
    )
    gradients = MemoryPart(
        0.0 if settings.head.options.get("chunk") else logits,
        "gradients",
        f"batches of {batch} texts",
    )
    whole = MemoryPart(copies * own + ADAMW * FLOAT * beside, "weights", told)
    return whole, MemoryPart(own + FLOAT * beside, "weights", "the best weights so far"), gradients


def _matrix(settings: Settings, columns: int) -> tuple[int, int]:
    """Bytes of a weight of the label matrix, and how many such a weight takes with gradient and
    optimizer.
    """
    head = settings.head.options
    asked, half = head.get("optimizer", "auto"), head.get("dtype") == "bfloat16"
    rows = asked == "row_adagrad" or (
        asked == "auto" and (half or (head.get("chunk", 0) and columns > FULL))
    )
    return (2 if half else FLOAT), (ROW_ADAGRAD if rows else ADAMW)


def _sparse_features(prepared: Prepared, settings: Settings) -> tuple[int, int]:
    """The number of features, and how many different ones a batch has (of texts across train)."""
    encoder = registry.build(
        registry.ENCODERS, settings.encoder.name, settings.encoder.options, learned=prepared.learned
    )
    tokens = prepared.tokens["train"]
    rows = (
        np.linspace(0, len(tokens) - 1, min(settings.fit.batch, len(tokens))).astype(int).tolist()
    )
    spans = [(tokens.offsets[row], tokens.offsets[row + 1]) for row in rows]
    offsets = np.cumsum([0, *(end - start for start, end in spans)])
    sample = Tokens(np.concatenate([tokens.ids[start:end] for start, end in spans]), offsets)
    return encoder.width_out, len(np.unique(encoder.features(sample).indices))


def _dense_width(prepared: Prepared, settings: Settings) -> tuple[int, int]:
    """The width of the encoder's vectors, and its number of weights (0 for pretrained encoders)."""
    if "config.json" in prepared.learned:
        config = json.loads(bytes(prepared.learned["config.json"]))
        return int(config.get("hidden_size") or config.get("dim") or 0), 0

    def made() -> Encoder:
        return registry.build(
            registry.ENCODERS,
            settings.encoder.name,
            settings.encoder.options,
            sizes=prepared.tokenizer.sizes,
            vectors=prepared.vectors,
            learned=prepared.learned,
            fresh=False,
            precision=settings.fit.precision,
            limit=settings.fit.limit,
        )

    with forked_random():
        try:
            with torch.device("meta"):  # shapes without memory
                encoder = made()
        except RuntimeError:  # one that computes with its weights while it is made
            encoder = made()
    return encoder.width_out, sum(weight.numel() for weight in encoder.parameters())


def _cells(prepared: Prepared, settings: Settings) -> tuple[str, int]:
    """Rows of dev in words, and the number of their scores; shortlists count as none."""
    if prepared.tagged:
        tokens = len(prepared.sheets["dev"].tags)
        return f"{tokens:,} tokens of dev", tokens * len(prepared.space)
    texts = prepared.tables["dev"].num_rows
    return f"{texts:,} texts of dev", (
        0 if shortlisted(settings.head, len(prepared.space)) else texts * len(prepared.space)
    )


def _advice(kind: str, prepared: Prepared, settings: Settings) -> str:
    """What to do about the largest part."""
    factory = registry.find(registry.ENCODERS, settings.encoder.name).factory
    chunk = settings.head.options.get("chunk", 0)
    if kind == "scores":
        many = len(prepared.space) > FULL and not chunk and not factory.sparse
        first = "--head-chunk 16384, which keeps the highest labels of each text, " if many else ""
        return (
            f"Take {first}fewer texts in dev (split.dev_share, or a smaller file), or fewer labels"
        )
    if factory.sparse:
        fewer = "fewer features (--set encoder.minimum=5, --set encoder.longest=1)"
        return f"Take an encoder with dense vectors (--encoder cnn), {fewer}, or fewer labels"
    if not chunk:
        return "Take --head-chunk 16384, a smaller fit.batch, a narrower encoder, or fewer labels"
    return (
        "Take --set head.dtype=bfloat16, --set head.optimizer=row_adagrad, a narrower encoder, or"
        " fewer labels"
    )


def _told(size: float) -> str:
    """Bytes in GB, or in MB where they are few."""
    return f"{size / GIGABYTE:,.1f} GB" if size >= GIGABYTE else f"{size / MEGABYTE:,.1f} MB"
