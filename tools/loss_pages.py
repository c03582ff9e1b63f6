"""Writes `docs/losses/`: a page and a plot per loss, and the table in its README (`make pages`)."""

import inspect
import re
from collections.abc import Sequence
from doctest import DocTestParser
from importlib import import_module
from pathlib import Path
from textwrap import fill
from typing import NamedTuple

import numpy as np
import torch

from tagwright import registry
from tagwright.arrays import Floats
from tagwright.errors import TagwrightError
from tagwright.losses._call import Loss
from tagwright.losses._module import LossModule
from tagwright.reports.picture import as_file
from tagwright.reports.plots import MUTED, PALETTE, WIDTH, chart_of_rows, draw, load_altair

FOLDER = Path("docs", "losses")
HEADER = "<!-- made by `make pages` from the docstrings; a test holds it current -->\n"
TABLE = ("<!-- table made by `make pages` -->\n", "<!-- end of table -->\n")
PAPERS = {
    "ZLPR": "https://arxiv.org/abs/2208.02955",
    "BAT": "https://arxiv.org/abs/2206.07264",
    "KWLS": "https://aclanthology.org/2022.coling-1.193",
    "WSABIE": "https://www.ijcai.org/Abstract/11/460",
    "Kobayashi, CVPR 2023": (
        "https://openaccess.thecvf.com/content/CVPR2023/html/"
        "Kobayashi_Two-Way_Multi-Label_Loss_CVPR_2023_paper.html"
    ),
}
TASKS = {
    "one": "one label a text",
    "many": "any number of labels a text",
    "tokens": "tags of tokens",
}
LINKS = {
    "sigmoid": "a probability is σ(s)",
    "sigmoid2": "a probability is σ(2s)",
    "softmax": "the probabilities are softmax(s)",
    "threshold_class": "a probability is σ(s − t), t the logit of the threshold",
    "none": "logits give an order only; `fit` makes probabilities with a line fitted on dev",
}
NOTATION = (
    "s is a logit and y its target; k runs over all labels of a text, i over its gold labels, j"
    " over the others; σ(s) = 1 / (1 + e^(−s))."
)
READING = (
    "Above: the loss as one logit moves. Below: its gradient; where that is negative a training"
    " step raises the logit, where it is positive the step lowers it, and where it is 0 the loss"
    " leaves the logit alone."
)
PANEL = 190  # height of each of the two
POINTS = np.linspace(-8, 8, 97)
SHOWN = (-4.0, -2.0, 0.0, 2.0, 4.0)  # in the table of a page
CASES = {"gold": True, "not gold": False}
FIXED = (1.0, -1.0, -1.0)  # logits of the three labels that do not move
COUNTS = (10, 40, 25, 25)  # texts of each label, of 100
# of a batch: logit and truth of the label that moves
MORE_TEXTS = (
    (1.0, True),
    (-1.0, False),
    (-1.0, False),
)


class Text(NamedTuple):
    """A loss's docstring taken apart."""

    words: str
    formula: str
    cost: str
    example: str


class Described(NamedTuple):
    """One loss: its name, function, module, and docstring."""

    name: str
    function: Loss
    module: type[LossModule]
    summary: str
    text: Text


def described(name: str) -> Described:
    """What the loss of this name says of itself."""
    part = registry.find(registry.LOSSES, name)
    function = getattr(import_module(f"tagwright.losses.{name}"), name)
    return Described(
        name,
        function,
        part.factory,
        part.summary,
        taken_apart(name, inspect.getdoc(function) or ""),
    )


def taken_apart(name: str, docstring: str) -> Text:
    """Words, formula, cost and example of a docstring; without `Formula:` and `Cost:` lines it is
    an error.
    """
    words, _, example = docstring.partition("\n\n>>> ")
    found = re.fullmatch(r"(.*?)\nFormula: (.*?)\nCost: (.*)", words, re.DOTALL)
    if not found or not example:
        raise TagwrightError(
            f"the docstring of {name} wants a line Formula:, a line Cost: and then an example"
        )
    return Text(found[1], found[2], found[3], f">>> {example}")


