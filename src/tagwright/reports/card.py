"""The model card: README.md of the model folder. It travels with the model, so it quotes no text of
the data.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

import numpy as np

from tagwright.reports.facts import Band, CardFacts, HeadFacts, refitted
from tagwright.reports.markdown import plain, table, three
from tagwright.reports.page import duration, metric_name, number, part_name, plural
from tagwright.reports.tag_card import Own, card_of_tags

MOST_LABELS = 30  # in the card's table; labels.json has them all
RARE = 10  # texts in train
# limits that another rule changes
BY_RULE = (
    "texts get no label",
    "Never predicted on",
    "Rare labels: macro-F1",
)
FIRST = (
    "Made for texts like those it was trained on. On other kinds of text, score it first:"
    " `tagwright score`."
)
LAST = (
    "Whether it treats groups of people alike was not examined. Do so before it decides about"
    " people."
)
OTHERS = "Other heads"
SHORT = ("accuracy", "entity_f1", "micro_f1", "macro_f1")  # of another head
DIGEST = ("epochs", "batch", "learning_rate", "seed")


def model_card(facts: CardFacts) -> str:
    """Markdown: what the model is, its labels, data, training, results, decision, limits, and how
    to load it.
    """
    own = card_of_tags(facts, facts.tags) if facts.tags is not None else _of_texts(facts)
    sections = [
        (f"# {plain(facts.title)}", own.what),
        (
            "## Intended use and limits",
            "\n".join(f"- {sentence}" for sentence in (FIRST, *own.limits, LAST)),
        ),
        ("## Use", own.use),
        (own.heading, own.labels),
        ("## Data", own.data),
        ("## Training", _training(facts)),
        ("## Decision rule", plain(facts.decision)),
        ("## Results", f"{_where(facts, own.size)}\n\n{own.results}"),
        (f"## {OTHERS}", other_heads(facts.name, facts.others)),
    ]
    return "\n\n".join(f"{heading}\n\n{body}" for heading, body in sections if body) + "\n"


def _of_texts(facts: CardFacts) -> Own:
    """What the card of a model that tags whole texts says."""
    size = (
        plural(facts.split_sizes[facts.split], "text") if facts.split in facts.split_sizes else ""
    )
    return Own(
        what=_what(facts),
        limits=tuple(_limits(facts)),
        use=_use(),
        heading="## Labels",
        labels=_labels(facts),
        data=_data(facts),
        size=size,
        results=_results(facts),
    )


def other_heads(first: str, others: Sequence[HeadFacts]) -> str:
    """The heads beside the first of a model, a line each; nothing where there are none."""
    if not others:
        return ""
    rows = [
        [plain(head.name), _answers(head), plain(head.decision), _figures(head)] for head in others
    ]
    told = f"All that stands above is about the head `{first}`. The model answers with these, too:"
    return f"{told}\n\n{table(['head', 'answers', 'decision rule', 'results'], rows)}"


def _answers(head: HeadFacts) -> str:
    if head.tags_tokens:
        return f"a tag for each token, of {head.label_count:,}"
    return (
        f"{'exactly one' if head.exclusive else 'any number'} of"
        f" {plural(head.label_count, 'label')}"
    )


def _figures(head: HeadFacts) -> str:
    shown = [name for name in SHORT if name in head.metrics]
    figures = ", ".join(f"{metric_name(name)} {number(head.metrics[name])}" for name in shown)
    return (
        f"{figures} ({plain(str(head.split))})"
        if shown
        else "not measured since the rule was changed"
    )


def with_others(card: str, first: str, others: Sequence[HeadFacts]) -> str:
    """A card after the decision of a head other than the first was changed."""
    start, *sections = card.rstrip("\n").split("\n\n## ")
    kept = [section for section in sections if not section.startswith(f"{OTHERS}\n")]
    return "\n\n## ".join([start, *kept, f"{OTHERS}\n\n{other_heads(first, others)}"]) + "\n"


def recarded(card: str, decision: str, metrics: Mapping[str, float], split: str | None) -> str:
    """A card after its decision was changed: the new rule, and the figures that belong to it, if
    there are any.
    """
    results = "Not measured since the decision rule was changed; `tagwright score` does."
    if split is not None:
        rows = [[metric_name(name), number(value)] for name, value in metrics.items()]
        results = (
            f"Measured on {plain(split)}, by the decision rule"
            f" above.\n\n{table(['metric', 'value'], rows)}"
        )
    fresh = {"Decision rule": plain(decision), "Results": results}
    start, *sections = (card.rstrip("\n") or "# A text tagger made with Tagwright").split("\n\n## ")
    named = {
        section.partition("\n")[0]: section.partition("\n")[2].strip("\n") for section in sections
    }
    kept = {heading: "\n".join(_of_any_rule(body)) for heading, body in named.items()} | fresh
    return (
        "\n\n## ".join([start, *(f"{heading}\n\n{body}" for heading, body in kept.items())]) + "\n"
    )


def _of_any_rule(body: str) -> Iterator[str]:
    """The lines of a section, but for sentences about what the old rule chose; F1 per label is said
    to be of it.
    """
    for line in body.split("\n"):
        if not (line.startswith("- ") and any(words in line for words in BY_RULE)):
            yield (
                line.replace(" | F1 on ", " | F1 by the first rule on ")
                if line.startswith("| label |")
                else line
            )


def _what(facts: CardFacts) -> str:
    many = "exactly one" if facts.exclusive else "any number"
    return (
        f"A text tagger made with Tagwright. It gives a text {many} of"
        f" {plural(len(facts.label_names), 'label')}."
    )


def _limits(facts: CardFacts) -> Iterator[str]:
    """What a reader must know before trusting it, drawn from the facts alone."""
    if facts.exclusive:
        yield "Every text gets a label, also one that fits none of them."
    elif facts.nothing_predicted is not None:
        yield f"{facts.nothing_predicted:.1%} of the {facts.split} texts get no label."
    counts = np.asarray(facts.label_counts, float)
    if rare := int(np.sum(counts < RARE)):
        share = f"{plural(rare, 'label')} of {len(counts):,}"
        yield f"{share} had fewer than {RARE} texts to learn from; treat these labels as hints."
    yield from _length_limits(facts)
    yield from _tail_limits(facts)
    yield from _label_limits(facts)


def _length_limits(facts: CardFacts) -> Iterator[str]:
    """How much of a long text a pretrained encoder reads."""
    encoder, limit = _section(facts, "encoder"), _section(facts, "fit").get("limit")
    if "long" in encoder and limit is not None:
        kept = {"head": "its beginning", "tail": "its end", "both": "its beginning and end"}.get(
            str(encoder["long"])
        )
        read = (
            f"only {kept} is read" if kept else f"it is read in up to {encoder['windows']} windows"
        )
        yield f"Of a text longer than {limit} word pieces {read}."


def _tail_limits(facts: CardFacts) -> Iterator[str]:
    """How the rarest band does against the most frequent one."""
    scored = [band for band in facts.bands or () if np.isfinite(band["macro_f1"])]
    if len(scored) < 2:
        return
    rarest = min(scored, key=lambda band: band["to_count"])
    common = max(scored, key=lambda band: band["to_count"])
    yield (
        f"Rare labels: macro-F1 is {rarest['macro_f1']:.3f} over"
        f" {plural(rarest['labels'], 'label')} with at most {plural(rarest['to_count'], 'text')},"
        f" against {common['macro_f1']:.3f} over the most frequent ones."
    )


def _label_limits(facts: CardFacts) -> Iterator[str]:
    """Labels that are never predicted, and labels that nobody could test."""
    if facts.per_label is None or "support" not in facts.per_label:
        return
    present = np.asarray(facts.per_label["support"], float) > 0
    if "predicted" in facts.per_label:
        silent = int(np.sum(present & (np.asarray(facts.per_label["predicted"]) == 0)))
        if silent:
            yield (
                f"Never predicted on {facts.split}, though it has them: {plural(silent, 'label')}."
            )
    if absent := int(np.sum(~present)):
        yield f"Not in {facts.split}, so of unknown quality: {plural(absent, 'label')}."


def _use() -> str:
    return (
        "```sh\ntagwright tag path/to/this/folder texts.csv --out tagged.csv\n```\n\n"
        '```python\nfrom tagwright import load\n\ntagger = load("path/to/this/folder")\n'
        'tagger.predict(["a text", "another text"])\n```'
    )


def _labels(facts: CardFacts) -> str:
    order = np.argsort(-np.asarray(facts.label_counts, float), kind="stable")[:MOST_LABELS]
    header = ["label", "texts in train"]
    rows = [[plain(facts.label_names[i]), f"{int(facts.label_counts[i]):,}"] for i in order]
    if facts.per_label is not None:
        header.append(f"F1 on {plain(facts.split)}")
        rows = [[*row, three(facts.per_label["f1"][i])] for row, i in zip(rows, order)]
    more = len(facts.label_names) - len(order)
    rest = (
        f"\n\nAnd {more:,} rarer ones; all are in `heads/{facts.name}/labels.json`." if more else ""
    )
    return table(header, rows) + rest


def _data(facts: CardFacts) -> str:
    """The source by its name alone: a path would tell of the machine."""
    source = f"Learned from {plain(PurePath(facts.source).name)}. " if facts.source else ""
    sizes = ", ".join(f"{plain(name)} {rows:,}" for name, rows in facts.split_sizes.items())
    quantiles = np.quantile(np.asarray(facts.label_counts, float), (0, 0.5, 1))
    least, middle, most = (f"{int(count):,}" for count in quantiles)
    spread = (
        f"A label has {middle} texts of train at the median, {least} at the least, {most} at the"
        " most."
    )
    return f"{source}{f'Texts: {sizes}. ' if sizes else ''}{spread}"


def _training(facts: CardFacts) -> str:
    """The choices that matter most; resolved.toml has the rest."""
    chosen: dict[str, object] = {
        name: part_name(facts.settings, name) for name in ("encoder", "objective", "targets")
    }
    chosen_fit, encoder = _section(facts, "fit"), _section(facts, "encoder")
    if encoder.get("path"):
        chosen["pretrained weights"] = _source(str(encoder["path"]))
    chosen |= {name.replace("_", " "): chosen_fit[name] for name in DIGEST if name in chosen_fit}
    rows = [[name, plain(str(value))] for name, value in chosen.items() if value != ""]
    rows += [["time", duration(facts.seconds)]] if facts.seconds is not None else []
    rows += [[plain(name), plain(version)] for name, version in facts.versions.items()]
    return (
        table(["setting", "value"], rows) + "\n\nEvery setting is in `resolved.toml`."
        if rows
        else ""
    )


def _section(facts: CardFacts, name: str) -> Mapping[str, object]:
    """The settings of a section; none where it is a part's name."""
    found = facts.settings.get(name)
    return found if isinstance(found, Mapping) else {}


