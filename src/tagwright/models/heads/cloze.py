"""Labels as cloze slots before the text, which a masked-language model fills in (LM-MTC). For
pretrained encoders.
"""

import math
from collections.abc import Callable
from typing import Literal, TypedDict, cast

import torch
from torch import Tensor, nn

from tagwright.arrays import Ints
from tagwright.errors import SettingsError, unknown
from tagwright.models.encoders import slots as _slots
from tagwright.models.heads import Head, cloze_slots
from tagwright.models.heads.cloze_slots import MASK
from tagwright.models.hidden import Hidden, Slots

Chosen = Literal["template", "masking", "score", "slot_positions"]
SPREAD = 0.02  # of new vectors, as of a BERT's own at its start
CHOICES: dict[Chosen, tuple[str, ...]] = {
    "template": ("diff", "same", "short"),
    "masking": cloze_slots.MASKINGS,
    "score": ("shared", "own"),
    "slot_positions": ("sequential", "shared"),
}


class Given(TypedDict):
    """What a head is made of, as far as it may not go together."""

    extra_logits: int
    link: str
    reads_slots: bool
    template: str
    masking: str
    share: float
    wrong: float
    score: str
    slot_positions: str
    names: bool | None
    chunks: int
    rounds: int


class Cloze(Head):
    """One slot a label; the state at its YES, NO or MASK becomes the label's logit.

    `template` (eq. 2): "diff" is [LS-i] [YES-i | NO-i | MASK-i] [LE-i], "same" has one such triple
    for all labels, "short" only the middle one. `masking` says which slots hide their answer in
    training: all ("full"), a random number ("part"), or each with probability `share` ("p"); of
    those that show it, `wrong` show the other one. In prediction all are masked; in `rounds` > 1
    the surest are filled in first. `score` "own" has a map for each label, the paper's column i of
    W_l. Labels that do not fit are spread over `chunks`; where `text_sees_slots` is false these
    share one reading of the text. Slots start at the mean vector of their label's word pieces,
    where it has some and a slot of its own; `names` true wants that of every label, false of none.
    """

    def __init__(
        self,
        width: int,
        label_count: int,
        bias: Tensor,
        extra_logits: int,
        zero: float,
        link: str,
        reads_slots: bool,
        word_width: int | None,
        slot_room: int | None,
        family: str,
        name_vectors: Tensor | None,
        *,
        template: Literal["diff", "same", "short"] = "diff",
        masking: Literal["full", "part", "p"] = "full",
        share: float = 0.5,
        wrong: float = 0.01,
        score: Literal["shared", "own"] = "shared",
        slot_positions: Literal["sequential", "shared"] = "sequential",
        names: bool | None = None,
        chunks: int = 1,
        text_sees_slots: bool = True,
        rounds: int = 1,
    ) -> None:
        super().__init__()
        _check(cast(Given, locals()))
        _slots.check(family, shared=slot_positions == "shared", one_way=not text_sees_slots)
        self.label_count, self.zero, self.rounds, self.one_way = (
            label_count,
            zero,
            rounds,
            not text_sees_slots,
        )
        self.masking, self.share, self.wrong = masking, share, wrong
        self.size = 1 if template == "short" else 3  # tokens of a slot
        order, kept = cloze_slots.spread(label_count, chunks)
        self.chunks = len(order)
        places = torch.arange(order.shape[1] * self.size)
        self.room = self.size if slot_positions == "shared" else len(places)
        if slot_room is not None and self.room > slot_room:
            raise SettingsError(
                cloze_slots.too_many(
                    label_count,
                    self.size,
                    slot_room,
                    way=slot_positions,
                    chunked=template != "same",
                )
            )
        for name, made in {"order": order, "kept": kept, "places": places % self.room}.items():
            self.register_buffer(name, made, persistent=False)
        kinds = 1 if template == "same" else label_count
        start = (
            torch.zeros(kinds, word_width or width)
            if name_vectors is None or names is False
            else name_vectors
        )
        self.middle = nn.Parameter(start[:, None] + SPREAD * torch.randn(kinds, 3, start.shape[1]))
        edges = (
            None
            if self.size == 1
            else start[:, None] + SPREAD * torch.randn(kinds, 2, start.shape[1])
        )
        self.edges = None if edges is None else nn.Parameter(edges)
        self.weight = nn.Parameter(torch.empty(label_count if score == "own" else 1, width))
        nn.init.uniform_(self.weight, -1 / math.sqrt(width), 1 / math.sqrt(width))
        self.bias = nn.Parameter(bias.float())

    has_slots = True
    order: Tensor  # (chunks, n): labels of each chunk
    kept: Tensor  # (L,): the place of each label among those of all chunks
    places: Tensor  # (n * size,)

    def draw(
        self, target: Tensor, known: Tensor | None, generator: torch.Generator | None
    ) -> Tensor | None:
        """What the slots show in a step of training, (B, L) of NO, YES and MASK; None where all are
        masked.
        """
        if self.masking == "full":
            return None
        return cloze_slots.drawn(
            target, known, generator, masking=self.masking, share=self.share, wrong=self.wrong
        )

    def slots_of(self, inputs: tuple[Tensor, ...], shown: Tensor | None) -> Slots:
        """The slots before rows of ids (R, T); `shown` (B, L) is of texts, whose windows show the
        same.
        """
        rows = inputs[0].shape[0]
        if shown is not None and len(inputs) > 2:
            shown = shown.repeat_interleave(inputs[2], 0, output_size=rows)
        kinds, _, width = self.middle.shape
        of_label = self.order if kinds > 1 else torch.zeros_like(self.order)
        if shown is None:
            middle = self.middle[:, MASK][of_label].expand(rows, -1, -1, -1)
        else:
            # (R, chunks, n, E)
            middle = self.middle.flatten(0, 1)[3 * of_label + shown.long()[:, self.order]]
        if self.edges is not None:
            first, last = (self.edges[:, side][of_label].expand_as(middle) for side in (0, 1))
            middle = torch.stack([first, middle, last], 3)
        vectors = middle.reshape(rows, self.chunks, -1, width)
        if self.one_way:
            places = self.places.repeat(self.chunks)
            return Slots(vectors.flatten(1, 2), places, self.room, groups=self.chunks, one_way=True)
        return Slots(vectors.flatten(0, 1), self.places, self.room, passes=self.chunks)

    def tokens_of(self, lengths: Ints, windows: Ints | int = 1) -> Ints:
        """Tokens that texts of these lengths (n,) come to, with the slots of all `windows` (n,) and
        in all passes.
        """
        slots = windows * len(self.places)
        return lengths + self.chunks * slots if self.one_way else self.chunks * (lengths + slots)

    def forward(self, hidden: Hidden) -> Tensor:
        """Hidden -> logits (B, L)."""
        found = cast(Tensor, hidden.slots)  # `reads_slots` was checked
        states = found.reshape(len(hidden.pooled), -1, self.size, found.shape[-1])
        states = states[:, :, self.size // 2][:, self.kept]
        if len(self.weight) == 1:
            return states @ self.weight[0] + self.bias
        return (states * self.weight).sum(-1) + self.bias

    def of_labels(self, logits: Tensor) -> Tensor:
        """The logits of labels (B, L), measured from the loss's threshold."""
        return logits - self.zero

    def filled(self, run: Callable[[Tensor | None], Tensor]) -> Tensor:
        """Logits (B, L) as the slots are filled in, the surest first; `run(shown)` gives the logits
        of a pass.
        """
        return cloze_slots.filled(run, self.rounds, self.of_labels)


def _check(given: Given) -> None:
    """Refuse what does not go together."""
    if not given["reads_slots"]:
        raise SettingsError(
            "head cloze is for pretrained encoders of BERT's kind, which read slots before a text;"
            " take minilm or mpnet"
        )
    for name, choices in CHOICES.items():
        if given[name] not in choices:
            raise SettingsError(unknown(f"head.{name}", given[name], choices))
    if given["extra_logits"]:
        raise SettingsError(
            "a loss with a threshold class has a logit that is no label's; with head cloze take"
            " zlpr"
        )
    if given["template"] == "same":
        _check_same(given)
    if not 0 < given["share"] <= 1 or not 0 <= given["wrong"] <= 1:
        raise SettingsError(
            "head.share must be above 0 and at most 1, head.wrong from 0 to 1; got"
            f" {given['share']}, {given['wrong']}"
        )
    if given["rounds"] < 1 or given["chunks"] < 1:
        raise SettingsError(
            f"head.rounds and head.chunks must be at least 1, got {given['rounds']},"
            f" {given['chunks']}"
        )
    if given["rounds"] > 1 and given["link"] not in ("sigmoid", "sigmoid2"):
        raise SettingsError(
            "head.rounds fills in labels that are sure by themselves, and this loss only puts them"
            " in an order; take bce, focal or zlpr, or head.rounds=1"
        )


def _check_same(given: Given) -> None:
    """Refuse what leaves labels without anything to tell them apart."""
    said = "head.template=same tells labels apart by their positions; "
    if given["slot_positions"] == "shared":
        raise SettingsError(f"{said}take slot_positions=sequential")
    if given["chunks"] > 1:
        raise SettingsError(
            f"{said}head.chunks would give labels of different chunks the same ones: leave it at 1"
        )
    if given["names"]:
        raise SettingsError(
            f"{said}head.names has no slot for each to start: leave it out, or take diff or short"
        )


PART = Cloze
