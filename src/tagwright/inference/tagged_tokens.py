"""Texts with a tag for each token, ready to be laid out: pieces of the tokens, and the tags'
ids.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tagwright.arrays import Bools, Ints
from tagwright.batches.token_windows import TagInputs
from tagwright.data import Data
from tagwright.data.find_columns import whole
from tagwright.inference.model import tag_inputs
from tagwright.labels.list_columns import offsets_of
from tagwright.labels.space import LabelSpace
from tagwright.settings.schema import Choice, Settings
from tagwright.tokenizers import Tokenizer
from tagwright.tokenizers.cut import cut, way_of
from tagwright.tokenizers.tokens import Tokens


class Sheet(NamedTuple):
    """Text i has the tokens offsets[i]:offsets[i + 1], token t the ids pieces.offsets[t]:[t +
    1].
    """

    pieces: Tokens
    offsets: Ints  # int64 (n + 1,)
    tags: Ints  # int64 (tokens,), -1 for one that the space does not have

    @property
    def tokens(self) -> Tokens:
        """All pieces of each text."""
        return Tokens(self.pieces.ids, self.pieces.offsets[self.offsets])


def sheet_of(table: pa.Table, tokenizer: Tokenizer, tags: Ints | None = None) -> Sheet:
    """The sheet of a table with `tokens`; without `tags` (tokens,) nothing is known of them."""
    words = flat(table["tokens"])
    tags = np.full(len(words), -1) if tags is None else tags
    return Sheet(tokenizer.encode_tokens(words), offsets_of(whole(table["tokens"])), tags)


def tags_of(table: pa.Table, space: LabelSpace) -> tuple[Ints, dict[str, int]]:
    """The ids of all tags, (tokens,), and the tags outside the space with their counts.

    Such a tag counts as "outside" where the space has one: nothing is known of it.
    """
    tags = _all_tags(table)
    ids = pc.index_in(tags, value_set=pa.array(space.names, tags.type))
    strange = pc.value_counts(tags.filter(pc.and_(pc.is_null(ids), pc.is_valid(tags))))
    unseen = dict(zip(strange.field("values").to_pylist(), strange.field("counts").to_pylist()))
    outside = space.index.get("O", -1)
    found = pc.fill_null(ids, outside).to_numpy(zero_copy_only=False).astype(np.int64)
    return np.where(pc.is_valid(tags).to_numpy(zero_copy_only=False), found, -1), unseen


def _all_tags(table: pa.Table) -> pa.Array:
    """A tag for every token, null in texts that have no tags."""
    tags = flat(table["tags"])
    if not table["tags"].null_count:
        return tags
    tagged = pc.is_valid(whole(table["tags"])).to_numpy(zero_copy_only=False)
    known = np.repeat(tagged, np.diff(offsets_of(whole(table["tokens"]))))
    places = np.where(known, np.cumsum(known) - 1, -1)
    return tags.take(pa.array(places, mask=places < 0))


def tag_space(table: pa.Table) -> LabelSpace:
    """The tags of a table, each token with exactly one."""
    tags = flat(table["tags"]).drop_null()
    singles = pa.ListArray.from_arrays(pa.array(np.arange(len(tags) + 1, dtype=np.int32)), tags)
    return LabelSpace.of(singles, exclusive=True)


def windows_of(
    sheet: Sheet, tokenizer: Tokenizer, part: Choice, *, limit: int, whole: bool
) -> TagInputs:
    """Texts as a tagger reads them, with the head `part`; not `whole`, each text is one row: its
    first window.
    """
    return tag_inputs(sheet.pieces, sheet.offsets, tokenizer, part, limit=limit, whole=whole)


def tags_at(tags: Ints, inputs: TagInputs) -> Ints:
    """The tag of the token that each position speaks for, -1 for none; `tags` (tokens,) are ids."""
    owner = inputs.places.owner
    return np.where(owner < 0, -1, tags[owner]) if len(tags) else np.full(len(owner), -1)


def truth_of_tags(tags: Ints, count: int) -> Bools:
    """Ids (N,) -> bool (N, L); a row of False for an id below 0."""
    return tags[:, None] == np.arange(count)


def flat(column: pa.ChunkedArray) -> pa.Array:
    """All values of a column of lists, one after the other."""
    return whole(column).flatten()


def with_cut(settings: Settings, data: Data) -> Settings:
    """Settings that know how texts are cut into the tokens of the data."""
    way = way_of(flat(data.first["tokens"])) if settings.data.cut == "auto" else settings.data.cut
    cut([], way)  # one that is not there is refused now
    return replace(settings, data=replace(settings.data, task=data.task, cut=way))
