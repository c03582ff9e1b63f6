"""From labelled data to what training takes: clean tables, label space, tokenizer, tokens."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_array

from tagwright import registry
from tagwright.batches.inputs import Inputs
from tagwright.batches.places import TagInputs
from tagwright.batches.rows import HeadRows, Rows
from tagwright.data import Data
from tagwright.data.dataset import HeadColumns, of_head
from tagwright.data.keep import keep
from tagwright.data.split import split
from tagwright.errors import DataError, SettingsError
from tagwright.inference.model import inputs_of
from tagwright.inference.tagged_tokens import (
    Sheet,
    flat,
    sheet_of,
    tag_space,
    tags_at,
    tags_of,
    windows_of,
)
from tagwright.labels.space import LabelSpace
from tagwright.models.build import learn
from tagwright.models.network import Network
from tagwright.models.word_vectors import read_vectors
from tagwright.settings.named_files import file_digests
from tagwright.settings.schema import Settings
from tagwright.targets.distil import Teacher, nobody
from tagwright.targets.hard import hard
from tagwright.tokenizers import Tokenizer
from tagwright.tokenizers.tokens import Tokens

MAIN = "main"  # the head of a run with one
FEW = 50  # texts
NO_LABEL = "no label known"  # why a text is left out
UNLABELLED = "unlabelled"  # the table of train's texts without labels
LEARNT_FROM = {"text", "labels", "values", "unknown", "weight", "tokens", "tags"}


@dataclass(frozen=True, kw_only=True)
class HeadData:
    """What is known of one head before training: its labels, and how many examples of train they
    are counted among.

    A head that tags tokens has the ids of all tags of each table, where the others have texts.
    """

    space: LabelSpace
    examples: int
    tags: Mapping[str, np.ndarray] | None = None

    @property
    def tags_tokens(self) -> bool:
        """Whether its labels are tags of tokens."""
        return self.tags is not None


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """Everything about the data that training asks for; the same for every objective and seed."""

    # train and dev, without empty texts and unlabelled rows; these where they are learnt from
    tables: dict[str, pa.Table]
    heads: Mapping[str, HeadData]
    tokenizer: Tokenizer
    tokens: dict[str, Tokens]
    learned: dict[str, np.ndarray]
    vectors: np.ndarray | None
    found: tuple[str, ...]
    dropped: dict[str, int]
    warnings: tuple[str, ...]
    source: str
    # of the same tables, where texts come as tokens
    sheets: Mapping[str, Sheet] = field(default_factory=dict)

    @property
    def first(self) -> str:
        """The name of the first head."""
        return next(iter(self.heads))

    @property
    def space(self) -> LabelSpace:
        """The labels of the first head."""
        return self.heads[self.first].space

    @property
    def tagged(self) -> bool:
        """Whether the first head tags tokens."""
        return self.heads[self.first].tags_tokens

    @property
    def token_count(self) -> int:
        """Tokens of train."""
        return len(self.sheets["train"].tags) if self.sheets else 0

    @property
    def counted(self) -> int:
        """What the rows of train count in a mean: texts, or the tokens that have a tag where every
        head tags tokens.
        """
        if not self.only_tokens:
            return self.tables["train"].num_rows
        tags = [head.tags["train"] >= 0 for head in self.heads.values() if head.tags is not None]
        return int(np.any(tags, axis=0).sum())

    @property
    def only_tokens(self) -> bool:
        """Whether every head tags tokens, so that texts are read in windows from end to end."""
        return all(head.tags_tokens for head in self.heads.values())

    def alone(self, name: str) -> "Prepared":
        """The same for one head, as if no other were learnt; texts on which it has no label
        stay.
        """
        head = self.heads[name]
        if len(self.heads) == 1:
            return self
        tables = {one: of_head(table, name) for one, table in self.tables.items()}
        sheets = self.sheets
        if head.tags is not None:
            sheets = {one: sheet._replace(tags=head.tags[one]) for one, sheet in sheets.items()}
        return replace(self, tables=tables, heads={name: head}, sheets=sheets)

    def answered(self, name: str) -> "Prepared":
        """The same for one head, with those texts of train and dev alone that have an answer for
        it.
        """
        made = self.alone(name)
        for part in ("train", "dev"):
            made = made._answered(part, "tags" if made.tagged else "labels")
        return made

    def _answered(self, part: str, kind: str) -> "Prepared":
        table = self.tables[part]
        if not table[kind].null_count:
            return self
        known = pc.is_valid(table[kind])
        table, sheets = table.filter(known), self.sheets
        if sheets:
            whole = sheets[part]
            kept = np.repeat(known.to_numpy(zero_copy_only=False), np.diff(whole.offsets))
            sheets = {**sheets, part: sheet_of(table, self.tokenizer, whole.tags[kept])}
        tokens = sheets[part].tokens if sheets else self.tokenizer.encode(table["text"])
        return replace(
            self,
            tables={**self.tables, part: table},
            sheets=sheets,
            tokens={**self.tokens, part: tokens},
        )

    def rows(self, name: str, network: Network, settings: Settings) -> Rows:
        """The rows of a table, with the labels as given."""
        table, weight = self.tables[name], None
        if "weight" in table.column_names:
            weight = pc.fill_null(table["weight"], 1.0).to_numpy().astype(np.float32)
            weight = weight / weight.mean()
        inputs = self._inputs(name, network, settings)
        if weight is not None and isinstance(inputs, TagInputs):
            weight = weight[inputs.places.text]
        heads = {head: self._answers(name, head, settings.of(head), inputs) for head in self.heads}
        return Rows(inputs=inputs, heads=heads, weight=weight)

    def _inputs(self, name: str, network: Network, settings: Settings) -> Inputs:
        limit = settings.fit.limit
        if not self.sheets:
            return inputs_of(network, self.tokens[name], limit=limit)
        part = settings.of(self.first).head
        return windows_of(
            self.sheets[name], self.tokenizer, part, limit=limit, whole=self.only_tokens
        )

    def _answers(self, name: str, head: str, own: Settings, inputs: Inputs) -> HeadRows:
        """What one head learns of the rows of a table."""
        data, table = self.heads[head], of_head(self.tables[name], head)
        if data.tags is not None and isinstance(inputs, TagInputs):
            nothing = csr_array((len(inputs.lengths), 0), dtype=np.float32)
            return HeadRows(target=nothing, tags=tags_at(data.tags[name], inputs))
        space, unknown = data.space, None
        if "unknown" in table.column_names:
            unknown = space.encode(table["unknown"]).matrix(len(space))
        labelled = pc.is_valid(table["labels"]).to_numpy(zero_copy_only=False)
        if not labelled.all() and registry.find("heads", own.head.name).factory.has_slots:
            everything = csr_array(np.repeat(~labelled[:, None], len(space), 1).astype(np.float32))
            unknown = everything if unknown is None else csr_array(unknown + everything)
        sparse = bool(own.head.options.get("chunk", 0))
        told = None if labelled.all() or name == UNLABELLED else labelled
        return HeadRows(target=hard(table, space), unknown=unknown, sparse=sparse, labelled=told)

    def soft_labels(
        self, names: Sequence[str], settings: Settings, *, teacher: Teacher = nobody
    ) -> np.ndarray | csr_array | None:
        """The soft labels of a single head that its settings name, made of these tables alone; None
        for hard ones.

        `teacher` scores these rows, and is asked only by targets that want it.
        """
        if settings.targets.name == "hard":
            return None
        columns = [
            name
            for name in ("labels", "values")
            if all(name in self.tables[one].column_names for one in names)
        ]
        table = pa.concat_tables([self.tables[name].select(columns) for name in names])
        tokens = reduce(Tokens.joined, map(self.words, names))
        facts = {"table": table, "space": self.space, "tokens": tokens, "teacher": teacher}
        made: np.ndarray | csr_array = registry.build(
            "targets", settings.targets.name, settings.targets.options, **facts
        )
        return made

    def fingerprint(self, settings: Settings) -> str:
        """A digest of the data and of every setting that moves the result."""
        plain = settings.as_dict()
        plain["fit"] = {
            k: v for k, v in plain["fit"].items() if k not in ("device", "save_seconds")
        }
        return hashlib.sha256(
            f"{plain!r} {file_digests(settings)} {self.data_digest}".encode()
        ).hexdigest()

    def words(self, name: str) -> Tokens:
        """The first channel of a table's tokens, with 0 in place of what stands for no word."""
        words, marks = self.tokens[name].words, self.tokenizer.marks
        return Tokens(
            np.where(np.isin(words, marks), 0, words) if marks else words, self.tokens[name].offsets
        )

    @cached_property
    def data_digest(self) -> str:
        """Of every table. Asked for by every run of a comparison, and made once."""
        return " ".join(
            f"{name} {table_digest(table)}" for name, table in sorted(self.tables.items())
        )


