"""Recipes: a paper's table as settings; data sets × encoders × cuts of train × variants × seeds.
docs/recipes.md.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import cast

from tagwright import metrics
from tagwright.errors import SettingsError, unknown
from tagwright.experiments.recipe_file import RecipeTable, VariantTable, faults
from tagwright.settings.merge import merge, read_settings, side_by_side
from tagwright.settings.presets import GOVERNED

FOLDER = Path(__file__).parent / "recipes"
FILES = (".csv", ".toml")  # a setting of the mask that ends so names a file beside the recipe


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A row of the tables: its settings, the objective among them, and where it runs (everywhere:
    empty).
    """

    name: str
    family: str  # the name without the grid's values
    settings: Mapping[str, object]
    data: tuple[str, ...] = ()
    encoders: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class TrainCut:
    """What is left out of train: `keep` so many of a label, or to one of so many the `labels`, in
    turn or together.
    """

    name: str = ""
    data: Sequence[str] = ()
    keep: Mapping[str, int] = field(default_factory=dict)
    each: int = 0
    together: int = 0
    labels: Sequence[str] = ()

    @property
    def size(self) -> int:
        """Into how many training sets it cuts one."""
        return len(self.labels) if self.each else 1

    def parts(self, counts: Mapping[str, int]) -> dict[str, dict[str, int]]:
        """Part -> label -> texts to keep, for labels with so many texts in train.

        >>> TrainCut(each=100, labels=("a", "b")).parts({"a": 250, "b": 60, "c": 9})
        {'a': {'a': 2}, 'b': {'b': 1}}
        """
        strange = [label for label in (*self.labels, *self.keep) if label not in counts]
        if strange:
            raise SettingsError(unknown(f"label of the cut {self.name!r}", strange[0], counts))
        few = {
            label: max(1, round(counts[label] / (self.each or self.together)))
            for label in self.labels
        }
        return (
            {label: {label: few[label]} for label in self.labels}
            if self.each
            else {"": {**self.keep, **few}}
        )


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A table of a paper. `settings_of` has settings for one data set or encoder."""

    name: str
    folder: Path
    title: str
    paper: str
    note: str
    metric: str
    seeds: int
    data: tuple[str, ...]
    encoders: tuple[str, ...]
    baseline: str
    variants: tuple[Variant, ...]
    minutes: int | None = None  # about how long all runs take on one H200, eleven at once
    also: tuple[str, ...] = ()  # metrics shown beside; the words of the tables go by `metric` alone
    amounts: bool = False  # of tagged tokens: how many of each type are predicted
    rivals: bool = False  # encoders are compared as well, each with the first
    settings: Mapping[str, object] = field(default_factory=dict)
    settings_of: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    cuts: tuple[TrainCut, ...] = (TrainCut(),)

    def of(self, data: str, encoder: str) -> list[Variant]:
        """The variants that run there, the baseline first."""
        here = [
            v
            for v in self.variants
            if data in (v.data or (data,)) and encoder in (v.encoders or (encoder,))
        ]
        return sorted(here, key=lambda variant: variant.name != self.baseline)

    def cells(self) -> list[tuple[str, str, TrainCut]]:
        """Every data set, encoder and cut that belong together: a table of the results each."""
        every = product(self.data, self.encoders, self.cuts)
        return [
            (data, encoder, cut) for data, encoder, cut in every if data in (cut.data or (data,))
        ]

    @property
    def runs(self) -> int:
        """How many models are trained."""
        return sum(
            len(self.of(data, encoder)) * cut.size * self.seeds
            for data, encoder, cut in self.cells()
        )

    def given(self, data: str, encoder: str, variant: Variant) -> dict[str, object]:
        """Settings, not resolved. Levels from the lowest: common ones, the encoder, of data, of
        encoder, of variant.

        Common settings of an objective's sections are meant for all variants, and stand at their
        level.
        """
        own = (self.settings_of.get(data, {}), self.settings_of.get(encoder, {}))
        common = {
            section: values for section, values in self.settings.items() if section in GOVERNED
        }
        return merge(
            self.settings, {"encoder": encoder}, *own, side_by_side(common, variant.settings)
        )


def names() -> list[str]:
    """The recipes that come with the package."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def read_recipe(name: str) -> Recipe:
    """A recipe by its name, or by the path of a TOML file; every fault is reported at once."""
    path = FOLDER / f"{name}.toml" if name in names() else Path(name)
    if path.suffix != ".toml":
        raise SettingsError(f"{unknown('recipe', name, names())}; or the path of a .toml file")
    given = read_settings(path)
    wrong = faults(given)
    if wrong:
        raise SettingsError("\n".join(f"{path.name}: {fault}" for fault in wrong))
    table = cast(RecipeTable, given)
    recipe = Recipe(
        name=path.stem,
        folder=path.parent,
        title=table["title"],
        paper=table["paper"],
        note=table["note"],
        metric=table["metric"],
        seeds=table["seeds"],
        data=tuple(table["data"]),
        encoders=tuple(table["encoders"]),
        baseline=table["baseline"],
        variants=tuple(one for entry in table["variants"] for one in _expanded(entry)),
        minutes=table.get("minutes"),
        also=tuple(table.get("also", ())),
        amounts=table.get("amounts", False),
        rivals=table.get("rivals", False),
        settings=table.get("settings", {}),
        settings_of=table.get("settings_of", {}),
        cuts=tuple(TrainCut(**entry) for entry in table.get("cuts", ({"name": ""},))),
    )
    _require_whole(recipe)
    return recipe


