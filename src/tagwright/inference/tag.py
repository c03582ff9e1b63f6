"""Tagging any amount of text: a stream in, shards out, joined at the end; a killed run goes on at
its last shard.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypedDict

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch

from tagwright.arrays import Bools
from tagwright.data.find_columns import TOKENS, plain
from tagwright.data.stream import columns_of, stream, texts_of
from tagwright.errors import SettingsError
from tagwright.inference import write_tables
from tagwright.inference._shards import is_joined, joining, shards_of, stamp
from tagwright.inference.model import Model, Scores, TrainedHead
from tagwright.inference.spans import FACETS, KEYWORD, facets, find_spans, given_tokens, keywords_of
from tagwright.labels.shortlist import ShortScores
from tagwright.storage.files import replaced, write_json
from tagwright.tokenizers.cut import Cut, cut

BATCH = 8192
SHARD = 16  # batches


class Tagged(NamedTuple):
    """How a run of `tag` ended."""

    rows: int
    without: int  # rows that got no tag
    empty: int  # rows without text: kept in place, without tags


class TagOptions(TypedDict, total=False):
    """What may be set of a run of `tag`."""

    text: str | None
    column: str | None
    separator: str
    inert: bool
    resume: bool
    overwrite: bool
    progress: Callable[[int], None]


class Layout(NamedTuple):
    """How texts are read and tags are written."""

    text: str | None  # the column of the texts
    columns: Mapping[str, str]  # of each head's answers
    separator: str | None  # of several tags in a cell; None where there are lists
    inert: bool


def tag(
    model: Model,
    source: Path,
    out: Path,
    *,
    text: str | None = None,
    column: str | None = None,
    separator: str = ";",
    inert: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    progress: Callable[[int], None] = lambda rows: None,
    identity: str | None = None,
) -> Tagged:
    """Write every row of `source` with all its columns, its tags and their scores to `out`, in
    constant memory.

    The new `column` is called tags, or keywords where the model tags tokens; of several heads of a
    kind each has its own, with the head's name behind.
    """
    columns = columns_of_heads(model, column)
    if out.is_dir():
        raise SettingsError(f"{out} is a folder; name a file in --out")
    writer = write_tables.writer(out)
    layout = Layout(text, columns, separator if writer.flat else None, inert)
    _check(model, column, layout.separator)
    # a mistake shows before anything is written; a header without rows gives the same
    first = next(stream(source, batch_rows=1), None) or pa.RecordBatch.from_pylist(
        [], schema=columns_of(source)
    )
    _tagged(model, first, source, layout)
    about = {
        "source": str(source),
        **stamp(source),
        **layout._asdict(),
        "model": identity or _identity(model),
    }
    with shards_of(out, about, resume=resume, overwrite=overwrite) as shards:
        counts = _finished(shards)
        progress(sum(tally.rows for tally in counts))
        if is_joined(out, shards):  # a kill came before the shards were removed
            return _total(counts)
        batches = (
            iter([first])
            if not first.num_rows
            else stream(source, batch_rows=BATCH, skip=sum(c.rows for c in counts))
        )
        for number, group in enumerate(_grouped(batches, SHARD), start=len(counts)):
            tables, tally = [], Tagged(0, 0, 0)
            for batch in group:
                table, part = _tagged(model, batch, source, layout)
                tables.append(table)
                tally = Tagged(*(a + b for a, b in zip(tally, part)))
                progress(part.rows)
            with replaced(shards / f"shard-{number:06d}.data") as aside:
                writer.write(pa.concat_tables(tables), aside, header=number == 0)
            # the count comes last: a shard without it is written again
            write_json(shards / f"shard-{number:06d}.json", tally._asdict())
            counts.append(tally)
        with joining(out, shards) as aside:
            writer.join(
                [shards / f"shard-{number:06d}.data" for number in range(len(counts))], aside
            )
    return _total(counts)


def columns_of_heads(model: Model, column: str | None = None) -> dict[str, str]:
    """The column of each head's answers. A `column` that is given is for labels, or else for
    keywords.
    """
    tagging = [name for name, head in model.heads.items() if head.tags_tokens]
    labelling = [name for name in model.heads if name not in tagging]
    words = "tags" if column is None else column
    keywords = "keywords" if column is None or labelling else column
    found = {name: words if len(labelling) == 1 else f"{words}_{name}" for name in labelling}
    found |= {name: keywords if len(tagging) == 1 else f"{keywords}_{name}" for name in tagging}
    facets = {name: FACETS if name in tagging else ("scores",) for name in found}
    every = [
        column
        for name, own in found.items()
        for column in (own, *(f"{own}_{facet}" for facet in facets[name]))
    ]
    twice = next((column for column in every if every.count(column) > 1), None)
    if twice is not None:
        raise SettingsError(
            f"two heads would write the column {twice!r}; name them one by one with --head"
        )
    return {name: found[name] for name in model.heads}


def _check(model: Model, column: str | None, separator: str | None) -> None:
    """Refuse what could not be read back."""
    for option, value in (("column", column), ("separator", separator)):
        if value == "":
            raise SettingsError(f"--{option} is empty")
    for head in model.heads.values():
        if head.tags_tokens and separator is not None and set(separator) & set("0123456789.-"):
            raise SettingsError(
                f"the separator {separator!r} stands in numbers, which go with keywords; choose"
                " another"
            )
        names = () if head.tags_tokens or head.space.exclusive else head.space.names
        holding = next(
            (name for name in names if separator is not None and separator in name), None
        )
        if holding is not None:
            raise SettingsError(
                f"the label {holding!r} contains the separator {separator!r}; choose another"
                " --separator"
            )


def _finished(shards: Path) -> list[Tagged]:
    """The tallies of the shards that are whole, up to the first that is not."""
    tallies = []
    for path in sorted(shards.glob("shard-*.json")):
        try:
            tallies.append(Tagged(**json.loads(path.read_text("utf-8"))))
        except (ValueError, TypeError):
            break
    return tallies


def _total(counts: Sequence[Tagged]) -> Tagged:
    return Tagged(*(sum(column) for column in zip(*counts)))


def _identity(model: Model) -> str:
    """A digest of the weights and the decision of a model that came from no folder."""
    decisions = {name: vars(head.decision) for name, head in model.heads.items()}
    digest = hashlib.sha256(repr(decisions).encode())
    for name, tensor in model.network.state_dict().items():
        digest.update(name.encode() + tensor.cpu().flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def _grouped(batches: Iterator[pa.RecordBatch], size: int) -> Iterator[list[pa.RecordBatch]]:
    while group := list(islice(batches, size)):
        yield group


class _Texts(NamedTuple):
    """Texts of a batch, and their tokens where the model tags these."""

    texts: pa.ChunkedArray | pa.Array
    tokens: Cut | None

    @property
    def empty(self) -> Bools:
        """Which texts have nothing but white space, (n,)."""
        bare = pc.utf8_trim_whitespace(pc.fill_null(self.texts, ""))
        return np.asarray(pc.equal(pc.utf8_length(bare), 0).to_numpy(zero_copy_only=False))


def _tagged(
    model: Model, batch: pa.RecordBatch, source: Path, layout: Layout
) -> tuple[pa.Table, Tagged]:
    table = pa.Table.from_batches([batch])
    texts = _texts(model, table, source, layout.text)
    made = _of_heads(model, texts, layout)
    columns = {name: values for head in model.heads for name, values in made[head].columns.items()}
    empty, tagged = texts.empty, np.any([head.tagged for head in made.values()], axis=0)
    tally = Tagged(len(empty), int((empty | ~tagged).sum()), int(empty.sum()))
    taken = set(columns) & set(table.column_names)
    if taken:
        raise SettingsError(
            f"the input has a column {sorted(taken)[0]!r} already; name the new one with --column"
        )
    table = table if layout.separator is None else write_tables.flat(table, layout.separator)
    for name, values in columns.items():
        table = table.append_column(name, values)
    return write_tables.inert(table) if layout.inert else table, tally


def _texts(model: Model, table: pa.Table, source: Path, text: str | None) -> _Texts:
    """The texts; a tagger's come with their tokens, from a column of these or cut as it has
    learnt.
    """
    if not model.cuts_texts:
        return _Texts(texts_of(table, source, text), None)
    wanted = TOKENS if text is None else (text,)
    tokens = next(
        (n for n in wanted if n in table.column_names and pa.types.is_list(plain(table[n]).type)),
        None,
    )
    if tokens is not None:
        return _Texts(*given_tokens(table[tokens]))
    texts = texts_of(table, source, text)
    return _Texts(texts, cut(texts, model.inference.data.cut))


class _Made(NamedTuple):
    """What one head says of the texts: its new columns, and which texts got anything, bool (n,)."""

    columns: dict[str, pa.Array]
    tagged: Bools


def _of_heads(model: Model, given: _Texts, layout: Layout) -> dict[str, _Made]:
    """Every head's; those of whole texts in one pass."""
    tagging = [name for name, head in model.heads.items() if head.tags_tokens]
    labelling = [name for name in model.heads if name not in tagging]
    scores = model.all_scores(given.texts, labelling, tokens=given.tokens) if labelling else {}
    made = {
        name: _labels(model.heads[name], one, given, name, layout) for name, one in scores.items()
    }
    return made | {name: _keywords(model.alone(name), given, name, layout) for name in tagging}


