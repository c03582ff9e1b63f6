"""A trained model: network, tokenizer, and for each head its labels, link and decision."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypedDict, TypeVar

import numpy as np
import pyarrow as pa
import torch

from tagwright.arrays import Bools, Floats, Ints, Numbers
from tagwright.batches.inputs import Inputs
from tagwright.batches.token_windows import TagInputs, placed
from tagwright.decisions import Decision
from tagwright.errors import ModelError, SettingsError, unknown
from tagwright.labels.shortlist import Shortlist, ShortScores
from tagwright.labels.space import LabelSpace
from tagwright.links import IDENTITY, Calibration, log_terms, probabilities, some_probabilities
from tagwright.models.build import HeadPart, LabelledHead
from tagwright.models.distributed import ALONE, Ranks
from tagwright.models.evaluate import logits_of, logits_of_heads, shortlist_of, token_logits_of
from tagwright.models.network import Network
from tagwright.models.shortlist import shortlisted
from tagwright.settings.inference import InferenceSettings, Record
from tagwright.settings.named_heads import given_alone
from tagwright.settings.schema import Choice
from tagwright.tokenizers import Tokenizer
from tagwright.tokenizers.cut import Cut, cut
from tagwright.tokenizers.tokens import Tokens


class Scores(NamedTuple):
    """What a model says of n texts, each (n, L)."""

    logits: Floats
    probabilities: Floats
    chosen: Bools

    def cells(self, kept: Bools | None = None) -> tuple[Ints, Ints, Floats]:
        """Row, label id and probability of every chosen cell, in their order; of `kept` rows (n,)
        alone.
        """
        rows, labels = np.nonzero(self.chosen if kept is None else self.chosen & kept[:, None])
        return rows, labels, self.probabilities[rows, labels]

    def highest(self) -> Ints:
        """The id of each text's highest label, (n,)."""
        return self.logits.argmax(1)


Found = TypeVar("Found", bound=Scores | ShortScores)


class Figures(TypedDict, total=False):
    """What a head came to on labelled data; nothing is there of a head that was not measured."""

    split: str | None
    convention: str
    metrics: dict[str, float]


DOCUMENT = Choice(name="document")


@dataclass(frozen=True, kw_only=True)
class TrainedHead:
    """A head of a trained model: its labels, the part that makes its logits, and what becomes of
    these.

    `metrics` were measured on dev. The part gives `extra_logits` beside those of the labels, and
    reads logits from `zero` up.
    """

    space: LabelSpace
    link: str
    rule: str
    decision: Decision
    metrics: Figures = field(default_factory=Figures)
    calibration: Calibration = IDENTITY
    part: Choice = DOCUMENT
    extra_logits: int = 0
    zero: float = 0.0

    @property
    def tags_tokens(self) -> bool:
        """Whether it tags tokens, and not whole texts."""
        return self.part.name == "tokens"

    def labelled(self) -> LabelledHead:
        """What makes its part of the network anew."""
        part = HeadPart(self.part, self.extra_logits, self.zero)
        return LabelledHead(part, self.space, self.link)

    def probabilities(self, logits: Floats) -> Floats:
        """Logits (n, L) -> probabilities (n, L)."""
        return probabilities(
            logits, self.link, exclusive=self.space.exclusive, calibration=self.calibration
        )

    def scores(
        self, logits: Floats | Shortlist, *, offsets: Ints | None = None
    ) -> Scores | ShortScores:
        """Logits (n, L), or those of shortlists -> all three. Of tokens, `offsets` say where each
        text begins.
        """
        if isinstance(logits, Shortlist):
            values = some_probabilities(logits.logits, logits.log_sum, self.link, self.calibration)
            return ShortScores(logits, values, self.decision.choose(logits.logits, values))
        return self.dense_scores(logits, offsets=offsets)

    def dense_scores(self, logits: Floats, *, offsets: Ints | None = None) -> Scores:
        """The same where every label has its logit."""
        values = self.probabilities(logits)
        texts = {} if offsets is None else {"offsets": offsets}
        return Scores(logits, values, self.decision.choose(logits, values, **texts))


