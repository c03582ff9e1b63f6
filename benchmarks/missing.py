"""Which runs of the recipes are still to be made, by the ledgers that docs/results/runs keeps.

    python benchmarks/missing.py  # every recipe, a line per data set and encoder
    python benchmarks/missing.py zlpr --seeds 3 --each  # a line for each variant
    python benchmarks/missing.py zlpr --adopt made      # made/zlpr/results.jsonl: all rows

A run of another recipe with the same data and settings is the same run, so its row counts. Where
a recipe decides at a logit of 0 and another one fits thresholds, the training is the same too:
its row says as `untuned` what a logit of 0 gives, and is taken without what each text adds. After
`--adopt made`, `tagwright reproduce NAME --tables --out made/NAME` makes the page. Data are
looked up in TAGWRIGHT_DATA, else in ../shared/data.
"""

import argparse
import gzip
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tagwright.experiments.plan import Planned, Source, plan, read_sources
from tagwright.experiments.recipe import Recipe, names, read_recipe

FOLDER = Path(os.environ.get("TAGWRIGHT_DATA", Path(__file__).parents[2] / "shared" / "data"))
RUNS = Path(__file__).parents[1] / "docs" / "results" / "runs"
Row = dict[str, Any]
Known = dict[str, tuple[str, Row]]  # key of today's settings -> recipe and row
NONE: tuple[str, Row] = ("", {})
Place = tuple[str, str, str, str, str, int]  # data, encoder, cut, part, variant, seed
DECIDED = "decide.name=auto"  # what settings would say if they left the decision to Tagwright


class Found(NamedTuple):
    """A run with its row, and where that comes from: "here", another recipe, or "" for nowhere."""

    run: Planned
    origin: str
    row: Row


def kept(recipe: str, folder: Path) -> dict[Place, Row]:
    """The rows of a recipe's ledger, by their place; of several the last."""
    path = folder / f"{recipe}.jsonl.gz"
    if not path.exists():
        return {}
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file if line.strip()]
    return {_place(row): row for row in rows if "failed" not in row}


def _place(row: Mapping[str, Any]) -> Place:
    return row["data"], row["encoder"], row["cut"], row["part"], row["variant"], row["seed"]


def place_of(run: Planned) -> Place:
    """Where the row of a run stands."""
    return run.data, run.encoder, run.cut.name, run.part, run.variant, run.seed


@cache
def _source(data: str) -> Source:
    """A data set, read and split as most recipes do, once for all of them."""
    recipes = map(read_recipe, names())
    recipe = next(one for one in recipes if data in one.data and not one.settings.get("split"))
    return read_sources(recipe, [data], FOLDER, ())[data]


def planned(recipe: Recipe, seeds: int, *more: str) -> list[Planned]:
    """The runs of a recipe, with the keys that tell which are the same."""
    if recipe.settings.get("split"):
        sources = read_sources(recipe, recipe.data, FOLDER, ())
    else:
        sources = {data: _source(data) for data in recipe.data}
    return plan(recipe, sources, only=(), seeds=seeds, device="cpu", more=more)


def known_rows(folder: Path, seeds: int) -> Known:
    """Key of today's settings -> recipe and row, of all that is kept."""
    found: Known = {}
    for name in names():
        rows = kept(name, folder)
        if rows:
            most = max(seeds, *(row["seed"] + 1 for row in rows.values()))
            runs = [run for run in planned(read_recipe(name), most) if place_of(run) in rows]
            found |= {run.key: (name, rows[place_of(run)]) for run in runs}
    return found


def rows_for(recipe: Recipe, known: Known, folder: Path, seeds: int) -> Iterator[Found]:
    """Every run of a recipe with its row."""
    own, runs = kept(recipe.name, folder), planned(recipe, seeds)
    decided = planned(recipe, seeds, DECIDED) if _at_zero(recipe) else runs
    for run, otherwise in zip(runs, decided, strict=True):
        if place_of(run) in own:
            yield Found(run, "here", own[place_of(run)])
        elif run.key in known:
            yield Found(run, *known[run.key])
        elif "untuned" in known.get(otherwise.key, NONE)[1] and _zero(recipe, run):
            source, row = known[otherwise.key]
            yield Found(run, f"{source}, untuned", at_zero(row, source))
        else:
            yield Found(run, *NONE)


def _at_zero(recipe: Recipe) -> bool:
    settings = [recipe.settings, *(variant.settings for variant in recipe.variants)]
    return any(_decision(one) == "zero" for one in settings)


def _zero(recipe: Recipe, run: Planned) -> bool:
    variant = next(one for one in recipe.of(run.data, run.encoder) if one.name == run.variant)
    return _decision(recipe.given(run.data, run.encoder, variant)) == "zero"


def _decision(settings: Mapping[str, Any]) -> str:
    given = settings.get("decide", "")
    return str(given.get("name", "")) if isinstance(given, Mapping) else str(given)


def at_zero(row: Row, source: str) -> Row:
    """The row that the same training would have written with labels above a logit of 0."""
    said = [*row.get("said", ()), f"some rows are runs of {source}, decided at a logit of 0"]
    tuned = ("untuned", "dev_untuned", "of_texts")
    left = {key: value for key, value in row.items() if key not in tuned}
    return {**left, "test": row["untuned"], "dev": row["dev_untuned"], "right": None, "said": said}


def adopt(found: Sequence[Found], out: Path) -> int:
    """Write the rows as the ledger of the recipe, under its names and today's keys; how many."""
    out.mkdir(parents=True, exist_ok=True)
    rows = []
    for one in (one for one in found if one.origin):
        rows.append({**one.row, "key": one.run.key, "variant": one.run.variant})
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (out / "results.jsonl").write_text(text, encoding="utf-8")
    return len(rows)


def lines(recipe: Recipe, found: Sequence[Found], *, each: bool) -> Iterator[str]:
    """Lines of the table: how many runs there are of each place, and which variants miss some."""
    cells: dict[tuple[str, ...], list[Found]] = {}
    for one in found:
        place = (one.run.data, one.run.encoder, one.run.cut.name, one.run.variant if each else "")
        cells.setdefault(place, []).append(one)
    for where, here in cells.items():
        origins = [one.origin for one in here]
        own, none = origins.count("here"), origins.count("")
        others = "; ".join(sorted({*origins} - {"", "here"}))
        missing = "; ".join(sorted({one.run.variant for one in here if not one.origin}))
        taken = len(here) - own - none
        counts = [str(len(here)), str(own), f"{taken} {others}", f"{none} {missing}"]
        yield f"| {' | '.join([recipe.name, ', '.join(filter(None, where)), *counts])} |"


def main() -> None:
    """Print the table, and write ledgers where they are asked for."""
    shown_as_is = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=shown_as_is)
    parser.add_argument("recipes", nargs="*", help="all where none is named")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--runs", type=Path, default=RUNS, help="the folder of NAME.jsonl.gz")
    parser.add_argument("--each", action="store_true", help="a line for each variant")
    parser.add_argument("--adopt", type=Path, help="write NAME/results.jsonl below this folder")
    options = parser.parse_args()
    known = known_rows(options.runs, options.seeds)
    print("| recipe | where | runs | here | of other recipes | missing |")
    print("|---|---|---|---|---|---|")
    for name in options.recipes or names():
        recipe = read_recipe(name)
        found = list(rows_for(recipe, known, options.runs, options.seeds))
        print(*lines(recipe, found, each=options.each), sep="\n", flush=True)
        if options.adopt:
            print(f"{adopt(found, options.adopt / name)} rows in {options.adopt / name}")


if __name__ == "__main__":
    main()