def _labels(
    head: TrainedHead,
    scores: Scores | ShortScores,
    given: _Texts,
    name: str,
    layout: Layout,
) -> _Made:
    """The labels of every text and their scores, as lists, or joined for a file without lists."""
    column, separator = layout.columns[name], layout.separator
    names, values = _lists(head.space.names, scores, ~given.empty)
    if separator is not None:
        names = pc.binary_join(names, separator)
        values = pc.binary_join(values.cast(pa.list_(pa.string())), separator)
    return _Made({column: names, f"{column}_scores": values}, np.asarray(scores.chosen.any(1)))


def _keywords(model: Model, given: _Texts, name: str, layout: Layout) -> _Made:
    """The keywords of every text: as structures, or in a file without lists a column for each of
    their facets.
    """
    column, separator = layout.columns[name], layout.separator
    tokens = (
        given.tokens if given.tokens is not None else cut(given.texts, model.inference.data.cut)
    )
    found = keywords_of(find_spans(model, tokens), [text or "" for text in given.texts.to_pylist()])
    tagged = np.array([bool(row) for row in found])
    if separator is None:
        return _Made({column: pa.array(found, pa.list_(KEYWORD))}, tagged)
    cells = [facets(row, separator) for row in found]
    names = {"text": column, **{facet: f"{column}_{facet}" for facet in FACETS}}
    columns = {
        made: pa.array([one[facet] for one in cells], pa.string()) for facet, made in names.items()
    }
    return _Made(columns, tagged)


def _lists(
    names: Sequence[str], scores: Scores | ShortScores, kept: Bools
) -> tuple[pa.Array, pa.Array]:
    """Names and probabilities of the labels chosen for the `kept` texts (n,), the likeliest first,
    as lists.
    """
    rows, columns, values = scores.cells(kept)
    order = np.lexsort((columns, -values, rows))
    offsets = pa.array(np.searchsorted(rows, np.arange(len(kept) + 1)), pa.int32())
    words = pa.array([names[column] for column in columns[order].tolist()], pa.string())
    rounded = pa.array(np.round(values[order].astype(np.float64), 4))
    return pa.ListArray.from_arrays(offsets, words), pa.ListArray.from_arrays(offsets, rounded)
