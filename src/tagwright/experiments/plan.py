"""Every run of a recipe before the first one starts: its data, its settings, and the key that tells
whether it ran.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from tagwright.data import Data
from tagwright.data.dataset import Size
from tagwright.data.readers.by_suffix import readers
from tagwright.data.source import locate
from tagwright.data.split import split
from tagwright.errors import DataError, SettingsError
from tagwright.experiments.ledger import Row
from tagwright.experiments.recipe import FILES, Recipe, TrainCut, Variant, narrowed
from tagwright.labels.space import LabelSpace
from tagwright.metrics.of_tokens import require_measured
from tagwright.settings.merge import assigned, dotted, merge
from tagwright.settings.named_files import with_contents
from tagwright.settings.schema import Settings, resolve
from tagwright.settings.sections import HEADS
from tagwright.training.prepared import table_digest
from tagwright.training.read_data import read_for


@dataclass(frozen=True, kw_only=True)
class Source:
    """A data set, split, with its digest; `size` is what there was before. Runs are scored on the
    part `on`.
    """

    data: Data
    size: Size
    digest: str
    counts: Mapping[str, int]  # label -> texts of train
    on: str = "test"


@dataclass(frozen=True, kw_only=True)
class Planned:
    """One run; settings that cannot be are a `fault`, which is its result."""

    data: str
    encoder: str
    cut: TrainCut
    part: str  # which of the cut's training sets
    variant: str
    seed: int
    key: str
    settings: Settings | None = None
    fault: str = ""

    @property
    def cell(self) -> tuple[str, str, str]:
        """The table it belongs to."""
        return self.data, self.encoder, self.cut.name


def read_sources(
    recipe: Recipe, wanted: Sequence[str], folder: Path | None, more: Sequence[str]
) -> dict[str, Source]:
    """Every data set that is wanted, read and split; one that is missing or has no test is an
    error.
    """
    found = {}
    for name in wanted:
        given = merge(recipe.settings, recipe.settings_of.get(name, {}), assigned(more))
        data, _ = read_for(
            str(_located(name, folder)),
            {key: given[key] for key in ("data", HEADS) if key in given},
        )
        choice = resolve({"split": given.get("split", {})}).split
        whole = split(
            data, dev_share=choice.dev_share, test_share=choice.test_share, seed=choice.seed
        )
        for metric in (recipe.metric, *recipe.also):
            require_measured(metric, tagged=data.task == "tokens")
        if "test" not in whole.tables:
            raise DataError(
                f"{name} has no test; add a file, or split.test_share to the settings of the recipe"
            )
        found[name] = source_of(replace(whole, source=name), data.size)
    return found


def source_of(data: Data, size: Size, on: str = "test") -> Source:
    """Split data as runs take them; `size` is what there was to learn from before they were
    split.
    """
    digest = " ".join(table_digest(table) for _, table in sorted(data.tables.items()))
    return Source(data=data, size=size, digest=digest, counts=_counts(data), on=on)


def _counts(data: Data) -> dict[str, int]:
    """Texts of train with each label; none where tokens are tagged, for cuts leave out whole texts
    of a label.
    """
    if data.task == "tokens":
        return {}
    space = LabelSpace.of(data.tables["train"]["labels"])
    return dict(zip(space.names, space.counts))


def plan(
    recipe: Recipe,
    sources: Mapping[str, Source],
    *,
    only: Sequence[str],
    seeds: int,
    device: str | None,
    more: Sequence[str],
) -> list[Planned]:
    """The runs in the order they are made: what shares prepared data comes together, and every seed
    of all variants.
    """
    result = []
    for data, encoder, cut, variants in narrowed(recipe, only):
        for part, keep in cut.parts(sources[data].counts).items():
            for seed, variant in ((seed, variant) for seed in range(seeds) for variant in variants):
                run = dotted({"fit.seed": seed, "fit.device": device, "split.keep": keep or None})
                given = merge(recipe.given(data, encoder, variant), assigned(more), run)
                settings, fault, key = _resolved(_placed(given, recipe.folder), sources[data])
                result.append(
                    Planned(
                        data=data,
                        encoder=encoder,
                        cut=cut,
                        part=part,
                        variant=variant.name,
                        seed=seed,
                        key=key,
                        settings=settings,
                        fault=fault,
                    )
                )
    return result


def plan_of_rows(
    recipe: Recipe, rows: Iterable[Row], *, only: Sequence[str], seeds: int
) -> list[Planned]:
    """The runs, without data or settings, with the keys of the rows that stand for them; of several
    the last.
    """
    keys = {
        (row["data"], row["encoder"], row["cut"], row["part"], row["variant"], row["seed"]): row[
            "key"
        ]
        for row in rows
    }
    result = []
    for data, encoder, cut, variants in narrowed(recipe, only):
        for part, seed, variant in product(
            cut.labels if cut.each else ("",), range(seeds), variants
        ):
            key = keys.get((data, encoder, cut.name, part, variant.name, seed), "")
            result.append(
                Planned(
                    data=data,
                    encoder=encoder,
                    cut=cut,
                    part=part,
                    variant=variant.name,
                    seed=seed,
                    key=key,
                )
            )
    return result


def said_settings(recipe: Recipe, only: Sequence[str]) -> dict[str, Mapping[str, object]]:
    """Variant -> its own settings, as the recipe has them; several where data sets differ."""
    variants: Iterator[Variant] = (
        one for *_, variants in narrowed(recipe, only) for one in variants
    )
    found: dict[str, Mapping[str, object]] = {}
    for variant in dict.fromkeys((one.name, one.data, one.encoders) for one in variants):
        name, *where = variant
        one = next(v for v in recipe.variants if (v.name, v.data, v.encoders) == variant)
        places = ", ".join(place for places in where for place in places)
        found[f"{name} ({places})" if places else name] = one.settings
    return found


def _located(name: str, folder: Path | None) -> Path:
    """The data set in the folder, or where names are looked up."""
    if folder is None:
        return locate(name)
    paths = [folder / name, *(folder / f"{name}{suffix}" for suffix in readers())]
    found = next((path for path in paths if path.exists()), None)
    if found is None:
        raise DataError(
            f"{folder} has no data set {name!r}; put it there, or leave it out with --only"
        )
    return found


def _placed(given: dict[str, object], folder: Path) -> dict[str, object]:
    """Files that the mask's settings name stand beside the recipe."""
    mask = given.get("mask")
    if not isinstance(mask, Mapping):
        return given
    files = {
        k: str(folder / v) for k, v in mask.items() if isinstance(v, str) and v.endswith(FILES)
    }
    return {**given, "mask": {**mask, **files}}


def _resolved(given: Mapping[str, object], source: Source) -> tuple[Settings | None, str, str]:
    """Settings, fault and key of a run; it has either settings or a fault."""
    try:
        tasks = {name: head.task for name, head in source.data.heads.items()}
        settings = resolve(given, source.data.task, source.size, tasks or None)
    except SettingsError as error:
        key = hashlib.sha256(f"{given!r} {error}".encode()).hexdigest()
        return None, f"{type(error).__name__}: {error}", key
    return settings, "", _key(settings, source)


def _key(settings: Settings, source: Source) -> str:
    """A digest of data and settings, the same wherever the recipe and the data stand."""
    plain = with_contents(settings)
    fit = plain["fit"]
    if isinstance(fit, Mapping):
        plain["fit"] = {k: v for k, v in fit.items() if k not in ("device", "save_seconds")}
    on = "" if source.on == "test" else f" {source.on}"
    return hashlib.sha256(f"{plain!r} {source.digest}{on}".encode()).hexdigest()
