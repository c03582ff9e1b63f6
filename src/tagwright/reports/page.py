"""What pages and model cards are made of: key figures, plots, tables of scores, numbers and names
as people read them, and the rendering of a template.
"""

import base64
import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal, NamedTuple
from urllib.parse import quote

import numpy as np

from tagwright.errors import TagwrightError
from tagwright.metrics import title_of
from tagwright.reports.facts import PerLabel, Values

MOST_ROWS = 2000  # of a table: a page with 100,000 labels would not open
SPELLING = {
    " without o": " without O",
    " f1": "-F1",
    " f2": "-F2",
    "lrap": "LRAP",
    "ndcg": "nDCG",
    "hamming": "Hamming",
    "jaccard": "Jaccard",
}


class Card(NamedTuple):
    """A key figure."""

    name: str
    value: str
    note: str = ""


class Figure(NamedTuple):
    """A plot with the question it answers and, below, what to read from it."""

    title: str
    svg: str
    caption: str = ""


class Cell(NamedTuple):
    """A table cell: `value` sorts (the text, where None; NaN last), `mark` sets it apart, `page` is
    a file to open.

    `share` in [0, 1] draws a bar, `heat` in [0, 1] colors the whole cell.
    """

    text: str
    value: float | None = None
    share: float | None = None
    mark: Literal["", "alert", "best"] = ""
    heat: float | None = None
    page: str = ""


@dataclass(frozen=True, kw_only=True)
class Table:
    """`columns` are (title, explanation); rows arrive sorted by column `sorted_by`, descending
    unless `ascending`.
    """

    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[Cell]]
    sorted_by: int | None
    ascending: bool = False
    left_out: int = 0


def score_table(
    names: Sequence[str],
    scores: PerLabel,
    columns: Mapping[str, tuple[str, str]],
    *,
    what: str,
    counts: Values | None,
    counted: str,
) -> Table:
    """A row for each of `names`, the most frequent in train first, or in `scores` where `counts`
    (L,) are None.

    `columns` are the scores that are shown, in their order: title and a line on each; `counted` is
    that on the counts.
    """
    arrays = {name: np.asarray(values, np.float64) for name, values in scores.items()}
    present = [name for name in columns if name in arrays]
    frequent = np.asarray(arrays["support"] if counts is None else counts, np.float64)
    rows = []
    for i in np.argsort(-frequent, kind="stable")[:MOST_ROWS].tolist():
        cells = [Cell(names[i])]
        if counts is not None:
            cells.append(Cell(number(int(frequent[i])), int(frequent[i])))
        for name in present:
            value = arrays[name][i].item()
            if np.isnan(value):
                cells.append(Cell("–", -1.0))  # sorts below everything
            elif name in ("support", "predicted"):
                alert = name == "predicted" and value == 0
                cells.append(Cell(number(int(value)), value, mark="alert" if alert else ""))
            else:
                cells.append(Cell(f"{value:.3f}", value, share=value if name == "f1" else None))
        rows.append(cells)
    train = [] if counts is None else [("train", counted)]
    return Table(
        columns=[(what, ""), *train, *(columns[name] for name in present)],
        rows=rows,
        sorted_by=1 + present.index("support") if counts is None else 1,
        left_out=len(names) - len(rows),
    )


def score_notes(scores: PerLabel, *, what: str, split: str) -> list[str]:
    """Sentences on what is never predicted, and on what nobody could test."""
    support = np.asarray(scores.get("support", np.ones(len(scores["f1"]))), float)
    notes = []
    if "predicted" in scores and (
        silent := int(np.sum((np.asarray(scores["predicted"]) == 0) & (support > 0)))
    ):
        notes.append(f"Never predicted though {split} has them: {plural(silent, what)}.")
    if absent := int(np.sum(support == 0)):
        notes.append(f"Not in {split}, so of unknown quality: {plural(absent, what)}.")
    return notes


