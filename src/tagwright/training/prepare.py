"""From labelled data to what training takes: clean tables, label space, tokenizer, tokens."""

from collections.abc import Mapping, Sequence
from functools import reduce
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tagwright import registry
from tagwright.arrays import Bools, Numbers
from tagwright.data import Data
from tagwright.data.dataset import HeadColumns, of_head
from tagwright.data.keep_texts import keep
from tagwright.data.split import split
from tagwright.errors import DataError, SettingsError
from tagwright.inference.tagged_tokens import (
    Sheet,
    flat,
    sheet_of,
    tag_space,
    tags_of,
)
from tagwright.labels.space import LabelSpace
from tagwright.models.build import learn
from tagwright.models.word_vectors import read_vectors
from tagwright.settings.schema import Settings
from tagwright.tokenizers import Tokenizer
from tagwright.tokenizers.base import Embed
from tagwright.tokenizers.tokens import Tokens
from tagwright.training.prepared import MAIN, UNLABELLED, HeadData, Prepared

FEW = 50  # texts
NO_LABEL = "no label known"  # why a text is left out


def prepare(data: Data, settings: Settings) -> Prepared:
    """Split, clean, cut what is to be rare, learn labels and vocabulary from train, tokenize every
    text once.
    """
    choice = settings.split
    if data.task == "both" and not data.heads:
        raise DataError(
            f"{data.source} has labels of texts and tags of tokens, but names no heads for them"
        )
    if settings.heads.keys() != data.heads.keys():
        raise SettingsError(
            f"the settings name the heads {', '.join(settings.heads) or 'none'}, and {data.source}"
            f" was read for {', '.join(data.heads) or 'none'}; `tagwright fit` reads data by its"
            " settings"
        )
    whole = split(data, dev_share=choice.dev_share, test_share=choice.test_share, seed=choice.seed)
    dropped: dict[str, int] = {}
    tables = {name: _clean(whole.tables[name], dropped, _asked(data)) for name in ("train", "dev")}
    _require_rows(tables, data.source)
    if data.task in ("one", "many") and len(data.heads) < 2 and learns_unlabelled(settings):
        tables |= _unlabelled(whole.tables["train"], dropped)
    cut: tuple[str, ...] = ()
    if choice.keep:
        tables["train"], cut = keep(tables["train"], choice.keep, seed=choice.seed)
    columns = data.heads or {
        MAIN: HeadColumns(task=data.task, columns=data.label_columns, separator=data.separator)
    }
    heads: dict[str, HeadData] = {}
    sheets: dict[str, Sheet] = {}
    if data.task in ("tokens", "both"):
        tokenizer, sheets = _laid_out(tables, settings)
        tokens = {name: sheet.tokens for name, sheet in sheets.items()}
    else:
        tokenizer = _embed(settings).train(tables["train"]["text"], seed=choice.seed)
    warnings: tuple[str, ...] = ()
    for name, one in columns.items():
        heads[name], said = _head_data(tables, name, one, data.source, several=len(columns) > 1)
        warnings += said
    if not sheets:  # after heads: a text of dev whose only label is left out has gone
        tokens = {name: tokenizer.encode(table["text"]) for name, table in tables.items()}
    else:
        tags = next(head.tags for head in heads.values() if head.tags is not None)
        sheets = {name: sheet._replace(tags=tags[name]) for name, sheet in sheets.items()}
    warnings += _few("dev", tables["dev"].num_rows)
    _require_rows(tables, data.source)
    vectors, found = None, whole.found + cut + _taught(tables)
    if settings.fit.vectors:
        if not tokenizer.vocabulary:
            raise SettingsError(
                f"word vectors need a vocabulary, and {settings.embed.name} has none; take --set"
                " embed.name=word"
            )
        vectors, count = read_vectors(
            Path(settings.fit.vectors), tokenizer.vocabulary, seed=settings.split.seed
        )
        found += (f"vectors: {count} of {len(vectors)} words are in {settings.fit.vectors}",)
    learned = learn(settings, tokens["train"], tokenizer)
    return Prepared(
        tables=tables,
        heads=heads,
        tokenizer=tokenizer,
        tokens=tokens,
        learned=learned,
        vectors=vectors,
        found=found + (() if sheets else _too_long(tokens["train"], learned, settings)),
        dropped=dropped,
        warnings=warnings,
        source=data.source,
        sheets=sheets,
    )


