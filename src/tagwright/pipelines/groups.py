"""Groups of labels for a mask: by their names, a model's confusions, or the texts they share; as a
file to edit.

The words that labels depend on are found by `element_groups`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict, cast

import pyarrow as pa
from scipy.sparse import csr_array, vstack

from tagwright.data import Data, read_data
from tagwright.data.source import DataGiven
from tagwright.data.split import split as split_data
from tagwright.errors import SettingsError, unknown
from tagwright.inference import model_folder
from tagwright.inference.data_for_model import known_rows, labelled_rows, read_for_model
from tagwright.inference.model import Model, Scores
from tagwright.inference.score import CHUNK
from tagwright.labels.group_files import write_groups
from tagwright.labels.groups import PREFIX, groups_of
from tagwright.labels.space import LabelSpace
from tagwright.labels.suggest import (
    SimilarLabels,
    confusion_rates,
    cooccurrence_rates,
    pairs_of,
    suggest,
)
from tagwright.storage.toml import scalar

ELEMENTS = "elements"
# what each way takes beside the data
OPTIONS = {
    PREFIX: {"prefix_separator"},
    "confusions": {"model", "head", "split", "share", "least", "device", "plugins"},
    "cooccurrence": {"split", "share", "least"},
    ELEMENTS: {"model", "head", "split", "threshold", "select", "device", "plugins", "resume"},
}


class GroupOptions(TypedDict, total=False):
    """What is set of a way to find groups, or elements."""

    model: Path
    head: str
    split: str
    share: float
    least: int
    prefix_separator: str
    threshold: float
    select: str
    device: str
    plugins: bool
    resume: bool


SHARES = {"confusions": 0.05, "cooccurrence": 0.2}
LEAST = 3  # texts
APART = 20  # pairs that a file lists


@dataclass(frozen=True, kw_only=True)
class GroupsFound:
    """Groups and what speaks for them; `how` says in words where they come from."""

    by: str
    how: str
    groups: dict[str, list[str]]
    label_count: int
    separator: str | None = None
    split: str | None = None
    rows: int | None = None  # texts that were looked at
    evidence: Mapping[str, list[SimilarLabels]] = field(default_factory=dict)
    apart: list[SimilarLabels] = field(default_factory=list)
    warnings: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """Ready for JSON."""
        facts = {
            name: getattr(self, name)
            for name in ("by", "how", "label_count", "separator", "split", "rows")
        }
        evidence = {
            name: [pair._asdict() for pair in pairs] for name, pairs in self.evidence.items()
        }
        apart = [pair._asdict() for pair in self.apart]
        return {
            **facts,
            "groups": self.groups,
            "evidence": evidence,
            "apart": apart,
            "warnings": self.warnings,
        }

    def write(self, path: Path) -> None:
        """A TOML file to edit, the evidence beside the groups as comments; `mask.groups` reads
        it.
        """
        about = [
            f"Groups of labels {self.how}.",
            (
                "With mask.groups set to this file, labels that share a group with a gold one are"
                " not pushed down."
            ),
            "Edit it as you like; a label may stand in several groups.",
        ]
        if self.apart:
            about.append("Alike too, but in no common group, because the others there are not:")
            about += [f"  {_words(pair)}" for pair in self.apart[:APART]]
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = {name: [_words(pair) for pair in pairs] for name, pairs in self.evidence.items()}
        write_groups(path, self.groups, about=about, beside=beside)


def find_groups(
    source: str,
    *,
    by: str,
    out: Path | None = None,
    overwrite: bool = False,
    options: Mapping[str, object],
    **columns: str | None,
) -> GroupsFound:
    """Find groups and write them to `out`, if given. Options of another way, or no group, are an
    error.
    """
    given = checked_options(by, options)
    if by == ELEMENTS:
        raise SettingsError(
            "elements are words, not groups of labels; find_element_groups finds them"
        )
    check_out(out, ".toml", overwrite=overwrite)
    ways = {PREFIX: _by_prefix, "confusions": _by_confusions, "cooccurrence": _by_cooccurrence}
    found = ways[by](source, given, columns)
    if out is not None:
        found.write(out)
    return found


def checked_options(by: str, options: Mapping[str, object]) -> GroupOptions:
    """The options that are given; those of another way are an error."""
    given = cast(
        GroupOptions, {name: value for name, value in options.items() if value is not None}
    )
    if by not in OPTIONS:
        raise SettingsError(unknown("way to find groups", by, OPTIONS))
    for name in given:
        ways = [way for way, known in OPTIONS.items() if name in known]
        if by not in ways:
            raise SettingsError(
                f"--{name.replace('_', '-')} goes with --by {' or '.join(ways)}, not with {by}"
            )
    if "model" in OPTIONS[by] and "model" not in given:
        raise SettingsError(f"--by {by} asks a trained model; give its folder with --model")
    if not 0 < given.get("share", 1) <= 1:
        raise SettingsError(f"--share must be above 0 and at most 1, got {given['share']}")
    if given.get("least", 1) < 1:
        raise SettingsError(f"--least must be at least 1, got {given['least']}")
    return given


def check_out(out: Path | None, suffix: str, *, overwrite: bool) -> None:
    """Refuse a file of another kind, and one that stands unless `overwrite`."""
    if out is not None and out.suffix.lower() != suffix:
        raise SettingsError(
            f"this is written as {suffix[1:].upper()}, so --out must end in {suffix}, got {out}"
        )
    if out is not None and out.exists() and not overwrite:
        raise SettingsError(f"{out} exists; choose another name or use --overwrite")


def _by_prefix(source: str, given: GroupOptions, columns: Mapping[str, str | None]) -> GroupsFound:
    data = _read(source, columns)
    names = LabelSpace.of(data.first["labels"]).names
    groups = groups_of(PREFIX, names, separator=given.get("prefix_separator", "auto"))
    return GroupsFound(
        by=PREFIX,
        how=f"of {source}, by what stands before {groups.separator!r} in their names",
        groups=groups.members(names),
        label_count=len(names),
        separator=groups.separator,
    )


def _by_cooccurrence(
    source: str, given: GroupOptions, columns: Mapping[str, str | None]
) -> GroupsFound:
    data = _read(source, columns)
    if data.task == "one":
        raise SettingsError(
            f"{source} has one label a text, so no two come together; take --by prefix or"
            " confusions"
        )
    name, table = labelled_rows(
        data, given.get("split", "train" if "train" in data.tables else None)
    )
    space = LabelSpace.of(table["labels"])
    truth = _cells(space, table)
    how = f"of {source} that come on the same texts ({name}, {table.num_rows:,} texts)"
    return _suggested(
        space, truth, cooccurrence_rates(truth), by="cooccurrence", how=how, split=name, given=given
    )


def asked_model(given: GroupOptions) -> Model:
    """The model that the options name, with one of its heads of whole texts: the first where none
    is named.
    """
    whole = model_folder.load(
        given["model"], device=given.get("device", "auto"), plugins=given.get("plugins", False)
    )
    model = whole.alone(whole.of(given.get("head")).first)
    model.require_whole_texts()
    return model


def _by_confusions(
    source: str, given: GroupOptions, columns: Mapping[str, str | None]
) -> GroupsFound:
    model = asked_model(given)
    space, data = model.primary.space, read_for_model(model, source, columns).alone(model.first)
    data, warnings = _with_dev(data, model, given.get("split", "dev"))
    name, table = labelled_rows(data, given.get("split", "dev"))
    table = table.take(known_rows(space, table, data.source))
    truth, chosen = _cells(space, table), _chosen(model, table)
    unknown_cells = _cells(space, table, "unknown") if "unknown" in table.column_names else None
    rates = confusion_rates(truth, chosen, unknown_cells)
    how = f"that {given['model']} confuses on {name} of {source} ({table.num_rows:,} texts)"
    return _suggested(
        space, truth, rates, by="confusions", how=how, split=name, given=given, warnings=warnings
    )


def _suggested(
    space: LabelSpace,
    truth: csr_array,
    pairs: tuple[csr_array, csr_array],
    *,
    by: str,
    how: str,
    split: str,
    given: GroupOptions,
    warnings: tuple[str, ...] = (),
) -> GroupsFound:
    share, least = given.get("share", SHARES[by]), given.get("least", LEAST)
    found = suggest(space.names, *pairs, texts=truth.sum(axis=0), share=share, least=least)
    if not found.groups:
        nearest = next(
            (f"the nearest are {_words(pair)}" for pair in pairs_of(space.names, *pairs)),
            "there is no pair",
        )
        raise SettingsError(
            f"no groups {how}: no two labels have a rate of {share} in {least} texts; {nearest}. "
            "Lower --share or --least"
        )
    return GroupsFound(
        by=by,
        how=f"{how}: a rate of at least {share} in at least {least} texts",
        groups=found.groups,
        label_count=len(space),
        split=split,
        rows=truth.shape[0],
        evidence=found.evidence,
        apart=found.apart,
        warnings=warnings,
    )


def _read(source: str, columns: Mapping[str, str | None]) -> Data:
    data = read_data(source, **cast(DataGiven, columns))
    if data.task == "tokens":
        raise SettingsError(
            f"{source} tags tokens; groups are for labels of whole texts (set --task, --text,"
            " --labels)"
        )
    return data


def _with_dev(data: Data, model: Model, split: str) -> tuple[Data, tuple[str, ...]]:
    """Where the data have no dev, that of the model's training: what it learnt from tells nothing
    of its confusions.
    """
    warnings: tuple[str, ...] = ()
    if split == "dev" and "dev" not in data.tables:
        choice = model.record.split
        data = split_data(
            data, dev_share=choice.dev_share, test_share=choice.test_share, seed=choice.seed
        )
        warnings = (
            (
                f"{data.source} has no dev: held out as in the model's training; --split takes"
                " other texts"
            ),
        )
    if split == "dev" and model.record.refitted:
        warnings += (
            (
                "the model may have learnt from dev too (fit.refit), so it errs less there; fit it"
                " with --no-refit"
            ),
        )
    return data, warnings


def _chosen(model: Model, table: pa.Table) -> csr_array:
    """The labels that the model gives the texts, sparse bool (n, L)."""
    found = []
    for start in range(0, table.num_rows, CHUNK):
        scores = model.scores(table["text"].slice(start, CHUNK))
        found.append(csr_array(scores.chosen) if isinstance(scores, Scores) else scores.matrix())
    return csr_array(vstack(found))


def _cells(space: LabelSpace, table: pa.Table, column: str = "labels") -> csr_array:
    return space.encode(table[column]).matrix(len(space)) > 0


def _words(pair: SimilarLabels) -> str:
    return f"{scalar(pair.left)} and {scalar(pair.right)}: {pair.texts} texts, rate {pair.rate:.3f}"