def table_digest(table: pa.Table) -> str:
    """A digest of what is learnt from or scored by, in hexadecimal."""
    digest = hashlib.sha256()
    for column in sorted(
        name for name in table.column_names if name.partition("/")[0] in LEARNT_FROM
    ):
        sink = pa.BufferOutputStream()
        part = table.select([column]).combine_chunks()
        with pa.ipc.new_stream(sink, part.schema) as writer:
            writer.write_table(part)
        digest.update(sink.getvalue())
    return digest.hexdigest()


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


def _forget(tables: dict[str, pa.Table], one: str, head: str, rows: np.ndarray) -> None:
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
    tokenizer: Tokenizer = _embed(settings).train_tokens(
        flat(tables["train"]["tokens"]), seed=settings.split.seed
    )
    return tokenizer, {name: sheet_of(table, tokenizer) for name, table in tables.items()}


def _embed(settings: Settings) -> Any:
    return registry.build(
        "tokenizers", settings.embed.name, settings.embed.options, source=source_of(settings)
    )


def source_of(settings: Settings) -> str | None:
    """Where a pretrained encoder comes from, whose own tokens it must have; None for others."""
    factory = registry.find("encoders", settings.encoder.name).factory
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
    tokens: Tokens, learned: Mapping[str, np.ndarray], settings: Settings
) -> tuple[str, ...]:
    """A sentence on the texts that the encoder cannot read whole, if it tells of them."""
    encoder = registry.find("encoders", settings.encoder.name).factory
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
        and registry.find("weights", settings.weights.name).factory.exclusive
    )
    return (
        alone and not registry.find("heads", settings.head.name).factory.has_slots and not by_gold
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