def page(name: str) -> str:
    """The Markdown page of a loss."""
    loss = described(name)
    signatures = [_wrapped(f.__name__ + _signature(f)) for f in (loss.function, loss.module)]
    sections = [
        f"{HEADER}# {name}",
        linked(loss.summary),
        f"```text\n{loss.text.formula}\n```",
        NOTATION,
        loss.text.words,
        f"Cost: {loss.text.cost}",
        f"![Loss and gradient of {name} over the logit of one label]({name}.svg)",
        f"{READING} {surroundings(loss.module)}",
        _numbers(name),
        "## Call",
        "```text\n{}\n```".format("\n".join(signatures)),
        f"`{loss.module.__name__}`: {inspect.getdoc(loss.module)}",
        (
            "The module is called like the function, and takes `example_weight` too: "
            "[what all losses share](README.md#what-all-losses-share)."
        ),
        f"```python\n{_code(loss)}```",
        "## What it declares",
        _declared(loss.module),
        "[All losses](README.md)",
    ]
    return "\n\n".join(sections) + "\n"


def table() -> str:
    """All losses, a row each, in Markdown."""
    lines = [
        "| loss | module | what | link | tasks | soft | sparse | batchwise | cost |",
        "|" + "---|" * 9,
    ]
    for loss in map(described, registry.built_in("losses")):
        module, cost = loss.module, loss.text.cost.partition(":")[0].rstrip(".")
        what = re.sub(r" \([^ )]*(arxiv|doi)\.org[^ )]*\)", "", loss.summary)
        flags = (module.soft, module.sparse, module.batchwise)
        cells = [
            f"[{loss.name}]({loss.name}.md)",
            f"`{module.__name__}`",
            what,
            module.link,
            " ".join(module.tasks),
        ]
        lines.append(f"| {' | '.join([*cells, *map(_yes, flags), cost])} |")
    return "\n".join(lines) + "\n"


def with_table(readme: str) -> str:
    """The README with its table made anew."""
    before, start, rest = readme.partition(TABLE[0])
    _, end, after = rest.partition(TABLE[1])
    if not end:
        raise TagwrightError(
            f"{FOLDER / 'README.md'} wants the lines {TABLE[0].strip()} and {TABLE[1].strip()}"
        )
    return before + start + table() + end + after


def linked(text: str) -> str:
    """Text with its papers as links: addresses, and the names of `PAPERS`.

    >>> linked("eq. 2 (arxiv.org/abs/1708.02002)")
    'eq. 2 ([arXiv 1708.02002](https://arxiv.org/abs/1708.02002))'
    """
    for name, address in PAPERS.items():
        if (
            address.removeprefix("https://") not in text
        ):  # else the address beside the name becomes the link
            text = re.sub(rf"\b{name}\b", f"[{name}]({address})", text)
    text = re.sub(
        r"(?<![/\w])arxiv\.org/abs/([\d.]+\d)", r"[arXiv \1](https://arxiv.org/abs/\1)", text
    )
    return re.sub(r"(?<![/\w])doi\.org/([^\s)]+)", r"[doi \1](https://doi.org/\1)", text)


def curve(
    name: str, points: Sequence[float] | Floats, *, gold: bool
) -> tuple[list[float], list[float]]:
    """The loss, with its default settings, and its gradient at each logit of the label that moves.

    >>> curve("bce", [0.0], gold=True)[1]
    [-0.5]
    """
    loss = registry.build(registry.LOSSES, name, {}, label_counts=COUNTS, row_count=100)
    values, gradients = [], []
    for point in points:
        logits, target = _scene(loss, float(point), gold)
        value = loss(logits.requires_grad_(), target)
        values.append(value.item())
        gradients.append(torch.autograd.grad(value, logits)[0][0, 0].item())
    return values, gradients


