"""Objectives × seeds on one split: every run kept as it ends, then means, spreads and paired intervals."""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tagwright import metrics, stats
from tagwright.assemble.fit import can_report, read_for
from tagwright.assemble.prepare import Prepared, prepare, table_digest
from tagwright.assemble.score import labelled_rows, score
from tagwright.assemble.sheets import tag_space
from tagwright.assemble.train import check, fit, watched
from tagwright.assemble.training import Progress, Run, silent
from tagwright.bundle import versions
from tagwright.errors import ModelError, SettingsError
from tagwright.folder import require_ours
from tagwright.metrics._tokens import require_measured, usual_of_tags
from tagwright.plain import plain
from tagwright.presets import PLAIN
from tagwright.read import Data
from tagwright.read.split import split as split_data
from tagwright.report import CompareFacts, compare_report
from tagwright.settings import Settings, check_settings, resolve

MARKS = ("results.json", "runs", "teachers")  # what tells a folder for a comparison


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Every run and what they say together; differences are objective minus baseline, paired by seed."""

    facts: CompareFacts
    report: Path | None

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        names = ("baseline", "metric", "split", "rows", "summary", "differences", "verdict", "differing", "warnings")
        report = None if self.report is None else str(self.report)
        return {**{name: getattr(self.facts, name) for name in names}, "report": report}


def compare_folder(
    source: str,
    given: Mapping[str, Any],
    *,
    objectives: Sequence[str],
    seeds: int,
    out: Path,
    metric: str | None = None,
    split: str | None = None,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = silent,
    say: Callable[[str], None] = lambda text: None,
) -> Comparison:
    """Train every objective with every seed on the same split, score, and write results.json and report.html."""
    if len(set(objectives)) < 2 or len(set(objectives)) < len(objectives):
        raise SettingsError(f"compare takes two or more different objectives, got {', '.join(objectives) or 'none'}")
    for name in objectives:
        check_settings({**given, "objective": name})
    require_ours(out, MARKS, "comparison")
    if out.exists() and not (resume or overwrite):
        raise ModelError(f"{out} exists; go on with --resume, or start over with --overwrite")
    data, first = read_for(source, {**given, "objective": objectives[0]})
    tagged = data.task == "tokens"
    primary = require_measured(metric or _usual(data), tagged=tagged)
    choice, rows = first.split, data.first.num_rows
    data = split_data(data, dev_share=choice.dev_share, test_share=choice.test_share, seed=choice.seed)
    on = split or ("test" if "test" in data.tables else "dev")
    scored = table_digest(labelled_rows(data, on, "tags" if tagged else "labels")[1])[:8]
    prepared = prepare(data, first)
    chosen = {name: resolve({**given, "objective": name}, data.task, rows) for name in objectives}
    known = dict.fromkeys(sentence for settings in chosen.values() for sentence in check(prepared, settings))
    found_here = prepared.found[len(data.found) :]
    for sentence in (*found_here, *prepared.warnings, *known, f"score: {watched(first, prepared.space)} on dev"):
        say(sentence)
    if overwrite and not resume:
        _clear(out)
    out.mkdir(parents=True, exist_ok=True)
    found, run = [], Run(progress=progress, say=say, teachers=out / "teachers")
    for number, (name, seed) in enumerate([(n, s) for s in range(seeds) for n in objectives], start=1):
        own = {"objective": name, "fit": {**given.get("fit", {}), "seed": seed}}
        settings = resolve({**given, **own}, data.task, rows)
        say(f"run {number} of {len(objectives) * seeds}: {name}, seed {seed}")
        found.append(_run(prepared, data, settings, on, out / "runs", scored, run))
    facts = summarise(found, primary, split=on, title=f"{', '.join(objectives)} on {source}", settings=first.as_dict())
    facts = replace(facts, differing=differing(chosen), warnings=prepared.warnings)
    shutil.rmtree(out / "teachers", ignore_errors=True)  # they have served
    return Comparison(facts=facts, report=_write(facts, out))


def _usual(data: Data) -> str:
    """The metric to compare by where none is named; of tokens the one that the best model is chosen by."""
    if data.task == "tokens":
        return usual_of_tags(tag_space(data.first).names)
    return "accuracy" if data.task == "one" else "macro_f1"


def differing(chosen: Mapping[str, Settings]) -> dict[str, dict[str, Any]]:
    """Settings beside the objective's own choices that are not the same for all: setting -> objective -> value."""
    plain_of = {objective: settings.as_dict() for objective, settings in chosen.items()}
    sections = [name for name in next(iter(plain_of.values())) if name not in ("objective", *PLAIN, "loss")]
    result: dict[str, dict[str, Any]] = {}
    for section in sections:
        alike = len({values[section].get("name") for values in plain_of.values()}) == 1
        # parts of different names have settings of their own, which nobody could compare
        for key in {key: None for values in plain_of.values() for key in values[section]} if alike else ("name",):
            found = {objective: values[section].get(key) for objective, values in plain_of.items()}
            if any(value != found[next(iter(found))] for value in found.values()):
                result[f"{section}.{key}"] = found
    return result