def narrowed(recipe: Recipe, only: Sequence[str]) -> list[tuple[str, str, TrainCut, list[Variant]]]:
    """Cells with their variants, of these data sets, encoders, cuts and variants alone; the
    baseline always stays.
    """
    families = {name for variant in recipe.variants for name in (variant.name, variant.family)}
    kinds = [
        set(recipe.data),
        set(recipe.encoders),
        {cut.name for cut in recipe.cuts if cut.name},
        families,
    ]
    known = set().union(*kinds)
    for name in only:
        if name not in known:
            raise SettingsError(unknown(f"--only of {recipe.name}", name, known))
    data, encoders, cuts, variants = ({name for name in only if name in kind} for kind in kinds)
    result = []
    for one, encoder, cut in recipe.cells():
        if (
            one in (data or {one})
            and encoder in (encoders or {encoder})
            and cut.name in (cuts or {cut.name})
        ):
            wanted = {*variants, recipe.baseline}
            here = [
                v for v in recipe.of(one, encoder) if not variants or wanted & {v.name, v.family}
            ]
            result.append((one, encoder, cut, here))
    if not result:
        raise SettingsError(
            f"--only {','.join(only)}: {recipe.name} has no table where these meet; see --list"
        )
    return result


def _expanded(entry: VariantTable) -> Iterable[Variant]:
    """One variant, or one for every point of its grid."""
    base = side_by_side({"objective": entry["objective"]}, entry.get("settings", {}))
    grid = entry.get("grid", {})
    for values in product(*grid.values()):
        settings, name = base, entry["name"]
        for key, value in zip(grid, values):
            section, _, option = key.partition(".")
            settings, name = (
                side_by_side(settings, {section: {option: value}}),
                f"{name} {option} {value}",
            )
        yield Variant(
            name=name,
            family=entry["name"],
            settings=settings,
            data=tuple(entry.get("data", ())),
            encoders=tuple(entry.get("encoders", ())),
        )


def _require_whole(recipe: Recipe) -> None:
    """Every table needs its baseline, and each of its rows another name; names must be known."""
    for name in (recipe.metric, *recipe.also):
        metrics.metric(name)
    if recipe.metric in recipe.also or len(set(recipe.also)) < len(recipe.also):
        raise SettingsError(
            f"{recipe.name}: each metric is shown once; got"
            f" {', '.join((recipe.metric, *recipe.also))}"
        )
    places: list[Variant | TrainCut] = [*recipe.variants, *recipe.cuts]
    named = [("data", name, recipe.data) for place in places for name in place.data]
    named += [("encoders", one, recipe.encoders) for row in recipe.variants for one in row.encoders]
    for kind, name, known in named:
        if name not in known:
            raise SettingsError(f"{recipe.name}: {unknown(f'one of {kind}', name, known)}")
    for name in recipe.settings_of:
        if name not in (*recipe.data, *recipe.encoders):
            choices = [*recipe.data, *recipe.encoders]
            raise SettingsError(
                f"{recipe.name}: {unknown('data set or encoder of settings_of', name, choices)}"
            )
    for data, encoder, _ in recipe.cells():
        rows = [variant.name for variant in recipe.of(data, encoder)]
        if recipe.baseline not in rows:
            raise SettingsError(
                f"{recipe.name}: the baseline {recipe.baseline!r} is no variant on {data},"
                f" {encoder}; there are {', '.join(rows) or 'none'}"
            )
        twice = sorted({name for name in rows if rows.count(name) > 1})
        if twice:
            raise SettingsError(
                f"{recipe.name}: several variants on {data}, {encoder} are named {', '.join(twice)}"
            )