def _head_data(
    tables: dict[str, pa.Table], name: str, columns: HeadColumns, source: str, *, several: bool
) -> tuple[HeadData, tuple[str, ...]]:
    """What is known of a head, and sentences on labels of dev that train does not have.

    A text of dev whose only label is left out goes where there is one head: it has none to be right
    about.
    """
    own = {one: of_head(table, name) for one, table in tables.items()}
    of_whom = f" of {name}" if several else ""
    kind = "tags" if columns.task == "tokens" else "labels"
    for one in ("train", "dev") if several else ():
        _require_answers(own[one], kind, f"{source} has no text of {one} with {kind} of {name}")
    if columns.task == "tokens":
        space = tag_space(own["train"])
        made = {one: tags_of(table, space) for one, table in own.items()}
        outside = "they count as O" if "O" in space.index else "no answer is right there"
        tags = {one: ids for one, (ids, _) in made.items()}
        head = HeadData(space=space, examples=int((tags["train"] >= 0).sum()), tags=tags)
        return head, _unseen("dev", f"tags{of_whom}", made["dev"][1], outside)
    exclusive = columns.task == "one"
    labels = own["train"]["labels"]
    space = LabelSpace.of(labels, exclusive=exclusive)
    seen = space.encode(own["dev"]["labels"])
    if exclusive and several:
        _forget(tables, "dev", name, np.diff(seen.offsets) == 0)
        told = f"no text of {source}'s dev has {kind} of {name} that train has, too"
        _require_answers(of_head(tables["dev"], name), kind, told)
    elif exclusive:
        tables["dev"] = tables["dev"].filter(pa.array(np.diff(seen.offsets) > 0))
    head = HeadData(space=space, examples=len(labels) - labels.null_count)
    return head, _unseen("dev", f"labels{of_whom}", seen.unseen, "they are left out")


def _require_answers(table: pa.Table, kind: str, told: str) -> None:
    if table[kind].null_count == table.num_rows:
        raise DataError(f"{told}; it has nothing to learn or choose by")


def _forget(tables: dict[str, pa.Table], one: str, head: str, rows: Bools) -> None:
    """Make `rows` (n,) of a table unlabelled for a head: none of their labels is known."""
    table = tables[one]
    own = f"labels/{head}"  # "labels" are those of all heads where each has its own
    name = own if own in table.column_names else "labels"
    place = table.column_names.index(name)
    tables[one] = table.set_column(place, name, pc.if_else(pa.array(rows), None, table[name]))


def _laid_out(
    tables: Mapping[str, pa.Table], settings: Settings
) -> tuple[Tokenizer, dict[str, Sheet]]:
    """Texts that come as tokens: a tokenizer learnt from those of train, and the pieces of all."""
    tokenizer = _embed(settings).train_tokens(
        flat(tables["train"]["tokens"]), seed=settings.split.seed
    )
    return tokenizer, {name: sheet_of(table, tokenizer) for name, table in tables.items()}


def _embed(settings: Settings) -> Embed:
    return registry.build(
        registry.TOKENIZERS, settings.embed.name, settings.embed.options, source=source_of(settings)
    )


def source_of(settings: Settings) -> str | None:
    """Where a pretrained encoder comes from, whose own tokens it must have; None for others."""
    factory = registry.find(registry.ENCODERS, settings.encoder.name).factory
    own = factory.embed
    if own is None:
        return None
    if settings.embed.name != own:
        raise SettingsError(
            f"{settings.encoder.name} reads the tokens it was trained with; leave embed.name at"
            f" {own}, got {settings.embed.name}"
        )
    return str({**registry.options(factory), **settings.encoder.options}["path"])