@dataclass(frozen=True, kw_only=True)
class Model:
    """Ready to answer. Its heads may have any names; the first is asked where none is named.

    `learned` are arrays that the encoder took from the training texts, if it does; `record` says
    how it was trained.
    """

    inference: InferenceSettings
    tokenizer: Tokenizer
    network: Network
    heads: dict[str, TrainedHead]
    learned: dict[str, Numbers] = field(default_factory=dict)
    record: Record = field(default_factory=Record)

    @property
    def first(self) -> str:
        """The name of the head that is asked where none is named."""
        return next(iter(self.heads))

    @property
    def primary(self) -> TrainedHead:
        """The head that is asked where none is named."""
        return self.heads[self.first]

    @property
    def tags_tokens(self) -> bool:
        """Whether its first head tags tokens, and not whole texts."""
        return self.primary.tags_tokens

    @property
    def given(self) -> dict[str, object]:
        """What was given to train it, as for a run with its first head alone."""
        return given_alone(self.record.given, self.first, tags_tokens=self.tags_tokens)

    @property
    def cuts_texts(self) -> bool:
        """Whether it reads texts as tokens that stand apart, for one of its heads tags them."""
        return any(head.tags_tokens for head in self.network.heads.values())

    def alone(self, name: str) -> "Model":
        """The same with one of its heads to ask; the network stays whole, for a head may change
        what the others see.
        """
        return self if [*self.heads] == [name] else replace(self, heads={name: self.heads[name]})

    def of(self, name: str | None) -> "Model":
        """The same with the head of this name alone; None: with all. An unknown name is an
        error.
        """
        if name is not None and name not in self.heads:
            raise SettingsError(unknown("head", name, self.heads))
        return self if name is None else self.alone(name)

    def led_by(self, name: str) -> "Model":
        """The same with the head of this name as its first."""
        return replace(self, heads={name: self.of(name).heads[name], **self.heads})

    def as_trained(self) -> "Model":
        """The same with its heads in the order they were trained in."""
        order = [
            name
            for name in self.record.resolved.get("heads", ("main", "tags"))
            if name in self.heads
        ]
        return replace(
            self, heads={name: self.heads[name] for name in dict.fromkeys([*order, *self.heads])}
        )

    def to(self, device: torch.device) -> "Model":
        """Itself, after its network was moved to the device."""
        self.network.to(device)
        return self

    def require_whole_texts(self) -> None:
        """Refuse a model that tags tokens, where labels of whole texts are asked for."""
        if self.tags_tokens:
            raise ModelError(
                "this model tags tokens and has no labels of whole texts; `tagwright tag` finds"
                " keywords"
            )

    def scores(
        self,
        texts: pa.ChunkedArray | Sequence[str],
        *,
        head: str | None = None,
        batch: int = 256,
        tokens: Cut | None = None,
    ) -> Scores | ShortScores:
        """What the model says of these texts; an empty text is scored like any other.

        A model that also tags tokens takes these, if they are known, instead of cutting the texts
        itself.
        """
        name = self.first if head is None else head
        if self.heads[name].tags_tokens:
            raise ModelError(
                f"head {name} tags tokens and has no labels of whole texts; `tagwright tag` finds"
                " keywords"
            )
        return self.all_scores(texts, [name], batch=batch, tokens=tokens)[name]

    def all_scores(
        self,
        texts: pa.ChunkedArray | Sequence[str],
        heads: Sequence[str],
        *,
        batch: int = 256,
        tokens: Cut | None = None,
    ) -> dict[str, Scores | ShortScores]:
        """The same of several heads of whole texts, in one pass where none of them keeps
        shortlists.
        """
        inputs = self.inputs(texts, tokens)
        short = [
            name
            for name in heads
            if shortlisted(self.heads[name].part, len(self.heads[name].space))
        ]
        plain = [name for name in heads if name not in short]
        found: dict[str, Floats | Shortlist] = {}
        if plain:
            found |= logits_of_heads(self.network, inputs, plain, batch=batch)
        for name in short:
            found[name] = self.answers(inputs, head=name, batch=batch)
        return {name: finite(self.heads[name].scores(found[name])) for name in heads}

    def answers(
        self, inputs: Inputs, *, head: str | None = None, batch: int = 256, ranks: Ranks = ALONE
    ) -> Floats | Shortlist:
        """Logits (n, L) of every row, or of every token; shortlists where the labels are very
        many.
        """
        name = self.first if head is None else head
        made = self.heads[name]
        return answers_of(
            self.network,
            inputs,
            made.part,
            made.space,
            made.link,
            head=name,
            batch=batch,
            ranks=ranks,
        )

    def inputs(self, texts: pa.ChunkedArray | Sequence[str], tokens: Cut | None = None) -> Inputs:
        """The texts as the network takes them."""
        if not self.cuts_texts:
            return inputs_of(self.network, self.tokenizer.encode(texts), limit=self.inference.limit)
        tokens = cut(texts, self.inference.data.cut) if tokens is None else tokens
        pieces = self.tokenizer.encode_tokens(tokens.words)
        limit = self.inference.limit
        return tag_inputs(
            pieces, tokens.offsets, self.tokenizer, self.primary.part, limit=limit, whole=False
        )

    def token_inputs(self, words: pa.Array, offsets: Ints) -> TagInputs:
        """Texts that are cut into tokens, as its first head takes them."""
        pieces = self.tokenizer.encode_tokens(words)
        return tag_inputs(
            pieces, offsets, self.tokenizer, self.primary.part, limit=self.inference.limit
        )


def finite(scores: Found) -> Found:
    """The same scores. Of weights that are finite and too large there come none that are: a
    ModelError.
    """
    if not np.isfinite(scores.probabilities).all():
        raise ModelError(
            "the model gives scores that are not finite: its weights are too large; train it anew"
        )
    return scores


def tag_inputs(
    pieces: Tokens,
    offsets: Ints,
    tokenizer: Tokenizer,
    part: Choice,
    *,
    limit: int,
    whole: bool = True,
) -> TagInputs:
    """Windows as the head `part` asks for, with the special tokens that the encoder's own tokenizer
    puts around them.

    Not `whole`, only the first window of each text.
    """
    overlap, around = part.options.get("overlap", 64), tokenizer.around
    made = placed(pieces, offsets, limit=limit, overlap=overlap, around=around, whole=whole)
    return TagInputs(made, limit)


def answers_of(
    network: Network,
    inputs: Inputs,
    part: Choice,
    space: LabelSpace,
    link: str,
    *,
    head: str,
    batch: int = 256,
    ranks: Ranks = ALONE,
) -> Floats | Shortlist:
    """Logits (n, L) of every row, or of every token; shortlists where the labels are very many."""
    if isinstance(inputs, TagInputs) and network.heads[head].tags_tokens:
        return token_logits_of(network, inputs, head=head, batch=batch, ranks=ranks)
    if shortlisted(part, len(space)):
        terms = log_terms(link, exclusive=space.exclusive)
        return shortlist_of(network, inputs, log_terms=terms, head=head, batch=batch, ranks=ranks)
    return logits_of(network, inputs, head=head, batch=batch, ranks=ranks)


def inputs_of(network: Network, tokens: Tokens, *, limit: int) -> Inputs:
    """Tokens as the network's encoder wants them: as they are, its own way, or as sparse
    features.
    """
    return network.encoder.inputs_of(tokens, limit=limit)
