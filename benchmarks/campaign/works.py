"""The kinds of work that are disturbed: their commands, and what must be the same in the end."""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from campaign.command import Ran
from campaign.warm import loads
from tagwright.storage.folder import sha256

SMALL = ("--encoder", "cnn", "--set", "encoder.filters=32")
OFTEN = ("--set", "fit.save_seconds=0.1")
FIT = ("fit", "{data}", *SMALL, *OFTEN, "--out", "{place}/out")
COMPARE = ("compare", "{data}", "--objectives", "bce,zlpr", *SMALL, "--seeds", "2", "--epochs", "1")
COMPLETE = (
    "exists, and there is no unfinished run to resume. If this command wrote the file, it is"
    " complete and nothing is left to do."
)
CHANGING = frozenset({"when", "seconds", "memory", "date", "report", "command"})
RECIPE = """title = "A table"
paper = "A paper"
note = "Its numbers"
metric = "macro_f1"
seeds = 2
data = ["things"]
encoders = ["cnn"]
baseline = "plain"

[settings]
encoder = { width = 16, filters = 8 }
fit = { epochs = 4, batch = 8 }

[[variants]]
name = "plain"
objective = "bce"

[[variants]]
name = "other"
objective = "zlpr"
"""


@dataclass(frozen=True, kw_only=True)
class Work:
    """A command. In its words `{place}` is the folder of a case, where `out` is made."""

    name: str
    words: tuple[str, ...]
    result: Callable[[Path], Any]  # of the path of `out`: what must be the same
    out: str = "out"
    again: tuple[str, ...] = ("--resume",)  # how to go on
    data: str | Path = "shop"

    def command(self, place: Path, *more: str) -> tuple[str, ...]:
        """Its words for one case."""
        return (*(word.format(place=place, data=self.data) for word in self.words), *more)


def fitting(data: str | Path, *more: str, name: str = "fit") -> Work:
    """Training of a small network."""
    return Work(name=name, words=(*FIT, *more), result=model_of, data=data)


def tagging(model: Path, rows: Path) -> Work:
    """Tagging of a file."""
    words = ("tag", str(model), "{data}", "--out", "{place}/out.csv")
    return Work(name="tag", words=words, result=table_of, out="out.csv", data=rows)


def comparing(data: str | Path) -> Work:
    """A comparison of two objectives."""
    words = (*COMPARE, "--out", "{place}/out")
    return Work(name="compare", words=words, result=runs_of, data=data)


def reproducing(home: Path, recipe: str = RECIPE) -> Work:
    """A recipe on data of its own."""
    for seed, (part, count) in enumerate([("train", 200), ("dev", 60), ("test", 60)]):
        write_rows(home / "things" / f"{part}.csv", count, seed=seed)
    (home / "table.toml").write_text(recipe, encoding="utf-8")
    words = ("reproduce", str(home / "table.toml"), "--data", "{data}", "--out", "{place}/out")
    return Work(name="reproduce", words=words, result=runs_of, again=(), data=home)


def write_rows(path: Path, count: int, *, seed: int = 0) -> Path:
    """A CSV file of short texts whose words tell their labels."""
    things = {"outdoor": ("tent", "stove", "rope"), "kitchen": ("knife", "pan"), "toys": ("kite",)}
    draw, lines = random.Random(seed), ["id,text,labels"]
    for number in range(count):
        labels = draw.sample(sorted(things), draw.choice([1, 1, 2]))
        words = " and a ".join(draw.choice(things[label]) for label in labels)
        lines.append(f"{number},Order {number}: the {words} is late,{';'.join(labels)}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def was_complete(work: Work, ran: Ran) -> bool:
    """Whether `tag --resume` found its file in place: a kill came when nothing was left to do, and
    the record of the run was gone. The file must still be compared.
    """
    return work.name == "tag" and ran.code == 2 and COMPLETE in " ".join(ran.err.split())


def model_of(out: Path) -> dict[str, Any]:
    """A finished run: its model, its figures and that it has left no state behind."""
    run = out.with_name(f"{out.name}.run")
    outcome = json.loads((run / "outcome.json").read_text(encoding="utf-8"))
    return {
        **files_of(out),
        "figures": stable({**outcome, "model": ""}),
        "run": sorted(path.name for path in run.iterdir()),
    }


def files_of(out: Path) -> dict[str, Any]:
    """The model alone, which must load."""
    names = ("model.safetensors", "heads/main/decision.json", "settings.toml")
    return {"loads": loads(out), **{name: sha256(out / name) for name in names}}


def table_of(out: Path) -> tuple[str, bool]:
    """A tagged file, and whether the folder of its parts is gone."""
    return sha256(out), not out.with_name(f".{out.name}.shards").exists()


def runs_of(out: Path) -> dict[str, Any]:
    """The rows of a comparison or a recipe and what is told of them, without times."""
    from tagwright.experiments.ledger import Ledger

    (ledger,) = (path for path in out.iterdir() if path.suffix == ".jsonl")
    summary = json.loads((out / "results.json").read_text(encoding="utf-8"))
    files = sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())
    return {"rows": stable(Ledger(ledger).rows), "summary": stable(summary), "files": files}


def stable(content: Any) -> Any:
    """The same without times, dates and places."""
    if isinstance(content, dict):
        kept = {key: value for key, value in content.items() if key not in CHANGING}
        return {key: stable(value) for key, value in sorted(kept.items())}
    return [stable(value) for value in content] if isinstance(content, list | tuple) else content


def difference(found: Any, whole: Any, place: str = "") -> str:
    """Where two results differ first; "" where they do not."""
    if isinstance(found, dict) and isinstance(whole, dict) and found.keys() == whole.keys():
        inner = (difference(found[key], whole[key], f"{place}/{key}") for key in whole)
        return next(filter(None, inner), "")
    return "" if found == whole else f"{place}: {str(found)[:120]} instead of {str(whole)[:120]}"
