"""Which labels depend on which words (MaskLoss, appendix A.3): a model is asked about every text
without each word.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_array, vstack

from tagwright.arrays import Bools
from tagwright.batches.word_removals import Gaps, gaps_of
from tagwright.errors import SettingsError
from tagwright.explain.deletion import Deletions, Falls
from tagwright.explain.kept_blocks import KeptBlocks, fingerprint
from tagwright.inference.model import Model, inputs_of
from tagwright.labels.space import LabelSpace
from tagwright.masks.dependencies import Element, Elements, check_select, check_threshold
from tagwright.models.precision import exactly, in_bfloat16
from tagwright.models.shortlist import shortlisted
from tagwright.tokenizers.tokens import Tokens
from tagwright.tokenizers.words_of import WordTokens

CHUNK = 8192  # texts
BATCH = 1024  # of them: their words are then multiplied once, not four times
# falls that differ less from the threshold may be decided otherwise by other batches
TOLERANCE = 1e-6
DOUBT = {"float32": 0.0, "bfloat16": 0.1}  # ten times what bfloat16 moves a probability by


@dataclass(frozen=True, kw_only=True)
class FoundElements:
    """The elements, and what they were found in. `copies` are those of the selected texts, one for
    each word.
    """

    elements: Elements
    texts: int
    selected: int
    words: int  # distinct ones of the selected texts
    copies: int
    below: int  # copies that were not computed, because no label of the text can fall so far
    same: int  # copies that were not computed, because they are like the text or another copy
    taken_over: int  # copies of an earlier run that was killed
    near: int  # decisions that rounding could turn
    precision: str
    seconds: float

    @property
    def skipped(self) -> int:
        """Copies that were not computed."""
        return self.below + self.same

    def as_dict(self) -> dict[str, object]:
        """Ready for JSON, but for the elements."""
        return {name: value for name, value in vars(self).items() if name != "elements"} | {
            "skipped": self.skipped
        }


def find_elements(
    model: Model,
    table: pa.Table,
    *,
    threshold: float,
    select: str = "correct",
    progress: Callable[[int, int], None] = lambda done, total: None,
    folder: Path | None = None,
    same: bool = False,
) -> FoundElements:
    """Labels that fall by more than `threshold` when a word is taken out of a text, gathered over
    the texts.

    `table` has text and labels; texts without labels are left out. `select` takes the texts whose
    predicted labels are the gold ones, the others, or all. Texts are scored in float32, copies in
    the precision that the model predicts in, and again in float32 where that leaves a doubt. With a
    `folder` blocks are kept there, and a run with the same model, texts and settings goes on where
    one was killed; others start anew, or are an error where it has to be the `same`. `progress` is
    told how many copies are done, and of how many.
    """
    started = time.perf_counter()
    _check(model, threshold, select)
    table = table.filter(pc.is_valid(table["labels"]))
    words, precision = model.tokenizer.encode_words(table["text"]), _precision(model)
    about = {"threshold": threshold, "select": select, "precision": precision}
    own = None if folder is None else fingerprint(model, words, table["labels"], about)
    kept = KeptBlocks(folder, own, same=same)
    selected, full = kept.texts(
        lambda: _looked_at(model, table, words.tokens, select, threshold - TOLERANCE)
    )
    bounds = threshold, TOLERANCE, DOUBT[precision]
    deletions = Deletions(model, words.tokens, full, *bounds)
    gaps = gaps_of(words)
    gaps = gaps.take(selected[gaps.owner])
    able = gaps.take((full > threshold).sum(axis=1)[gaps.owner] > 0)
    falls = _all_falls(deletions, able, kept, lambda done: progress(done, len(able)))
    return FoundElements(
        elements=_gathered(falls, words, model.primary.space),
        texts=table.num_rows,
        selected=int(selected.sum()),
        words=len(np.unique(gaps.word)),
        copies=len(gaps),
        below=len(gaps) - len(able),
        same=sum(part.same for part in falls),
        taken_over=kept.taken_over,
        near=sum(part.near for part in falls),
        precision=precision,
        seconds=time.perf_counter() - started,
    )


def _check(model: Model, threshold: float, select: str) -> None:
    check_threshold(threshold)
    check_select(select)
    labels = len(model.primary.space)
    if shortlisted(model.primary.part, labels):
        raise SettingsError(
            f"elements need the probabilities of all labels; a model of {labels:,} labels has only"
            " a few"
        )


def _precision(model: Model) -> str:
    """What the model predicts in on its device."""
    device = next(model.network.parameters()).device
    half = in_bfloat16(model.network.encoder.precision, device)
    return "bfloat16" if half else "float32"


def _looked_at(
    model: Model, table: pa.Table, tokens: Tokens, select: str, floor: float
) -> tuple[Bools, csr_array]:
    """Which texts are selected, bool (n,), and of these the probabilities above `floor`, sparse
    float64 (n, L).
    """
    head, selected, full = model.primary, [], []
    for start in range(0, table.num_rows, CHUNK):
        part = table.slice(start, CHUNK)
        offsets = tokens.offsets[start : start + part.num_rows + 1]
        own = Tokens(tokens.ids[offsets[0] : offsets[-1]], offsets - offsets[0])
        inputs = inputs_of(model.network, own, limit=model.inference.limit)
        with exactly(model.network.encoder):
            answers = model.answers(inputs, batch=BATCH)
        scores = head.scores(answers)
        right = _right(scores.chosen, part, head.space)
        taken = {"correct": right, "incorrect": ~right, "all": np.ones_like(right)}[select]
        selected.append(taken)
        above = (scores.probabilities > floor) & taken[:, None]
        full.append(csr_array(np.where(above, scores.probabilities, 0).astype(np.float64)))
    empty = csr_array((0, len(head.space)), dtype=np.float64)
    return np.concatenate([np.empty(0, bool), *selected]), csr_array(vstack([empty, *full], "csr"))


def _right(chosen: Bools, table: pa.Table, space: LabelSpace) -> Bools:
    """Texts whose labels are the chosen ones, (n,); cells that nobody judged do not count."""
    gold = space.encode(table["labels"])
    wrong = chosen != (gold.matrix(len(space)) > 0).toarray()
    if "unknown" in table.column_names:
        wrong &= ~(space.encode(table["unknown"]).matrix(len(space)) > 0).toarray()
    right = ~wrong.any(axis=1)
    if gold.unseen:  # a label that the model does not have is never chosen
        lists = table["labels"].combine_chunks()
        strange = pc.is_in(pc.list_flatten(lists), value_set=pa.array(list(gold.unseen)))
        right[pc.list_parent_indices(lists).filter(strange).to_numpy()] = False
    return right


def _all_falls(
    deletions: Deletions, gaps: Gaps, kept: KeptBlocks, progress: Callable[[int], None]
) -> list[Falls]:
    """The falls of all blocks, those of an earlier run among them."""
    blocks = deletions.blocks(gaps)
    found = kept.finished(len(blocks))
    left = [number for number in range(len(blocks)) if number not in found]
    done = sum(part.copies for part in found.values())
    progress(done)
    for number, part in zip(left, deletions.falls([blocks[number] for number in left])):
        found[number] = part
        kept.keep(number, part)
        done += part.copies
        progress(done)
    return [found[number] for number in range(len(blocks))]


def _gathered(falls: list[Falls], words: WordTokens, space: LabelSpace) -> Elements:
    """Words and labels, each with the number of its texts and the largest fall."""
    columns = (
        [getattr(part, name) for part in falls] for name in ("owner", "word", "label", "drop")
    )
    owner, word, label, drop = (np.concatenate([np.empty(0), *parts]) for parts in columns)
    key = word.astype(np.int64) * len(space) + label.astype(np.int64)
    order = np.lexsort((owner, key))
    key, owner, drop = key[order], owner[order], drop[order]
    firsts = np.flatnonzero(np.diff(key, prepend=-1))
    if not len(firsts):
        return Elements(())
    new_text = (np.diff(key, prepend=-1) != 0) | (np.diff(owner, prepend=-1) != 0)
    texts, drops = (
        np.add.reduceat(new_text.astype(np.int64), firsts),
        np.maximum.reduceat(drop, firsts),
    )
    rows = [
        Element(words.words[pair // len(space)], space.names[pair % len(space)], count, fall)
        for pair, count, fall in zip(key[firsts].tolist(), texts.tolist(), drops.tolist())
    ]
    return Elements(
        tuple(sorted(rows, key=lambda row: (row.label, -row.texts, -row.drop, row.word)))
    )
