"""Data that are ready to train on: tables, labels, tokens, and the rows that are made of them."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_array

from tagwright import registry
from tagwright.arrays import Floats, Ints, Numbers
from tagwright.batches.inputs import Inputs
from tagwright.batches.rows import HeadRows, Rows
from tagwright.batches.token_windows import TagInputs
from tagwright.data.dataset import of_head
from tagwright.errors import SettingsError
from tagwright.inference.model import inputs_of
from tagwright.inference.tagged_tokens import (
    Sheet,
    sheet_of,
    tags_at,
    windows_of,
)
from tagwright.labels.space import LabelSpace
from tagwright.models.network import Network
from tagwright.settings.named_files import file_digests
from tagwright.settings.schema import Choice, Settings
from tagwright.targets import SoftLabels
from tagwright.targets.distil import Teacher, nobody
from tagwright.targets.hard import hard
from tagwright.tokenizers import Tokenizer
from tagwright.tokenizers.tokens import Tokens

MAIN = "main"  # the head of a run with one
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
    tags: Mapping[str, Ints] | None = None

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
    learned: dict[str, Numbers]
    vectors: Floats | None
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

    def widened(self, settings: Settings) -> Settings:
        """The settings with the width of the given word vectors, where there are some."""
        if self.vectors is not None:
            options = {**settings.encoder.options, "width": self.vectors.shape[1]}
            return replace(settings, encoder=Choice(name=settings.encoder.name, options=options))
        # vectors are not in the encoder: a saved model is built without the file, they come with
        # the weights
        takes = registry.asked(registry.find(registry.ENCODERS, settings.encoder.name).factory)
        if "vectors" in takes and settings.encoder.options.get("freeze"):
            raise SettingsError(
                "freeze holds given vectors as they are, but there are none; give --vectors"
            )
        return settings

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
        if not labelled.all() and registry.find(registry.HEADS, own.head.name).factory.has_slots:
            everything = csr_array(np.repeat(~labelled[:, None], len(space), 1).astype(np.float32))
            unknown = everything if unknown is None else csr_array(unknown + everything)
        sparse = bool(own.head.options.get("chunk", 0))
        told = None if labelled.all() or name == UNLABELLED else labelled
        return HeadRows(target=hard(table, space), unknown=unknown, sparse=sparse, labelled=told)

    def soft_labels(
        self, names: Sequence[str], settings: Settings, *, teacher: Teacher = nobody
    ) -> SoftLabels | None:
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
        return registry.build(
            registry.TARGETS,
            settings.targets.name,
            settings.targets.options,
            table=table,
            space=self.space,
            tokens=tokens,
            teacher=teacher,
        )

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
