"""Texts with a tag for each token, ready to be laid out: pieces of the tokens, and the tags' ids."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_array

from tagwright.batches.rows import Rows
from tagwright.batches.tokens import Tokens
from tagwright.embed import Tokeniser
from tagwright.embed._cut import cut, way_of
from tagwright.labels.space import LabelSpace
from tagwright.lists import offsets_of
from tagwright.model import tag_inputs
from tagwright.read import Data
from tagwright.read._find import whole
from tagwright.settings import Settings


class Sheet(NamedTuple):
    """Text i has the tokens offsets[i]:offsets[i + 1], token t the ids pieces.offsets[t]:[t + 1]."""

    pieces: Tokens
    offsets: np.ndarray  # int64 (n + 1,)
    tags: np.ndarray  # int64 (tokens,), -1 for one that the space does not have

    @property
    def tokens(self) -> Tokens:
        """All pieces of each text."""
        return Tokens(self.pieces.ids, self.pieces.offsets[self.offsets])


def sheet_of(table: pa.Table, tokeniser: Tokeniser, space: LabelSpace) -> tuple[Sheet, dict[str, int]]:
    """The sheet of a table with `tokens` and `tags`, and the tags outside the space with their counts.

    Such a tag counts as "outside" where the space has one: nothing is known of it.
    """
    known, unseen = tags_of(table, space)
    pieces = tokeniser.encode_tokens(flat(table["tokens"]))
    return Sheet(pieces, offsets_of(whole(table["tokens"])), known), unseen


def tags_of(table: pa.Table, space: LabelSpace) -> tuple[np.ndarray, dict[str, int]]:
    """The ids of all tags, (tokens,), and the tags outside the space with their counts."""
    tags = flat(table["tags"])
    ids = pc.index_in(tags, value_set=pa.array(space.names, tags.type))
    strange = pc.value_counts(tags.filter(pc.is_null(ids)))
    unseen = dict(zip(strange.field("values").to_pylist(), strange.field("counts").to_pylist()))
    outside = space.index.get("O", -1)
    return pc.fill_null(ids, outside).to_numpy(zero_copy_only=False).astype(np.int64), unseen


def tag_space(table: pa.Table) -> LabelSpace:
    """The tags of a table, each token with exactly one."""
    tags = flat(table["tags"])
    singles = pa.ListArray.from_arrays(pa.array(np.arange(len(tags) + 1, dtype=np.int32)), tags)
    return LabelSpace.of(singles, exclusive=True)


def tag_rows(
    sheet: Sheet,
    tokeniser: Tokeniser,
    settings: Settings,
    *,
    weight: np.ndarray | None,
    target: csr_array | None = None,
) -> Rows:
    """Windows to learn from, with a tag where a position speaks for a token.

    With a `target` (n, L) of labels for whole texts, each text is one row: its first window.
    """
    inputs = tag_inputs(
        sheet.pieces, sheet.offsets, tokeniser, settings.head, limit=settings.fit.limit, whole=target is None
    )
    owner, text = inputs.places.owner, inputs.places.text
    tags = np.where(owner < 0, -1, sheet.tags[owner]) if len(sheet.tags) else np.full(len(owner), -1)
    target = csr_array((len(text), 0), dtype=np.float32) if target is None else target
    return Rows(inputs=inputs, target=target, weight=None if weight is None else weight[text], tags=tags)


def truth_of_tags(tags: np.ndarray, count: int) -> np.ndarray:
    """Ids (N,) -> bool (N, L); a row of False for an id below 0."""
    return tags[:, None] == np.arange(count)


def flat(column: pa.ChunkedArray) -> pa.Array:
    """All values of a column of lists, one after the other."""
    return whole(column).flatten()


def with_cut(settings: Settings, data: Data) -> Settings:
    """Settings that know how texts are cut into the tokens of the data, where these are tagged."""
    if data.task not in ("tokens", "both"):
        return settings
    way = way_of(flat(data.first["tokens"])) if settings.data.cut == "auto" else settings.data.cut
    cut([], way)  # one that is not there is refused now
    return replace(settings, data=replace(settings.data, task=data.task, cut=way))
