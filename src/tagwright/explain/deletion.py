"""What a model says of texts without one of their words: blocks of copies, of which no two alike
are computed.

Copies are made of ids: a text is tokenized once. An encoder with a method `without` (the CNN) gives
the vectors of a text's copies from the text itself; for any other, and for texts that are cut, the
copies are its inputs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from tagwright.arrays import Floats, Ints
from tagwright.batches.bucket import plan
from tagwright.batches.inputs import Inputs, collate
from tagwright.batches.word_removals import Gaps, copies, first_alike
from tagwright.inference.model import Model, inputs_of
from tagwright.models.encoders.without_words import Removals
from tagwright.models.evaluate import cost_of
from tagwright.models.heads import Head
from tagwright.models.network import Network
from tagwright.models.precision import exactly
from tagwright.tokenizers.tokens import Tokens

TOKENS = 2**20  # of the copies of a block
COPIES = 2**16  # of a block that the encoder takes whole
CELLS = 2**24  # probabilities of a block
# tokens of a batch, padding included, where the inputs name none that is larger
ROOMS = {"cuda": 65_536}
ROWS = 2**14  # of a batch at most


class Block(NamedTuple):
    """Copies that are computed together; `whole` where the encoder makes them from the texts."""

    gaps: Gaps
    whole: bool


class CopyLogits(NamedTuple):
    """Logits (D, L) of distinct copies, still on the device; `which` (C,) is each copy's row, -1:
    as the text.
    """

    logits: Tensor
    which: Ints


class Falls(NamedTuple):
    """Labels that fell by more than the threshold, (F,) each, and what was counted in a block."""

    owner: Ints  # the text
    word: Ints
    label: Ints
    drop: Floats
    near: int  # decisions that rounding could turn
    same: int  # copies that were not computed, being like the text or another copy
    copies: int


@dataclass(frozen=True)
class Deletions:
    """A model, its texts as tokens, and which labels may fall: `full` (n, L) has their
    probabilities, sparse.

    Falls that are nearer to the threshold than `doubt` are looked at again, in float32; than
    `tolerance`, counted.
    """

    model: Model
    tokens: Tokens
    full: csr_array
    threshold: float
    tolerance: float
    doubt: float = 0.0

    @property
    def head(self) -> str:
        """The head whose labels may fall: the first of the model."""
        return self.model.first

    def falls(self, blocks: list[Block]) -> Iterator[Falls]:
        """The falls of every block. On a GPU the next block is under way while one is read."""
        waiting: tuple[Block, CopyLogits] | None = None
        for block in blocks:
            answer = self._answer(block)
            if waiting is not None:
                yield self._read(*waiting)
            waiting = block, answer
        if waiting is not None:
            yield self._read(*waiting)

    def blocks(self, gaps: Gaps) -> list[Block]:
        """All copies, those of like length together."""
        lengths = self.tokens.lengths[gaps.owner]
        ends = self._ends
        cut = np.zeros(len(gaps), bool) if ends is None else lengths > sum(ends)
        whole = ~cut & is_direct(self.model.network)
        kept = lengths if ends is None else np.minimum(lengths, sum(ends))
        share = np.maximum(
            np.where(whole, 1 / COPIES, kept / TOKENS),
            len(self.model.heads[self.head].space) / CELLS,
        )
        found = []
        for way in (True, False):
            rows = np.flatnonzero(whole == way)
            rows = rows[np.lexsort((gaps.start[rows], gaps.owner[rows], lengths[rows]))]
            number = np.floor(np.cumsum(share[rows])).astype(np.int64)
            parts = np.split(rows, np.flatnonzero(np.diff(number)) + 1) if len(rows) else []
            found += [Block(gaps.take(part), way) for part in parts]
        return found

    @property
    def _ends(self) -> tuple[int, int] | None:
        none = Tokens(self.tokens.ids[:0], np.zeros(1, np.int64))
        return self._inputs(none).ends

    def _inputs(self, tokens: Tokens) -> Inputs:
        return inputs_of(self.model.network, tokens, limit=self.model.inference.limit)

    @torch.inference_mode()
    def _answer(self, block: Block) -> CopyLogits:
        self.model.network.eval()
        if block.whole:
            logits = direct_logits(self.model.network, self.tokens, block.gaps, head=self.head)
            return CopyLogits(logits, np.arange(len(block.gaps)))
        which, distinct = _distinct(self.tokens, block.gaps, self._ends)
        return CopyLogits(self._of_inputs(self._inputs(distinct)), which)

    def _of_inputs(self, inputs: Inputs) -> Tensor:
        """Logits of rows, in their order. Nothing is read from the device meanwhile."""
        network = self.model.network
        device = next(network.parameters()).device
        order: list[Ints] = [np.empty(0, np.int64)]
        parts = []
        for index in _batches(inputs, device, network.heads[self.head]):
            tensors = (tensor.to(device, non_blocking=True) for tensor in inputs.batch(index))
            parts.append(network.of_labels(*tensors, heads=[self.head])[self.head].float())
            order.append(index)
        if not parts:
            return torch.zeros(0, len(self.model.heads[self.head].space), device=device)
        back = torch.from_numpy(np.argsort(np.concatenate(order))).to(device)
        return torch.cat(parts)[back]

    def _read(self, block: Block, answer: CopyLogits) -> Falls:
        """Compare the probabilities of the labels that may fall; all in float64."""
        found = self.model.heads[self.head].probabilities(answer.logits.float().cpu().numpy())
        taken = np.flatnonzero(answer.which >= 0)
        first, last = (
            self.full.indptr[block.gaps.owner[taken]],
            self.full.indptr[block.gaps.owner[taken] + 1],
        )
        copy = np.repeat(taken, last - first)
        ends = np.cumsum(last - first)
        cell = np.arange(len(copy)) + np.repeat(first - (ends - (last - first)), last - first)
        label, full = self.full.indices[cell], self.full.data[cell]
        row = answer.which[copy]
        doubtful = np.unique(row[np.abs(full - found[row, label] - self.threshold) < self.doubt])
        found[doubtful] = self._exactly(block, answer, doubtful)
        without = found[row, label].astype(np.float64)
        fell = full > without + self.threshold
        near = int((np.abs(full - without - self.threshold) < self.tolerance).sum())
        gaps = block.gaps.take(copy[fell])
        drop = (full - without)[fell]
        same = len(block.gaps) - len(answer.logits)
        return Falls(gaps.owner, gaps.word, label[fell], drop, near, same, len(block.gaps))

    @torch.inference_mode()
    def _exactly(self, block: Block, answer: CopyLogits, rows: Ints) -> Floats:
        """Probabilities (R, L) of some of the answer's rows in float32."""
        known, firsts = np.unique(answer.which, return_index=True)
        gaps = block.gaps.take(firsts[np.searchsorted(known, rows)])
        with exactly(self.model.network.encoder):
            logits = self._of_inputs(self._inputs(copies(self.tokens, gaps, self._ends)))
        return self.model.heads[self.head].probabilities(logits.cpu().numpy())