def _run(
    prepared: Prepared, data: Data, settings: Settings, split: str, folder: Path, scored: str, run: Run
) -> dict[str, Any]:
    """One run's row; read back where the same settings on the same data have run already."""
    name = f"{settings.objective}-{settings.fit.seed}-{prepared.fingerprint(settings)[:12]}-{split}-{scored}"
    path = folder / f"{name}.json"
    if path.exists():
        row: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return row
    fitted = fit(prepared, settings, run)
    results = fitted.model.heads["main"].metrics["metrics"]
    if split != "dev":
        results = score(fitted.model, data, split=split).as_dict()["metrics"]
    row = {"objective": settings.objective, "seed": settings.fit.seed, "metrics": results, "seconds": fitted.seconds}
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_suffix(".part")
    aside.write_text(json.dumps(row), encoding="utf-8")
    aside.replace(path)
    return row


def summarise(
    rows: Sequence[Mapping[str, Any]], primary: str, *, split: str, title: str, settings: Mapping[str, Any]
) -> CompareFacts:
    """Mean and standard deviation of each objective, and paired intervals against the first."""
    names = list(dict.fromkeys(row["objective"] for row in rows))
    shared = [m for m in rows[0]["metrics"] if m in metrics.METRICS and all(m in row["metrics"] for row in rows)]
    scores = {n: {m: np.array([r["metrics"][m] for r in rows if r["objective"] == n]) for m in shared} for n in names}
    spread = {n: {m: (float(v.mean()), _sd(v)) for m, v in found.items()} for n, found in scores.items()}
    differences = []
    for name in names[1:]:
        for m in shared:
            found = stats.paired_interval(scores[name][m], scores[names[0]][m])
            row = {"mean": found.mean, "low": found.low, "high": found.high, "p_value": found.p_value}
            differences.append({"objective": name, "metric": m, **row})
    return CompareFacts(
        title=title,
        baseline=names[0],
        metric=primary,
        rows=rows,  # type: ignore[arg-type]
        summary=[{"objective": n, "metrics": found} for n, found in spread.items()],
        differences=differences,  # type: ignore[arg-type]
        verdict=verdict([d for d in differences if d["metric"] == primary], names[0], primary),
        split=split,
        lower_is_better=[m for m, (_, higher) in metrics.METRICS.items() if not higher],
        settings=settings,
        versions=versions(),
    )


def verdict(differences: Sequence[Mapping[str, Any]], baseline: str, primary: str) -> str:
    """One sentence; Holm's correction over the objectives, and "no difference" is a fair answer."""
    if any(np.isinf(d["high"]) for d in differences):
        return f"One seed shows no spread, so nothing can be said about {primary}; run more seeds."
    sign = 1 if metrics.metric(primary)[1] else -1
    adjusted = stats.holm(np.array([d["p_value"] for d in differences]))
    real = [(sign * d["mean"], d, p) for d, p in zip(differences, adjusted) if p < 0.05]
    if not real:
        return f"No difference in {primary} from {baseline} that these runs can show (Holm-corrected p ≥ 0.05 for all)."
    gain, best, p = max(real, key=lambda found: found[0])
    word = "better" if gain > 0 else "worse"
    return (
        f"{best['objective']} is {word} than {baseline} in {primary} by {abs(best['mean']):.4f} "
        f"(95% interval {best['low']:+.4f} to {best['high']:+.4f}, Holm-corrected p = {p:.3g}, seeds as pairs)."
    )


def _clear(out: Path) -> None:
    """Remove what an earlier comparison wrote, and nothing else."""
    for path in (*(out / "runs").glob("*.json"), out / "results.json", out / "report.html"):
        path.unlink(missing_ok=True)
    shutil.rmtree(out / "teachers", ignore_errors=True)


def _sd(values: np.ndarray) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0


def _write(facts: CompareFacts, out: Path) -> Path | None:
    (out / "results.json").write_text(
        json.dumps(plain(Comparison(facts=facts, report=None).as_dict())), encoding="utf-8"
    )
    if not can_report():
        return None
    path = out / "report.html"
    path.write_text(compare_report(facts), encoding="utf-8")
    return path
