"""Facts of made-up runs, and a reader that sees a page as a browser would."""

from collections.abc import Callable
from html.parser import HTMLParser

import numpy as np
import pytest

from tagwright.reports import FitFacts

VOID = {"meta", "link", "br", "img", "input", "hr", "source", "base"}


class Page(HTMLParser):
    """Every tag with its attributes and every piece of text; `faults` are tags that do not close in
    order.
    """

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.faults: list[str] = []
        self.feed(html)
        self.close()
        self.faults += [f"never closed: {tag}" for tag in self.open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data: str) -> None:
        self.texts.append((self.open[-1] if self.open else "", data))

    def named(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of every such tag."""
        return [attributes for name, attributes in self.tags if name == tag]

    def ids(self) -> list[str]:
        """All ids, in order."""
        return [attributes["id"] or "" for _, attributes in self.tags if "id" in attributes]

    def text(self, inside: str | None = None) -> str:
        """All text, or that directly inside one kind of tag, joined by line breaks."""
        return "\n".join(data for tag, data in self.texts if inside in (None, tag) and data.strip())


@pytest.fixture(scope="session")
def read_page() -> Callable[[str], Page]:
    return Page


@pytest.fixture(scope="session")
def make_fit() -> Callable[..., FitFacts]:
    """A whole run over `labels` labels; keyword arguments replace facts."""

    def make(labels: int = 5, *, exclusive: bool = False, **changes: object) -> FitFacts:
        random = np.random.default_rng(labels)
        counts = np.maximum(1, 3000 / (1 + np.arange(labels)) ** 1.2).astype(int)
        random.shuffle(counts)
        scores = {name: random.random(labels) for name in ("precision", "recall", "f1")}
        scores |= {"support": counts // 10, "predicted": counts // 9}
        if not exclusive:
            scores["threshold"] = random.random(labels)
        steps = np.linspace(0.05, 0.95, 19)
        facts: dict[str, object] = {
            "title": "Shop pages",
            "label_names": [f"label {i}" for i in range(labels)],
            "label_counts": counts,
            "exclusive": exclusive,
            "metrics": {"accuracy": 0.871}
            if exclusive
            else {"micro_f1": 0.7413, "macro_f1": 0.6127, "lrap": 0.8},
            "settings": {"objective": "zlpr", "fit": {"epochs": 3.0}, "encoder": {"name": "cnn"}},
            "data_found": ["Text: column body."],
            "split_sizes": {"train": 4321, "dev": 543},
            "dropped": {"empty text": 7},
            "history": [
                {"step": 10 * i, "loss": 1 / i, "score": 0.5 + 0.04 * i} for i in range(1, 8)
            ],
            "watched": "lrap",
            "best_step": 70,
            "per_label": scores,
            "bands": [
                {
                    "band": "head",
                    "labels": 2,
                    "from_count": 90,
                    "to_count": 3000,
                    "macro_f1": 0.8,
                    "micro_f1": 0.9,
                },
                {
                    "band": "tail",
                    "labels": 3,
                    "from_count": 1,
                    "to_count": 89,
                    "macro_f1": 0.3,
                    "micro_f1": np.nan,
                },
            ],
            "threshold_curve": None
            if exclusive
            else {
                "thresholds": steps,
                "micro_f1": 1 - steps,
                "macro_f1": steps / 2,
                "chosen": 0.35,
            },
            "confused": [
                {
                    "true": "label 0",
                    "chosen": "label 1",
                    "count": 9,
                    "examples": ["a text", "another"],
                }
            ],
            "calibration": {"centers": steps, "observed": steps**2, "counts": np.arange(19)},
            "seconds": 75.0,
            "versions": {"tagwright": "0.1.0"},
            "warnings": ["Few texts."],
            "card": "# Card",
        }
        return FitFacts(**{**facts, **changes})  # type: ignore[arg-type]

    return make