def _scene(loss: LossModule, point: float, gold: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits and target of the text with the label that moves, and of the batch around it where the
    loss needs one.
    """
    texts = ((point, gold), *(MORE_TEXTS if loss.batchwise else ()))
    logits = [[logit, *FIXED, *[0.0] * loss.extra_logits] for logit, _ in texts]
    rival = [not (own and loss.link == "softmax") for _, own in texts]
    target = [[own, other, False, False] for (_, own), other in zip(texts, rival)]
    return torch.tensor(logits, dtype=torch.float64), torch.tensor(target)


def surroundings(module: type[LossModule]) -> str:
    """What stands around the label that moves, in words."""
    rival = (
        "one at 1, which is gold where the moving one is not"
        if module.link == "softmax"
        else "a gold one at 1"
    )
    words = (
        f"Settings are the defaults. The text has four labels: the one that moves, {rival}, and two"
        " others at −1."
    )
    if module.extra_logits:
        words += " The threshold's logit is 0."
    if "label_counts" in registry.asked(module):
        words += " Of 100 texts {}, {}, {} and {} have these labels.".format(*COUNTS)
    if module.batchwise:
        words += (
            " Three more texts are in the batch, with the label at 1 (gold), at −1 and at −1 (not"
            " gold)."
        )
    return words


def plot(name: str) -> str:
    """Loss and gradient over the logit of one label, one above the other, as an SVG file."""
    curves = {case: curve(name, POINTS, gold=gold) for case, gold in CASES.items()}
    upper, lower = (
        _panel([(case, both[which]) for case, both in curves.items()], title, legend=which == 0)
        for which, title in enumerate(("loss", "gradient"))
    )
    lower = lower.replace("<svg ", f'<svg y="{PANEL}" ', 1)
    title = f"{name}: loss and gradient over the logit of one label"
    return as_file(upper + lower, width=WIDTH, height=2 * PANEL, title=title)


def _panel(series: Sequence[tuple[str, list[float]]], title: str, *, legend: bool) -> str:
    alt = load_altair()
    rows = [
        {"name": name, "x": round(float(x), 3), "y": round(y, 4)}
        for name, ys in series
        for x, y in zip(POINTS, ys)
    ]
    shown = alt.Legend(
        orient="top", title=None, symbolType="stroke", symbolStrokeWidth=3, symbolSize=400, offset=4
    )
    key, names = shown if legend else None, list(CASES)
    axis = alt.Axis(title=title, tickCount=4, minExtent=44, maxExtent=44)
    across = alt.Axis(
        title=None if legend else "logit of the label",
        values=list(range(-8, 9, 2)),
        labelFlush=False,
    )
    lines = chart_of_rows(alt).encode(
        x=alt.X("x:Q", axis=across, scale=alt.Scale(domain=[-8, 8], nice=False)),
        y=alt.Y("y:Q", axis=axis, scale=alt.Scale(zero=True, nice=True)),
        color=alt.Color("name:N", scale=alt.Scale(domain=names, range=PALETTE), legend=key),
        strokeDash=alt.StrokeDash(
            "name:N", scale=alt.Scale(domain=names, range=[[1, 0], [6, 3]]), legend=key
        ),
    )
    zero = alt.Chart(alt.Data(values=[{"y": 0}])).mark_rule(color=MUTED).encode(y="y:Q")
    return draw(alt.layer(zero, lines.mark_line(strokeWidth=2.5)), rows, height=PANEL)


def _numbers(name: str) -> str:
    """The curves at a few logits, as a table."""
    columns = [curve(name, SHOWN, gold=gold) for gold in CASES.values()]
    lines = ["| logit | loss, gold | gradient | loss, not gold | gradient |", "|" + "---:|" * 5]
    for number, logit in enumerate(SHOWN):
        cells = [
            f"{both[number]:.4f}".replace("-0.0000", "0.0000") for case in columns for both in case
        ]
        lines.append(f"| {logit:g} | {' | '.join(cells)} |")
    return "\n".join(lines).replace("-", "−").replace("−−−:", "---:")


def _declared(module: type[LossModule]) -> str:
    rows = {
        "link": f"`{module.link}`: {LINKS[module.link]}",
        "tasks": ", ".join(TASKS[task] for task in module.tasks),
        "soft targets": _yes(module.soft),
        "sparse targets": _yes(module.sparse),
        "looks at the whole batch": _yes(module.batchwise),
        "logits beside the labels'": str(module.extra_logits),
        "saturates": module.saturates or "no",
    }
    return "\n".join(
        ["| | |", "|---|---|", *(f"| {key} | {value} |" for key, value in rows.items())]
    )


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _wrapped(code: str) -> str:
    """Code in lines that a page shows whole."""
    return fill(code, 96, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def _signature(function: Loss | type[LossModule]) -> str:
    """Names and defaults, without types."""
    own = inspect.signature(function)
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in own.parameters.values()]
    return str(inspect.Signature(bare))


def _code(loss: Described) -> str:
    """The docstring's example as a program, with what it shows as comments."""
    lines = ["import torch\n", f"from tagwright.losses import {loss.name}\n", "\n"]
    for example in DocTestParser().get_examples(loss.text.example):
        if example.source.strip() != "import torch":
            lines.append(example.source)
            lines += [f"# {line}\n" for line in example.want.splitlines()]
    return "".join(lines)


def write(folder: Path) -> None:
    """Every page and plot, and the table of the README that is there."""
    for name in registry.built_in("losses"):
        (folder / f"{name}.md").write_text(page(name), encoding="utf-8")
        (folder / f"{name}.svg").write_text(plot(name), encoding="utf-8")
    readme = folder / "README.md"
    readme.write_text(with_table(readme.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    write(FOLDER)
