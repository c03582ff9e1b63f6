"""Results of a recipe as Markdown: what was run, then a table for every data set, encoder and cut."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean, stdev
from typing import Any

from tagwright import toml

Bounds = tuple[float, float, float]  # mean, low, high
READING = (
    "`±` is the standard deviation over seeds. Intervals are 95% of the difference to the baseline, paired: over other "
    "seeds on this test set, and over other seeds and other texts. The words go by the latter where every text's "
    "answer is known, corrected for the number of variants in the table (Holm); the intervals are not corrected. With "
    "two or three seeds the first may be the wider one: it knows the spread over seeds from these alone."
)


@dataclass(frozen=True, kw_only=True)
class Line:
    """A variant: a score a seed, the difference to the baseline with its bounds, and what they say."""

    variant: str
    scores: Sequence[float]
    over_seeds: Bounds | None
    over_texts: Bounds | None
    p_value: float | None
    verdict: str
    seconds: float
    failed: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class ResultTable:
    """One data set, encoder and cut."""

    data: str
    encoder: str
    cut: str
    parts: int  # training sets that a seed's score is the mean of
    texts: int | None  # of test
    lines: Sequence[Line]
    notes: Sequence[str] = ()  # what was said of the data


@dataclass(frozen=True, kw_only=True)
class RecipeFacts:
    """All of a recipe's results, and what they were made with."""

    title: str
    paper: str
    note: str
    metric: str
    command: str
    date: str
    versions: Mapping[str, str]
    devices: Sequence[str]
    seeds: int
    runs: int
    finished: int
    settings: Mapping[str, Any]
    own_settings: Mapping[str, Mapping[str, Any]]  # of a variant, data set or encoder
    tables: Sequence[ResultTable] = field(default_factory=list)


def reproduce_report(facts: RecipeFacts) -> str:
    """The whole page."""
    return "\n".join([*_head(facts), *(line for table in facts.tables for line in _table(table, facts.metric))]) + "\n"


def _head(facts: RecipeFacts) -> Iterator[str]:
    versions = ", ".join(f"{name} {number}" for name, number in facts.versions.items())
    yield from (f"# {facts.title}", "", f"{facts.paper}. {facts.note}", "", "| | |", "|---|---|")
    yield f"| date | {facts.date} |"
    yield f"| command | `{facts.command}` |"
    yield f"| runs | {facts.finished} of {facts.runs}; seeds: {facts.seeds} |"
    yield f"| metric | {facts.metric} on test |"
    yield f"| device | {', '.join(facts.devices) or 'none yet'} |"
    yield f"| versions | {versions} |"
    yield from ("", READING, "", "Settings beside the encoders' own:", "", "```toml")
    yield from (toml.dumps(facts.settings).strip() or "# none").splitlines()
    yield from ("```", "")
    for name, settings in facts.own_settings.items():
        yield f"- {_cell(name)}: {_flat(settings)}"


def _table(table: ResultTable, metric: str) -> Iterator[str]:
    yield from ("", f"## {', '.join(filter(None, (table.data, table.encoder, table.cut)))}", "")
    size = "" if table.texts is None else f"{table.texts:,} texts of test"
    several = f"means over {table.parts} training sets" if table.parts > 1 else ""
    yield from (sentence + "." for sentence in filter(None, (", ".join(filter(None, (size, several))), *table.notes)))
    yield from ("", f"| variant | {metric} | seeds | difference | over seeds | over seeds and texts | | seconds |")
    yield "|---|---|---|---|---|---|---|---|"
    yield from (_row(line) for line in table.lines)
    failed: dict[str, dict[str, None]] = {}  # error -> variants
    for line in table.lines:
        for error in line.failed:
            failed.setdefault(error, {})[line.variant] = None
    if failed:
        yield from ("", *(f"- failed: {_cell('; '.join(where))}: {_cell(error)}" for error, where in failed.items()))


def _row(line: Line) -> str:
    spread = f" ± {stdev(line.scores):.4f}" if len(line.scores) > 1 else ""
    score = f"{mean(line.scores):.4f}{spread}" if line.scores else "failed" if line.failed else "not yet"
    difference = "" if line.over_seeds is None else f"{line.over_seeds[0]:+.4f}"
    bounds = [_bounds(line.over_seeds), _bounds(line.over_texts)]
    if line.over_texts == line.over_seeds:
        bounds[1] = ""
    seconds = "" if math.isnan(line.seconds) else f"{line.seconds:.1f}"
    count = f"{len(line.scores)}" + (f", {len(line.failed)} failed" if line.failed else "")
    return "| " + " | ".join([_cell(line.variant), score, count, difference, *bounds, line.verdict, seconds]) + " |"


def _bounds(found: Bounds | None) -> str:
    return "" if found is None or math.isinf(found[1]) else f"[{found[1]:+.4f}, {found[2]:+.4f}]"


def _flat(settings: Mapping[str, Any]) -> str:
    """Nested settings in one line."""
    pairs = []
    for section, value in settings.items():
        inner = value.items() if isinstance(value, Mapping) else [("", value)]
        pairs += [f"`{section}{'.' if key else ''}{key}={toml.scalar(item)}`" for key, item in inner]
    return ", ".join(pairs)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
