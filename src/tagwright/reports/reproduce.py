"""Results of a recipe as Markdown: what was run, means at a glance, a table for every data set,
encoder and cut.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import mean, stdev

from tagwright.reports.wins import wins
from tagwright.storage import toml

Bounds = tuple[float, float, float]  # mean, low, high
READING = (
    "`±` is the standard deviation over seeds. Intervals are 95% of the difference to the baseline,"
    " paired: over other seeds on this test set, and, where it is known what each text adds to the"
    " metric, over other seeds and other texts. The words go by the latter where it is there,"
    " corrected for the number of variants in the table (Holm); the intervals are not corrected."
    " `untuned` is the metric with no threshold fitted: labels with logits above 0. With two or"
    " three seeds the first may be the wider one: it knows the spread over seeds from these alone."
)


@dataclass(frozen=True, kw_only=True)
class Line:
    """A variant: a score a seed, the difference to the baseline with its bounds, and what they
    say.
    """

    variant: str
    scores: Sequence[float]
    over_seeds: Bounds | None
    over_texts: Bounds | None
    p_value: float | None
    verdict: str
    seconds: float
    failed: Sequence[str] = ()
    beside: Mapping[str, Sequence[float]] = field(default_factory=dict)  # metric -> a score a seed
    untuned: Sequence[float] = ()  # the metric with no threshold fitted, a score a seed
    # type -> its tokens, predicted and true
    amounts: Mapping[str, tuple[float, float]] = field(default_factory=dict)


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
    tokens: int | None = None  # of test, where these are what is counted


@dataclass(frozen=True, kw_only=True)
class RivalTable:
    """One data set, cut and variant: a line is an encoder, the first of them the baseline."""

    data: str
    cut: str
    variant: str
    lines: Sequence[Line]


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
    settings: Mapping[str, object]
    own_settings: Mapping[str, Mapping[str, object]]  # of a variant, data set or encoder
    tables: Sequence[ResultTable] = field(default_factory=list)
    also: Sequence[str] = ()  # metrics shown beside; the words are about `metric` alone
    amounts: bool = False
    rivals: Sequence[RivalTable] = ()


def reproduce_report(facts: RecipeFacts) -> str:
    """The whole page."""
    missing = list(_missing(facts))
    facts = _begun(facts)
    tables = (line for table in facts.tables for line in _table(table, facts))
    return (
        "\n".join(
            [
                *_head(facts),
                *missing,
                *_glance(facts),
                *wins(facts.tables, facts.metric, facts.also),
                *_rivals(facts),
                *tables,
            ]
        )
        + "\n"
    )


def _is_begun(line: Line) -> bool:
    return bool(line.scores or line.failed)


def _begun(facts: RecipeFacts) -> RecipeFacts:
    """Without the tables and lines of which nothing was run."""
    tables = [replace(t, lines=[line for line in t.lines if _is_begun(line)]) for t in facts.tables]
    rivals = [replace(t, lines=[line for line in t.lines if _is_begun(line)]) for t in facts.rivals]
    return replace(
        facts, tables=[t for t in tables if t.lines], rivals=[t for t in rivals if len(t.lines) > 1]
    )


def _missing(facts: RecipeFacts) -> Iterator[str]:
    """What was not run, in a sentence: whole tables, and lines of others."""
    places = []
    for table in facts.tables:
        lines = [line.variant for line in table.lines if not _is_begun(line)]
        if lines:
            place = ", ".join(filter(None, (table.data, table.encoder, table.cut)))
            places.append(
                _cell(place if len(lines) == len(table.lines) else f"{place} ({', '.join(lines)})")
            )
    if places:
        yield from ("", f"Not run yet: {'; '.join(places)}.")


def _head(facts: RecipeFacts) -> Iterator[str]:
    versions = ", ".join(f"{name} {number}" for name, number in facts.versions.items())
    yield from (f"# {facts.title}", "", f"{facts.paper}. {facts.note}", "", "| | |", "|---|---|")
    yield f"| date | {facts.date} |"
    yield f"| command | `{facts.command}` |"
    yield f"| runs | {facts.finished} of {facts.runs}; seeds: {facts.seeds} |"
    beside = f"; beside it {', '.join(facts.also)}" if facts.also else ""
    yield f"| metric | {facts.metric} on test{beside} |"
    yield f"| device | {', '.join(facts.devices) or 'none yet'} |"
    yield f"| versions | {versions} |"
    yield from ("", READING, "", "Settings beside the encoders' own:", "", "```toml")
    yield from (toml.dumps(facts.settings).strip() or "# none").splitlines()
    yield from ("```", "")
    for name, settings in facts.own_settings.items():
        yield f"- {_cell(name)}: {_flat(settings)}"


def _glance(facts: RecipeFacts) -> Iterator[str]:
    """Variants × encoders of each data set and cut, where there are several encoders: the form of a
    paper's table.
    """
    places: dict[tuple[str, str], list[ResultTable]] = {}
    for table in facts.tables:
        places.setdefault((table.data, table.cut), []).append(table)
    if all(len(tables) < 2 for tables in places.values()):
        return
    yield from (
        "",
        "## At a glance",
        "",
        f"Means in percent: {' / '.join((facts.metric, *facts.also))}.",
    )
    for place, tables in places.items():
        title = _cell(", ".join(filter(None, place)))
        yield from (
            "",
            f"| {title} | {' | '.join(table.encoder for table in tables)} |",
            "|---" * (len(tables) + 1) + "|",
        )
        for variant in dict.fromkeys(line.variant for table in tables for line in table.lines):
            found = [
                next((line for line in table.lines if line.variant == variant), None)
                for table in tables
            ]
            cells = [
                _cell(variant),
                *("" if line is None else _means(line, facts.also) for line in found),
            ]
            yield f"| {' | '.join(cells)} |"


def _rivals(facts: RecipeFacts) -> Iterator[str]:
    """Encoders against the first of them, a table for each data set and cut, with the variants one
    below the other.
    """
    if not facts.rivals:
        return
    yield from ("", f"## {facts.rivals[0].lines[0].variant} and the other encoders", "")
    yield (
        "Differences are to the first encoder with the same variant, corrected for the number of"
        " encoders (Holm)."
    )
    columns = [
        "variant",
        "encoder",
        facts.metric,
        "seeds",
        "difference",
        "over seeds",
        "over seeds and texts",
        "",
    ]
    before = None
    for table in facts.rivals:
        place = _cell(", ".join(filter(None, (table.data, table.cut))))
        if place != before:
            yield from (
                "",
                f"### {place}",
                "",
                f"| {' | '.join(columns)} |",
                "|---" * len(columns) + "|",
            )
        before = place
        for line in table.lines:
            cells = _cells(line, (), texts=True)[:-1]  # seconds are told elsewhere
            yield f"| {_cell(table.variant)} | {' | '.join(cells)} |"


def _means(line: Line, also: Sequence[str]) -> str:
    every = (line.scores, *(line.beside.get(name, ()) for name in also))
    return " / ".join(f"{100 * mean(scores):.1f}" for scores in every) if all(every) else ""


def _table(table: ResultTable, facts: RecipeFacts) -> Iterator[str]:
    yield from ("", f"## {', '.join(filter(None, (table.data, table.encoder, table.cut)))}", "")
    size = "" if table.texts is None else f"{table.texts:,} texts of test"
    size += "" if table.tokens is None else f" with {table.tokens:,} tokens"
    several = f"means over {table.parts} training sets" if table.parts > 1 else ""
    yield from (
        sentence + "."
        for sentence in filter(None, (", ".join(filter(None, (size, several))), *table.notes))
    )
    difference = f"difference in {facts.metric}" if facts.also else "difference"
    untuned = any(line.untuned for line in table.lines)
    columns = ["variant", facts.metric, *(["untuned"] if untuned else []), *facts.also]
    columns += ["seeds", difference, "over seeds"]
    columns += (
        ["", "seconds"] if table.tokens is not None else ["over seeds and texts", "", "seconds"]
    )
    yield from (
        "",
        f"| {' | '.join(columns)} |".replace("|  |", "| |"),
        "|---" * len(columns) + "|",
    )
    shown = (
        _cells(line, facts.also, texts=table.tokens is None, untuned=untuned)
        for line in table.lines
    )
    yield from (f"| {' | '.join(cells)} |" for cells in shown)
    yield from _amounts(table) if facts.amounts else ()
    failed: dict[str, dict[str, None]] = {}  # error -> variants
    for line in table.lines:
        for error in line.failed:
            failed.setdefault(error, {})[line.variant] = None
    if failed:
        yield from (
            "",
            *(
                f"- failed: {_cell('; '.join(where))}: {_cell(error)}"
                for error, where in failed.items()
            ),
        )


def _amounts(table: ResultTable) -> Iterator[str]:
    """Tokens of each type as predicted, means over seeds, and as they are."""
    true = next((line.amounts for line in table.lines if line.amounts), None)
    if true is None:
        return
    yield from (
        "",
        f"| tokens predicted | {' | '.join(map(_cell, true))} |",
        "|---" * (len(true) + 1) + "|",
    )
    yield f"| truth | {' | '.join(f'{amount:,.0f}' for _, amount in true.values())} |"
    for line in table.lines:
        shown = [
            f"{amount:,.0f} ({amount / max(there, 1):.0%})"
            for amount, there in line.amounts.values()
        ]
        if shown:
            yield f"| {_cell(line.variant)} | {' | '.join(shown)} |"


def _spread(scores: Sequence[float]) -> str:
    return f"{mean(scores):.4f}" + (f" ± {stdev(scores):.4f}" if len(scores) > 1 else "")


def _cells(line: Line, also: Sequence[str], *, texts: bool, untuned: bool = False) -> list[str]:
    """A row of a table; the interval over texts has a column where `texts` are what is counted."""
    scores = [_spread(line.scores) if line.scores else "failed"]
    if untuned:
        scores.append(_spread(line.untuned) if line.untuned else "")
    beside = [_spread(line.beside[name]) if line.beside.get(name) else "" for name in also]
    difference = "" if line.over_seeds is None else f"{line.over_seeds[0]:+.4f}"
    bounds = [_bounds(line.over_seeds), _bounds(line.over_texts)]
    if not texts:
        bounds.pop()
    elif line.over_texts == line.over_seeds:
        bounds[1] = ""
    seconds = "" if math.isnan(line.seconds) else f"{line.seconds:.1f}"
    count = f"{len(line.scores)}" + (f", {len(line.failed)} failed" if line.failed else "")
    return [
        _cell(line.variant),
        *scores,
        *beside,
        count,
        difference,
        *bounds,
        line.verdict,
        seconds,
    ]


def _bounds(found: Bounds | None) -> str:
    return "" if found is None or math.isinf(found[1]) else f"[{found[1]:+.4f}, {found[2]:+.4f}]"


def _flat(settings: Mapping[str, object]) -> str:
    """Nested settings in one line."""
    pairs = []
    for section, value in settings.items():
        if value == {}:  # a part that is asked for, as it is
            pairs.append(f"`{section}`")
            continue
        inner = value.items() if isinstance(value, Mapping) else [("", value)]
        pairs += [
            f"`{section}{'.' if key else ''}{key}={toml.scalar(item)}`" for key, item in inner
        ]
    return ", ".join(pairs)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