def _source(path: str) -> str:
    """A hub's owner/name as it is; of a folder its name alone, since a path would tell of the
    machine.

    >>> _source("FacebookAI/roberta-base"), _source("/home/me/own"), _source("a/b/c")
    ('FacebookAI/roberta-base', 'own', 'c')
    """
    pure = PurePath(path)
    return (
        path
        if len(pure.parts) <= 2 and not pure.is_absolute() and not path.startswith(".")
        else pure.name
    )


def _where(facts: CardFacts, size: str) -> str:
    where = (
        f"Measured on {plain(facts.split)}{f', {size}' if size else ''}, {plain(facts.convention)}"
        " convention."
    )
    if facts.split == "dev":
        where += (
            " The model was chosen by these texts; a test set it never saw gives the fairer figure."
        )
    if facts.refitted_on is not None:
        where += f" {refitted(facts.refitted_on)}"
    return where


def _results(facts: CardFacts) -> str:
    parts = [
        table(["metric", "value"], [[metric_name(k), number(v)] for k, v in facts.metrics.items()])
    ]
    if facts.bands:
        header = ["band", "labels", "texts in train", "macro-F1", "micro-F1"]
        parts.append(table(header, [_band(band) for band in facts.bands]))
    return "\n\n".join(parts)


def _band(band: Band) -> list[str]:
    span = f"{band['from_count']:,}–{band['to_count']:,}"
    return [
        plain(band["band"]),
        f"{band['labels']:,}",
        span,
        three(band["macro_f1"]),
        three(band["micro_f1"]),
    ]
