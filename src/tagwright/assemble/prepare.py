"""From labelled data to what training takes: clean tables, label space, tokeniser, tokens."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import add
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tagwright import parts
from tagwright.assemble.named_files import file_digests
from tagwright.assemble.network import learn
from tagwright.assemble.sheets import Sheet, flat, sheet_of, tag_rows, tag_space
from tagwright.batches.rows import Rows
from tagwright.batches.tokens import Tokens
from tagwright.embed import Tokeniser
from tagwright.embed.vectors import read_vectors
from tagwright.errors import DataError, SettingsError
from tagwright.labels.space import LabelSpace
from tagwright.model import inputs_of
from tagwright.network import Network
from tagwright.read import Data
from tagwright.read.keep import keep
from tagwright.read.split import split
from tagwright.settings import Settings
from tagwright.targets.distil import Teacher, nobody
from tagwright.targets.hard import hard

FEW = 50  # texts
NO_LABEL = "no label known"  # why a text is left out
UNLABELLED = "unlabelled"  # the table of train's texts without labels
LEARNT_FROM = {"text", "labels", "values", "unknown", "weight", "tokens", "tags"}


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """Everything about the data that training asks for; the same for every objective and seed."""

    tables: dict[
        str, pa.Table
    ]  # train and dev, without empty texts and unlabelled rows; these where they are learnt from
    space: LabelSpace
    tokeniser: Tokeniser
    tokens: dict[str, Tokens]
    learned: dict[str, np.ndarray]
    vectors: np.ndarray | None
    found: tuple[str, ...]
    dropped: dict[str, int]
    warnings: tuple[str, ...]
    source: str
    sheets: Mapping[str, Sheet] = field(default_factory=dict)  # of the same tables, where tokens are tagged
    tag_space: LabelSpace | None = None  # of the sheets' tags, where `space` are labels of whole texts

    @property
    def tagged(self) -> bool:
        """Whether tokens are tagged and nothing else: `space` are the tags."""
        return bool(self.sheets) and self.tag_space is None

    @property
    def token_count(self) -> int:
        """Tokens of train."""
        return len(self.sheets["train"].tags) if self.sheets else 0

    @property
    def example_count(self) -> int:
        """What labels are counted among in train: its texts, or its tokens where only these are tagged."""
        return self.token_count if self.tagged else self.tables["train"].num_rows

    def rows(self, name: str, network: Network, settings: Settings) -> Rows:
        """The rows of a table, with the labels as given."""
        table = self.tables[name]
        unknown, weight = None, None
        if "weight" in table.column_names:
            weight = pc.fill_null(table["weight"], 1.0).to_numpy().astype(np.float32)
            weight = weight / weight.mean()
        if self.tagged:
            return tag_rows(self.sheets[name], self.tokeniser, settings, weight=weight)
        target = hard(table, self.space)
        if "unknown" in table.column_names:
            unknown = self.space.encode(table["unknown"]).matrix(len(self.space))
        if self.sheets:
            made = tag_rows(self.sheets[name], self.tokeniser, settings, weight=weight, target=target)
            return replace(made, unknown=unknown)
        inputs = inputs_of(network, self.tokens[name], limit=settings.fit.limit)
        sparse = bool(settings.head.options.get("chunk", 0))
        return Rows(inputs=inputs, target=target, unknown=unknown, weight=weight, sparse=sparse)

    def training_rows(
        self, names: Sequence[str], network: Network, settings: Settings, *, teacher: Teacher = nobody
    ) -> Rows:
        """The rows of some tables to learn from, with the soft labels that the settings name, made of them alone.

        `teacher` scores these rows, and is asked only by targets that want it.
        """
        whole = reduce(add, (self.rows(name, network, settings) for name in names))
        if settings.targets.name == "hard":
            return whole
        columns = [name for name in ("labels", "values") if all(name in self.tables[one].column_names for one in names)]
        table = pa.concat_tables([self.tables[name].select(columns) for name in names])
        tokens = reduce(Tokens.joined, map(self.words, names))
        facts = {"table": table, "space": self.space, "tokens": tokens, "teacher": teacher}
        return replace(whole, soft=parts.build("targets", settings.targets.name, settings.targets.options, **facts))

    def fingerprint(self, settings: Settings) -> str:
        """A digest of the data and of every setting that moves the result."""
        plain = settings.as_dict()
        plain["fit"] = {k: v for k, v in plain["fit"].items() if k not in ("device", "save_seconds")}
        return hashlib.sha256(f"{plain!r} {file_digests(settings)} {self.data_digest}".encode()).hexdigest()

    def words(self, name: str) -> Tokens:
        """The first channel of a table's tokens, with 0 in place of what stands for no word."""
        words, marks = self.tokens[name].words, self.tokeniser.marks
        return Tokens(np.where(np.isin(words, marks), 0, words) if marks else words, self.tokens[name].offsets)

    @cached_property
    def data_digest(self) -> str:
        """Of every table. Asked for by every run of a comparison, and made once."""
        return " ".join(f"{name} {table_digest(table)}" for name, table in sorted(self.tables.items()))


