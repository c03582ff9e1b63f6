"""The report of `tagwright check`: an audit as a page."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Literal, NamedTuple, TypedDict

from tagwright.reports import plots
from tagwright.reports.page import MOST_ROWS, Card, Cell, Figure, Table, number, plural, render
from tagwright.reports.plots import INK, PALETTE, chart_of_rows, draw, load_altair, names_axis
from tagwright.reports.short_names import short_names

TASKS = {
    "one": "exactly one label",
    "many": "any number of labels",
    "tokens": "a tag for every token",
    "both": "labels of texts, tags of tokens",
}


Counted = Literal["rows", "unlabelled", "empty_texts", "cardinality", "density", "without_label"]


class Part(TypedDict):
    """A split, its quantiles by their names."""

    name: str
    rows: int
    unlabelled: int
    empty_texts: int
    characters: Mapping[str, int]
    words: Mapping[str, int]
    cardinality: float
    density: float
    without_label: float


class LabelRows(TypedDict):
    """Rows of every split that carry a label."""

    name: str
    rows: Mapping[str, int]


class Tail(TypedDict, total=False):
    """How uneven the labels are."""

    rare: int
    rare_share: float
    gini: float
    head: int


class Together(TypedDict):
    """Two labels that stand on the same rows."""

    left: str
    right: str
    rows: int
    lift: float


class Place(TypedDict):
    """A text, and the rows of each split where it stands."""

    text: str
    rows: Mapping[str, Sequence[int]]


class Copied(TypedDict):
    """Texts that stand in several places."""

    texts: int
    examples: Sequence[Place]


class Copies(Copied):
    """Those of one split."""

    split: str
    surplus: int


class Leak(Copied):
    """Those of two splits."""

    first: str
    second: str


class LookAlike(TypedDict):
    """Two labels with similar texts."""

    left: str
    right: str
    similarity: float
    together: float
    left_text: str
    right_text: str


class AuditFacts(TypedDict, total=False):
    """`tagwright.analysis.audit.Audit`, as plain values."""

    source: str
    found: Sequence[str]
    task: str
    parts: Sequence[Part]
    labels: Sequence[LabelRows]
    tail: Tail
    together: Sequence[Together]
    copies: Sequence[Copies]
    leaks: Sequence[Leak]
    conflicts: Copied
    unseen: Mapping[str, Mapping[str, int]]
    look_alikes: Sequence[LookAlike]
    separator: str | None
    groups: Mapping[str, Sequence[str]]
    warnings: Sequence[str]


class Finding(NamedTuple):
    """Something to look at: what it is about, a figure, and texts as (where, text)."""

    about: str
    figure: str
    texts: list[tuple[str, str]]


def check_report(facts: AuditFacts, *, title: str | None = None) -> str:
    """One self-contained HTML page of `audit(…).as_dict()`. What the dictionary lacks or leaves
    empty is left out.
    """
    parts, labels = facts.get("parts") or (), facts.get("labels") or ()
    tagged = facts.get("task") == "tokens"
    noun, unit = ("tag", "token") if tagged else ("label", "word")
    unseen = facts.get("unseen") or {}
    return render(
        "check.html.j2",
        title=title or PurePath(facts.get("source") or "Data check").name,
        noun=noun,
        lead=_lead(facts),
        read_as=facts.get("found") or (),
        cards=_cards(facts, noun),
        warnings=facts.get("warnings") or (),
        lengths=_lengths(parts, unit) if parts else None,
        parts_table=_part_table(parts, noun) if parts else None,
        tail=_tail(labels, facts.get("tail") or {}, noun) if labels else None,
        label_table=_label_table(labels, parts, noun) if labels else None,
        together=_together_table(facts["together"]) if facts.get("together") else None,
        copies=list(_copies(facts)),
        unseen=_unseen_table(unseen, noun) if any(unseen.values()) else None,
        look_alikes=[_look_alike(pair) for pair in facts.get("look_alikes") or ()],
        groups=facts.get("groups") or {},
    )


def _lead(facts: AuditFacts) -> str:
    rows = sum(part["rows"] for part in facts.get("parts") or ())
    texts = plural(rows, "text") if rows else "Texts"
    return f"{texts}, each with {TASKS.get(facts.get('task', ''), 'labels')}."


def _cards(facts: AuditFacts, noun: str) -> list[Card]:
    """The figures of the split to learn from, and how many texts stand in two splits."""
    beside = "O aside" if noun == "tag" else ""
    without = "without a label" if noun == "label" else "only O"
    cards = [Card(f"{noun}s", f"{len(facts['labels']):,}", beside)] if facts.get("labels") else []
    if parts := facts.get("parts"):
        part = next((one for one in parts if one["name"] == "train"), parts[0])
        cards.append(
            Card(
                f"{noun}s a text",
                number(float(part["cardinality"])),
                f"on average in {part['name']}",
            )
        )
        cards.append(
            Card(without, f"{part['without_label']:.1%}", f"of the texts of {part['name']}")
        )
    if tail := facts.get("tail"):
        cards.append(
            Card(
                f"rare {noun}s",
                f"{tail['rare']:,}",
                f"{tail['rare_share']:.0%} have under 10 texts",
            )
        )
        cards.append(Card("unevenness", number(float(tail["gini"])), "Gini, from 0 to 1"))
    if facts.get("leaks"):
        cards.append(
            Card(
                "leaks", f"{sum(leak['texts'] for leak in facts['leaks']):,}", "texts in two splits"
            )
        )
    return cards


def _lengths(parts: Sequence[Part], word: str) -> Figure:
    svg = ranges(
        [part["name"] for part in parts],
        [part["words"] for part in parts],
        title=f"{word}s of a text",
    )
    longest = max(part["words"]["most"] for part in parts)
    caption = (
        f"Where four of five texts lie, and the median. The longest has {plural(longest, word)}."
    )
    return Figure("How long are the texts?", svg, caption)


def ranges(names: Sequence[str], spans: Sequence[Mapping[str, float]], *, title: str) -> str:
    """A bar from the tenth to the ninetieth percentile of each name, with a stroke and a number at
    the median.
    """
    alt = load_altair()
    rows = [
        {
            "name": name,
            "low": float(span["tenth"]),
            "middle": float(span["median"]),
            "high": float(span["ninetieth"]),
        }
        for name, span in zip(short_names(names), spans)
    ]
    x = alt.X(
        "low:Q", title=title, axis=alt.Axis(tickCount=5), scale=alt.Scale(zero=True, nice=True)
    )
    base = chart_of_rows(alt).encode(y=names_axis(alt))
    bar = base.mark_bar(color=PALETTE[0], opacity=0.3, size=16).encode(x=x, x2="high:Q")
    middle = base.mark_tick(color=PALETTE[0], thickness=3, size=22, opacity=1).encode(x="middle:Q")
    label = alt.Text("middle:Q", format=",~r")
    text = base.mark_text(align="left", dx=6, color=INK, fontSize=12).encode(
        x="middle:Q", text=label
    )
    return draw(alt.layer(bar, middle, text), rows, height=36 * len(rows) + 70)


def _part_table(parts: Sequence[Part], noun: str) -> Table:
    of_tags = {"unlabelled": "untagged", "without_label": "only O"} if noun == "tag" else {}
    helps: dict[Counted, str] = {
        "rows": "",
        "unlabelled": f"texts nobody has given {noun}s",
        "empty_texts": "",
        "cardinality": f"different {noun}s of such a text, on average",
        "density": f"cardinality as a share of all {noun}s",
        "without_label": f"share of the texts with {noun}s that have none"
        + (" but O" if of_tags else ""),
    }
    columns = [
        ("split", ""),
        *((of_tags.get(key, key.replace("_", " ")), words) for key, words in helps.items()),
    ]
    columns.append(("characters", "of a text, at the median"))
    rows = []
    for part in parts:
        figures = [*(part[key] for key in helps), part["characters"]["median"]]
        rows.append([Cell(part["name"]), *(Cell(number(figure), figure) for figure in figures)])
    return Table(columns=columns, rows=rows, sorted_by=None)


def _tail(labels: Sequence[LabelRows], tail: Tail, noun: str) -> Figure:
    splits = list(labels[0]["rows"])
    learned = "train" if "train" in splits else splits[0]
    counts = [label["rows"].get(learned, 0) for label in labels]
    half = (
        f"Half of all {noun} marks fall on {plural(tail['head'], noun)} of {len(labels):,}."
        if "head" in tail
        else ""
    )
    svg = plots.long_tail([label["name"] for label in labels], counts, title=f"texts of {learned}")
    return Figure(f"How often does each {noun} come?", svg, half)


def _label_table(labels: Sequence[LabelRows], parts: Sequence[Part], noun: str) -> Table:
    splits = [part["name"] for part in parts] or list(labels[0]["rows"])
    rows = [
        [
            Cell(label["name"]),
            *(Cell(number(label["rows"].get(s, 0)), label["rows"].get(s, 0)) for s in splits),
        ]
        for label in labels[:MOST_ROWS]
    ]
    columns = [(noun, ""), *((split, f"texts of {split}") for split in splits)]
    return Table(columns=columns, rows=rows, sorted_by=1, left_out=len(labels) - len(rows))


def _together_table(pairs: Sequence[Together]) -> Table:
    most = max(pair["lift"] for pair in pairs) or 1.0
    rows = [
        [
            Cell(f"{pair['left']} + {pair['right']}"),
            Cell(number(pair["rows"]), pair["rows"]),
            Cell(f"{pair['lift']:.1f} ×", pair["lift"], share=pair["lift"] / most),
        ]
        for pair in pairs
    ]
    columns = [
        ("labels", ""),
        ("texts", "with both"),
        ("lift", "times as often as chance would have it"),
    ]
    return Table(columns=columns, rows=rows, sorted_by=None)


def _copies(facts: AuditFacts) -> Iterator[Finding]:
    """Leaks between splits first, then texts whose labels disagree, then copies within a split."""
    for leak in facts.get("leaks") or ():
        if leak["texts"]:
            yield Finding(
                f"In both {leak['first']} and {leak['second']}",
                plural(leak["texts"], "text"),
                _examples(leak),
            )
    conflicts = facts.get("conflicts")
    if conflicts and conflicts.get("texts"):
        yield Finding(
            "The same text with different labels",
            plural(conflicts["texts"], "text"),
            _examples(conflicts),
        )
    for copy in facts.get("copies") or ():
        if copy["texts"]:
            figure = f"{plural(copy['texts'], 'text')}, {plural(copy['surplus'], 'row')} too many"
            yield Finding(f"More than once in {copy['split']}", figure, _examples(copy))


def _examples(found: Copied) -> list[tuple[str, str]]:
    return [
        (
            "; ".join(
                f"{split} {', '.join(map(str, rows))}" for split, rows in example["rows"].items()
            ),
            example["text"],
        )
        for example in found.get("examples") or ()
    ]


def _unseen_table(unseen: Mapping[str, Mapping[str, int]], noun: str) -> Table:
    rows = [
        [Cell(label), Cell(split), Cell(number(count), count)]
        for split, counts in unseen.items()
        for label, count in counts.items()
    ]
    return Table(
        columns=[(noun, ""), ("split", ""), ("texts", "")], rows=rows[:MOST_ROWS], sorted_by=None
    )


def _look_alike(pair: LookAlike) -> Finding:
    texts = [(pair["left"], pair["left_text"]), (pair["right"], pair["right_text"])]
    figure = f"similarity {pair['similarity']:.2f}, together {pair['together']:.0%}"
    return Finding(f"{pair['left']} and {pair['right']}", figure, texts)