def _too_long(
    tokens: Tokens, learned: Mapping[str, Numbers], settings: Settings
) -> tuple[str, ...]:
    """A sentence on the texts that the encoder cannot read whole, if it tells of them."""
    encoder = registry.find(registry.ENCODERS, settings.encoder.name).factory
    sentence = encoder.said(tokens, learned, limit=settings.fit.limit, **settings.encoder.options)
    return (sentence,) if sentence else ()


def learns_unlabelled(settings: Settings) -> bool:
    """Whether texts without labels are learnt from: a teacher says all that is learnt of a text,
    and nothing else asks for its labels (what slots show, what a text weighs by its gold label)."""
    alone = (
        settings.targets.name == "distil"
        and settings.soft.role == "replace"
        and settings.soft.from_step == 0
    )
    by_gold = (
        settings.weights.name != "none"
        and registry.find(registry.WEIGHTS, settings.weights.name).factory.exclusive
    )
    return (
        alone
        and not registry.find(registry.HEADS, settings.head.name).factory.has_slots
        and not by_gold
    )


def _asked(data: Data) -> list[str]:
    """The columns that hold what is to be learnt: a row without any is left out."""
    if not data.heads:
        return ["tags" if data.task == "tokens" else "labels"]
    plain = {name: "tags" if one.task == "tokens" else "labels" for name, one in data.heads.items()}
    there = data.first.column_names
    return [
        f"{column}/{name}" if f"{column}/{name}" in there else column
        for name, column in plain.items()
    ]


def _clean(table: pa.Table, dropped: dict[str, int], asked: Sequence[str]) -> pa.Table:
    empty = _empty(table)
    unlabelled = reduce(pc.and_, (pc.is_null(table[column]) for column in asked))
    unknown = "no tags" if list(asked) == ["tags"] else NO_LABEL
    for reason, hit in {"empty text": empty, unknown: unlabelled}.items():
        count = pc.sum(hit).as_py() or 0
        if count:
            dropped[reason] = dropped.get(reason, 0) + count
    return table.filter(pc.invert(pc.or_(empty, unlabelled)))


def _empty(table: pa.Table) -> pa.ChunkedArray:
    return pc.equal(pc.utf8_length(pc.utf8_trim_whitespace(pc.fill_null(table["text"], ""))), 0)


def _unlabelled(table: pa.Table, dropped: dict[str, int]) -> dict[str, pa.Table]:
    """The texts without labels, by the name of their table, where there are some; they are no
    longer `dropped`.
    """
    found = table.filter(pc.and_(pc.is_null(table["labels"]), pc.invert(_empty(table))))
    if not found.num_rows:
        return {}
    dropped[NO_LABEL] -= found.num_rows
    if not dropped[NO_LABEL]:
        del dropped[NO_LABEL]
    return {UNLABELLED: found}


def _taught(tables: Mapping[str, pa.Table]) -> tuple[str, ...]:
    """A sentence on the texts that a teacher alone says something of."""
    rows = tables[UNLABELLED].num_rows if UNLABELLED in tables else 0
    words = "1 text without labels learns" if rows == 1 else f"{rows:,} texts without labels learn"
    return (f"{words} from the teacher alone",) if rows else ()


def _require_rows(tables: dict[str, pa.Table], source: str) -> None:
    for name, purpose in {"train": "learn from", "dev": "choose by"}.items():
        if not tables[name].num_rows:
            raise DataError(f"{source} has no labelled text to {purpose}")


def _unseen(name: str, what: str, unseen: dict[str, int], done: str) -> tuple[str, ...]:
    return (
        (f"{name} has {what} that train has never seen; {done}: {listed(unseen)}",)
        if unseen
        else ()
    )


def _few(name: str, rows: int) -> tuple[str, ...]:
    return (f"{name} has {rows} texts; figures from so few say little",) if rows < FEW else ()


def listed(counts: Mapping[str, int], *, most: int = 5) -> str:
    """Labels with their counts, the most frequent first.

    >>> listed({"a": 1, "b": 3, "c": 2}, most=2)
    'b (3), c (2) and 1 more'
    """
    shown = ", ".join(
        f"{label} ({count})" for label, count in sorted(counts.items(), key=lambda p: -p[1])[:most]
    )
    return shown + (f" and {len(counts) - most} more" if len(counts) > most else "")