def table_digest(table: pa.Table) -> str:
    """A digest of what is learnt from or scored by, in hexadecimal."""
    digest = hashlib.sha256()
    for column in sorted(set(table.column_names) & LEARNT_FROM):
        sink = pa.BufferOutputStream()
        part = table.select([column]).combine_chunks()
        with pa.ipc.new_stream(sink, part.schema) as writer:
            writer.write_table(part)
        digest.update(sink.getvalue())
    return digest.hexdigest()


def prepare(data: Data, settings: Settings) -> Prepared:
    """Split, clean, cut what is to be rare, learn labels and vocabulary from train, tokenise every text once."""
    choice = settings.split
    whole = split(data, dev_share=choice.dev_share, test_share=choice.test_share, seed=choice.seed)
    dropped: dict[str, int] = {}
    tagged = data.task == "tokens"  # and nothing else
    tables = {name: _clean(whole.tables[name], dropped, tagged=tagged) for name in ("train", "dev")}
    _require_rows(tables, data.source)
    if data.task in ("one", "many") and learns_unlabelled(settings):
        tables |= _unlabelled(whole.tables["train"], dropped)
    tables["train"], cut = keep(tables["train"], choice.keep, seed=choice.seed)
    if data.task in ("tokens", "both"):
        known = _tags(tables, settings, labelled=not tagged)
    else:
        known = _labels(tables, settings, exclusive=data.task == "one")
    space, tokeniser, tokens, sheets, warnings, beside = known
    warnings += _few("dev", tables["dev"].num_rows)
    _require_rows(tables, data.source)
    vectors, found = None, whole.found + cut + _taught(tables)
    if settings.fit.vectors:
        if not tokeniser.vocabulary:
            raise SettingsError(
                f"word vectors need a vocabulary, and {settings.embed.name} has none; take --set embed.name=word"
            )
        vectors, count = read_vectors(Path(settings.fit.vectors), tokeniser.vocabulary, seed=settings.split.seed)
        found += (f"vectors: {count} of {len(vectors)} words are in {settings.fit.vectors}",)
    learned = learn(settings, tokens["train"], tokeniser)
    return Prepared(
        tables=tables,
        space=space,
        tokeniser=tokeniser,
        tokens=tokens,
        learned=learned,
        vectors=vectors,
        found=found + (() if sheets else _too_long(tokens["train"], learned, settings)),
        dropped=dropped,
        warnings=warnings,
        source=data.source,
        sheets=sheets,
        tag_space=beside,
    )


class _Known(NamedTuple):
    """What is learnt of the tables before anything is trained."""

    space: LabelSpace
    tokeniser: Tokeniser
    tokens: dict[str, Tokens]
    sheets: dict[str, Sheet]
    warnings: tuple[str, ...]  # of labels and tags of dev that train does not have
    beside: LabelSpace | None = None  # the tags, where the space are labels


def _labels(tables: dict[str, pa.Table], settings: Settings, *, exclusive: bool) -> _Known:
    """Of texts with labels. A text of dev whose only label is left out goes, for it has none to be right about."""
    space = LabelSpace.of(tables["train"]["labels"], exclusive=exclusive)
    tokeniser = _embed(settings).train(tables["train"]["text"], seed=settings.split.seed)
    seen = space.encode(tables["dev"]["labels"])
    if exclusive:
        tables["dev"] = tables["dev"].filter(pa.array(np.diff(seen.offsets) > 0))
    tokens = {name: tokeniser.encode(table["text"]) for name, table in tables.items()}
    return _Known(space, tokeniser, tokens, {}, _unseen("dev", "labels", seen.unseen, "they are left out"))


