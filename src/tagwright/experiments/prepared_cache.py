"""What the runs of a plan share: data prepared once, the scored part tokenized once; and a model's
scores on it.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import pyarrow as pa
from scipy.sparse import csr_array

from tagwright.arrays import Bools
from tagwright.experiments.plan import Planned, Source
from tagwright.inference.data_for_model import known_rows, labelled_rows
from tagwright.inference.tagged_tokens import Sheet, sheet_of, tags_of, truth_of_tags
from tagwright.settings.schema import Settings
from tagwright.targets.hard import hard
from tagwright.tokenizers.tokens import Tokens
from tagwright.training.prepare import learns_unlabelled, prepare
from tagwright.training.prepared import Prepared

Say = Callable[[str], None]


class Ready(NamedTuple):
    """Data as training and scoring take them; the same for every objective and seed."""

    prepared: Prepared
    on: str  # the part that is scored
    table: pa.Table  # its rows
    # None: training itself scores dev, and a model of labels and tags cuts its texts
    scored: Tokens | Sheet | None
    truth: csr_array | Bools  # (n, L) of that part, sparse; of tokens dense
    strange: int  # its texts whose labels train does not have, or tokens with such tags


class Bench:
    """Data prepared once for all runs that can share them."""

    def __init__(self, sources: Mapping[str, Source], say: Say) -> None:
        self.sources, self.say = sources, say
        self.place: tuple[str, ...] = ()
        self.ready: dict[str, Ready] = {}

    def of(self, run: Planned, settings: Settings) -> Ready:
        """Of the same data set, encoder and part of a cut, and of the settings that preparing looks
        at.
        """
        place = (*run.cell, run.part)
        if place != self.place:
            self.place, self.ready = place, {}
        whole = settings.as_dict()
        key = repr(
            [*(whole[section] for section in ("split", "embed", "encoder")), settings.fit.vectors]
        )
        key += str(learns_unlabelled(settings))
        if key not in self.ready:
            self.ready[key] = _ready(self.sources[run.data], settings)
            for sentence in said(self.ready[key], self.sources[run.data]):
                self.say(sentence)
        return self.ready[key]


def _ready(source: Source, settings: Settings) -> Ready:
    prepared, on = prepare(source.data, settings), source.on
    space, data = prepared.space, source.data.alone(prepared.first)
    one = prepared.answered(prepared.first)
    if on == "dev" and prepared.tagged:
        truth = truth_of_tags(one.sheets[on].tags, len(space))
        return Ready(prepared, on, one.tables[on], None, truth, 0)
    if on == "dev":
        return Ready(prepared, on, one.tables[on], None, hard(one.tables[on], space), 0)
    if prepared.tagged:
        table = labelled_rows(data, on, "tags")[1]
        tags, unseen = tags_of(table, space)
        sheet = sheet_of(table, prepared.tokenizer, tags)
        return Ready(
            prepared, on, table, sheet, truth_of_tags(sheet.tags, len(space)), sum(unseen.values())
        )
    table = labelled_rows(data, on)[1]
    known = known_rows(space, table, data.source)
    strange = table.num_rows - len(known)
    table = table.take(known)
    tokens = None if prepared.sheets else prepared.tokenizer.encode(table["text"])
    return Ready(prepared, on, table, tokens, hard(table, space), strange)


def said(ready: Ready, source: Source) -> tuple[str, ...]:
    """What a person should know of the data."""
    prepared = ready.prepared
    unseen = f"left out of {ready.on}: {ready.strange} texts, whose labels train does not have"
    if prepared.tagged:
        counted = "count as O" if "O" in prepared.space.index else "are wrong whatever is chosen"
        unseen = (
            f"{ready.strange} tokens of {ready.on} have tags that train does not have; they"
            f" {counted}"
        )
    sentences = (*prepared.found[len(source.data.found) :], *prepared.warnings)
    return (*sentences, unseen) if ready.strange else sentences