def render(template: str, **context: object) -> str:
    """The page or card of a template; a name the template uses and `context` lacks is an error.

    jinja2 escapes all of a page except the plots (their renderer escapes) and the package's own
    style and script. A card is escaped by the filter `plain`.
    """
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
        from markupsafe import Markup
    except ImportError as error:
        raise TagwrightError(
            f"a report needs {error.name}; pip install altair vl-convert-python jinja2"
        ) from error
    environment = Environment(
        loader=PackageLoader("tagwright", "reports/templates"),
        autoescape=template.endswith(".html.j2"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": number,
        "duration": duration,
        "excerpt": excerpt,
        "metric": metric_name,
        "plural": plural,
        "sortable": sortable,
        "address": address,
        "plain": plain,
        "three": three,
    }
    templates = files("tagwright.reports") / "templates"
    style, script = (
        (templates / name).read_text(encoding="utf-8") for name in ("style.css", "script.js")
    )
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    environment.globals |= {
        "style": Markup(style),
        "script": Markup(script),
        "script_hash": digest,
    }
    return environment.get_template(template).render(**context)


def number(value: float | None) -> str:
    """A figure as people read it; NaN and None are a dash.

    >>> [number(v) for v in (0.51239, 1234567, 12.345, 0.00423, float("nan"), -0.25)]
    ['0.512', '1,234,567', '12.3', '0.0042', '–', '−0.250']
    """
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    whole = isinstance(value, int) or (abs(value) > 1 and float(value).is_integer())
    return f"{value:,.{0 if whole else decimals(value)}f}".replace("-", "−")


def decimals(value: float) -> int:
    """How many decimals a figure of this size deserves."""
    steps = ((10, 1), (0.1, 3), (0.001, 4))
    found = next((places for least, places in steps if abs(value) >= least), 6)
    return found if value else 3


def duration(seconds: float | None) -> str:
    """Time in the two largest units.

    >>> [duration(s) for s in (0.42, 59.6, 75, 3 * 3600 + 125, None)]
    ['0.4 s', '1 min', '1 min 15 s', '3 h 2 min', '–']
    """
    if seconds is None or not math.isfinite(seconds):
        return "–"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    units = [(whole // 3600, "h"), (whole // 60 % 60, "min"), (whole % 60, "s")]
    first = next(i for i, (amount, _) in enumerate(units) if amount)
    return " ".join(f"{amount} {unit}" for amount, unit in units[first : first + 2] if amount)


def size(amount: float | None) -> str:
    """Bytes as people read them.

    >>> [size(n) for n in (812, 40_500_000, 3_221_225_472, None)]
    ['812 B', '40.5 MB', '3.2 GB', '–']
    """
    if amount is None or not math.isfinite(amount):
        return "–"
    thousands = next((power for power in (0, 1, 2) if amount < 999.95 * 1000**power), 3)
    return f"{amount / 1000**thousands:.{min(thousands, 1)}f} {('B', 'kB', 'MB', 'GB')[thousands]}"


def sortable(value: float) -> str:
    """A number as the page's script reads it; NaN is empty, and goes last.

    >>> sortable(0.5), sortable(float("-inf")), sortable(float("nan"))
    ('0.5', '-Infinity', '')
    """
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return "" if math.isnan(value) else str(value)


def address(path: str) -> str:
    """The address of a file beside the page; whatever it is called, it leads nowhere else.

    >>> address("runs/a b.html"), address("javascript:alert(1)")
    ('./runs/a%20b.html', './javascript%3Aalert%281%29')
    """
    return "./" + quote(path, errors="replace")


def excerpt(text: str, limit: int = 280) -> str:
    """The text on one line, cut after `limit` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def metric_name(name: str) -> str:
    """A metric's name for people.

    >>> metric_name("micro_f1"), metric_name("hamming_loss")
    ('micro-F1', 'Hamming loss')
    """
    if title := title_of(name):
        return title
    words = name.replace("_", " ")
    for plain, proper in SPELLING.items():
        words = words.replace(plain, proper)
    return words


def plural(count: int, word: str) -> str:
    """A count with its noun.

    >>> plural(1, "label"), plural(1200, "label")
    ('1 label', '1,200 labels')
    """
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def part_name(settings: Mapping[str, object] | None, section: str) -> str:
    """The name of the part a section chose, "" where the settings do not say."""
    chosen = (settings or {}).get(section, "")
    return str(chosen.get("name", "")) if isinstance(chosen, Mapping) else str(chosen)


def three(value: float) -> str:
    """Three decimals; a dash for what is undefined."""
    return "–" if np.isnan(value) else f"{value:.3f}"


def plain(text: str) -> str:
    r"""The text on one line, with no meaning in Markdown or HTML.

    >>> plain("a|b *c*\n<i>")
    'a\\|b \\*c\\* &lt;i>'
    """
    line = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([\\`*\[\]|#~])", r"\\\1", line)