def _tags(tables: dict[str, pa.Table], settings: Settings, *, labelled: bool) -> _Known:
    """Of tokens with tags, and of texts with labels where they are `labelled`, too."""
    space, embed = tag_space(tables["train"]), _embed(settings)
    tokeniser: Tokeniser = embed.train_tokens(flat(tables["train"]["tokens"]), seed=settings.split.seed)
    made = {name: sheet_of(table, tokeniser, space) for name, table in tables.items()}
    sheets = {name: sheet for name, (sheet, _) in made.items()}
    tokens = {name: sheet.tokens for name, sheet in sheets.items()}
    outside = "they count as O" if "O" in space.index else "no answer is right there"
    warnings = _unseen("dev", "tags", made["dev"][1], outside)
    if not labelled:
        return _Known(space, tokeniser, tokens, sheets, warnings)
    labels = LabelSpace.of(tables["train"]["labels"])
    strange = labels.encode(tables["dev"]["labels"]).unseen
    warnings += _unseen("dev", "labels", strange, "they are left out")
    return _Known(labels, tokeniser, tokens, sheets, warnings, space)


def _embed(settings: Settings) -> Any:
    return parts.build("embed", settings.embed.name, settings.embed.options, source=source_of(settings))


def source_of(settings: Settings) -> str | None:
    """Where a pretrained encoder comes from, whose own tokens it must have; None for others."""
    factory = parts.find("encoders", settings.encoder.name).factory
    own = factory.embed
    if own is None:
        return None
    if settings.embed.name != own:
        raise SettingsError(
            f"{settings.encoder.name} reads the tokens it was trained with; leave embed.name at {own}, "
            f"got {settings.embed.name}"
        )
    return str({**parts.options(factory), **settings.encoder.options}["path"])


def _too_long(tokens: Tokens, learned: Mapping[str, np.ndarray], settings: Settings) -> tuple[str, ...]:
    """A sentence on the texts that the encoder cannot read whole, if it tells of them."""
    encoder = parts.find("encoders", settings.encoder.name).factory
    sentence = encoder.said(tokens, learned, limit=settings.fit.limit, **settings.encoder.options)
    return (sentence,) if sentence else ()


def learns_unlabelled(settings: Settings) -> bool:
    """Whether texts without labels are learnt from: a teacher says all that is learnt of a text, and nothing else asks
    for its labels (what slots show, what a text weighs by its gold label)."""
    alone = settings.targets.name == "distil" and settings.soft.role == "replace" and settings.soft.from_step == 0
    by_gold = settings.weights.name != "none" and parts.find("weights", settings.weights.name).factory.exclusive
    return alone and not parts.find("heads", settings.head.name).factory.has_slots and not by_gold


def _clean(table: pa.Table, dropped: dict[str, int], *, tagged: bool) -> pa.Table:
    empty, unlabelled = _empty(table), pc.is_null(table["tags" if tagged else "labels"])
    unknown = "no tags" if tagged else NO_LABEL
    for reason, hit in {"empty text": empty, unknown: unlabelled}.items():
        count = pc.sum(hit).as_py() or 0
        if count:
            dropped[reason] = dropped.get(reason, 0) + count
    return table.filter(pc.invert(pc.or_(empty, unlabelled)))


def _empty(table: pa.Table) -> pa.ChunkedArray:
    return pc.equal(pc.utf8_length(pc.utf8_trim_whitespace(pc.fill_null(table["text"], ""))), 0)


def _unlabelled(table: pa.Table, dropped: dict[str, int]) -> dict[str, pa.Table]:
    """The texts without labels, by the name of their table, where there are some; they are no longer `dropped`."""
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
    return (f"{name} has {what} that train has never seen; {done}: {listed(unseen)}",) if unseen else ()


def _few(name: str, rows: int) -> tuple[str, ...]:
    return (f"{name} has {rows} texts; figures from so few say little",) if rows < FEW else ()


def listed(counts: Mapping[str, int], *, most: int = 5) -> str:
    """Labels with their counts, the most frequent first.

    >>> listed({"a": 1, "b": 3, "c": 2}, most=2)
    'b (3), c (2) and 1 more'
    """
    shown = ", ".join(f"{label} ({count})" for label, count in sorted(counts.items(), key=lambda p: -p[1])[:most])
    return shown + (f" and {len(counts) - most} more" if len(counts) > most else "")