def is_direct(network: Network) -> bool:
    """Whether the encoder makes the vectors of copies from their texts."""
    return network.encoder.skips


@torch.inference_mode()
def direct_logits(network: Network, tokens: Tokens, gaps: Gaps, *, head: str) -> Tensor:
    """Logits (C, L) of copies that the encoder makes from their texts; those of a text must stand
    together.
    """
    network.eval()
    device = next(network.parameters()).device
    opens = np.diff(gaps.owner, prepend=-1) != 0
    rows, owner = gaps.owner[opens], np.cumsum(opens) - 1
    texts = collate(tokens, rows, limit=int(tokens.lengths[rows].max(initial=1)))
    cuts = Removals(
        *(
            torch.from_numpy(np.ascontiguousarray(c, np.int64))
            for c in (owner, gaps.start, gaps.stop)
        )
    )
    part = network.heads[head]
    ids, lengths = (tensor.to(device) for tensor in texts)
    found = network.encoder.without(ids, lengths, cuts)
    return torch.cat([part.of_labels(part(hidden)) for hidden in found])


def _distinct(tokens: Tokens, gaps: Gaps, ends: tuple[int, int] | None) -> tuple[Ints, Tokens]:
    """Copies without repetition, and which of them each gap has; -1 where a cut text reads the
    same.
    """
    cut = (
        np.empty(0, np.int64)
        if ends is None
        else np.unique(gaps.owner[tokens.lengths[gaps.owner] > sum(ends)])
    )
    nothing = np.zeros_like(cut)
    both = Gaps(*map(np.concatenate, zip(Gaps(cut, nothing, nothing, nothing), gaps)))
    made = copies(tokens, both, ends)
    first = first_alike(made)
    as_text = np.zeros(len(gaps), bool)
    if len(cut):
        place = np.minimum(np.searchsorted(cut, gaps.owner), len(cut) - 1)
        as_text = (cut[place] == gaps.owner) & (first[len(cut) :] == first[place])
    own = first[len(cut) :] - len(cut)
    own = np.where(own < 0, np.arange(len(gaps)), own)  # like another text
    kept = np.flatnonzero((own == np.arange(len(gaps))) & ~as_text)
    which = np.where(as_text, -1, np.searchsorted(kept, own))
    return which, copies(tokens, gaps.take(kept), ends)


def _batches(inputs: Inputs, device: torch.device, head: Head) -> list[Ints]:
    """Rows of like length: on a GPU as many tokens as keep it busy, else as in prediction."""
    rooms = inputs.rooms
    room = ROOMS.get(device.type, rooms.get(device.type, rooms.get("other")))
    batch = 256 if room is None else ROWS
    return plan(cost_of(inputs, head), batch=batch, seed=0, epoch=0, shuffle=False, room=room)
