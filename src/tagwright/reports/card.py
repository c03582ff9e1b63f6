"""The model card: README.md of the model folder. It travels with the model, so it quotes no text of
the data. Its words are in templates/card.md.j2.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import NamedTuple

import numpy as np

from tagwright.reports.facts import CardFacts, HeadFacts, PerLabel, TagFacts, Values, refitted
from tagwright.reports.figures import MEASURES, figures_of_tags
from tagwright.reports.page import (
    duration,
    metric_name,
    number,
    part_name,
    plain,
    plural,
    render,
    score_notes,
    three,
)
from tagwright.reports.tags import size_of

MOST = 30  # labels in the card's table, or named in a sentence; labels.json has them all
RARE = 10  # in train
# limits that another rule changes
BY_RULE = (
    "texts get no label",
    "Never predicted on",
    "Rare labels: macro-F1",
)
OTHERS = "Other heads"
DIGEST = ("epochs", "batch", "learning_rate", "seed")
CUTS = {
    "words": "words, signs and single characters of scripts without blanks",
    "characters": "single characters, blanks aside",
    "jieba": "Chinese words, by jieba",
    "fugashi": "Japanese words, by fugashi",
}


class Counted(NamedTuple):
    """What the table lists: labels, types of spans, or tags where these tell of no spans; counts
    are None where unknown.
    """

    what: str
    of: str
    names: Sequence[str]
    scores: PerLabel | None
    counts: Values | None
    measures: Mapping[str, str]


def model_card(facts: CardFacts) -> str:
    """Markdown: what the model is, its labels, data, training, results, decision, limits, and how
    to load it.
    """
    tags, names, texts = facts.tags, facts.label_names, facts.split_sizes
    if tags is None:
        counted = Counted(
            "label", "text", names, facts.per_label, facts.label_counts, {"f1": MEASURES["f1"]}
        )
        sizes = {name: f"{rows:,}" for name, rows in texts.items()}
        measured = plural(texts[facts.split], "text") if facts.split in texts else ""
    else:
        counted = Counted("tag", "token", names, facts.per_label, facts.label_counts, MEASURES)
        if tags.per_type is not None:
            counted = Counted("type", "span", tags.types, tags.per_type, tags.type_counts, MEASURES)
        sizes = {name: size_of(tags.tokens.get(name, 0), rows) for name, rows in texts.items()}
        measured = sizes.get(facts.split, "")
    header, *rows = _table(counted, facts.split)
    spread = np.quantile(np.asarray(facts.label_counts, float), (0, 0.5, 1))
    return render(
        "card.md.j2",
        facts=facts,
        counted=counted,
        most=MOST,
        limits=list(_limits(facts) if tags is None else _tag_limits(facts, tags, counted)),
        header=header,
        rows=rows,
        source=PurePath(facts.source).name,  # a path would tell of the machine
        sizes=sizes,
        spread=[int(count) for count in spread],
        training=list(_training(facts)),
        measured=measured,
        again=None if facts.refitted_on is None else refitted(facts.refitted_on),
        figures=figures_of_tags(facts.metrics, names) if tags is not None else (),
    )


def with_others(card: str, first: str, others: Sequence[HeadFacts]) -> str:
    """A card after the decision of a head other than the first was changed."""
    start, *sections = card.rstrip("\n").split("\n\n## ")
    kept = [section for section in sections if not section.startswith(f"{OTHERS}\n")]
    told = render("heads.md.j2", first=first, others=others)
    return "\n\n## ".join([start, *kept, f"{OTHERS}\n\n{told}"])


def recarded(card: str, decision: str, metrics: Mapping[str, float], split: str | None) -> str:
    """A card after its decision was changed: the new rule, and the figures that belong to it, if
    there are any.
    """
    results = "Not measured since the decision rule was changed; `tagwright score` does."
    if split is not None:
        rows = [f"| {metric_name(name)} | {number(value)} |" for name, value in metrics.items()]
        table = "\n".join(["| metric | value |", "| --- | ---: |", *rows])
        results = f"Measured on {plain(split)}, by the decision rule above.\n\n{table}"
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


def _limits(facts: CardFacts) -> Iterator[str]:
    """What a reader must know before trusting it, drawn from the facts alone."""
    split, counts = facts.split, np.asarray(facts.label_counts, float)
    if facts.exclusive:
        yield "Every text gets a label, also one that fits none of them."
    elif facts.nothing_predicted is not None:
        yield f"{facts.nothing_predicted:.1%} of the {split} texts get no label."
    if rare := int(np.sum(counts < RARE)):
        share = f"{plural(rare, 'label')} of {len(counts):,}"
        yield f"{share} had fewer than {RARE} texts to learn from; treat these labels as hints."
    encoder, limit = _section(facts, "encoder"), _section(facts, "fit").get("limit")
    if "long" in encoder and limit is not None:
        ends = {"head": "its beginning", "tail": "its end", "both": "its beginning and end"}
        read = f"it is read in up to {encoder['windows']} windows"
        if encoder["long"] in ends:
            read = f"only {ends[encoder['long']]} is read"
        yield f"Of a text longer than {limit} word pieces {read}."
    scored = [band for band in facts.bands or () if np.isfinite(band["macro_f1"])]
    if len(scored) > 1:
        rarest = min(scored, key=lambda band: band["to_count"])
        common = max(scored, key=lambda band: band["to_count"])
        few, texts = plural(rarest["labels"], "label"), plural(rarest["to_count"], "text")
        yield (
            f"Rare labels: macro-F1 is {rarest['macro_f1']:.3f} over {few} with at most {texts},"
            f" against {common['macro_f1']:.3f} over the most frequent ones."
        )
    if facts.per_label is not None and "support" in facts.per_label:
        present = np.asarray(facts.per_label["support"], float) > 0
        predicted = np.asarray(facts.per_label.get("predicted", np.ones(len(present))))
        if silent := int(np.sum(present & (predicted == 0))):
            yield f"Never predicted on {split}, though it has them: {plural(silent, 'label')}."
        if absent := int(np.sum(~present)):
            yield f"Not in {split}, so of unknown quality: {plural(absent, 'label')}."


def _tag_limits(facts: CardFacts, tags: TagFacts, counted: Counted) -> Iterator[str]:
    """The same of a model that tags tokens."""
    way = CUTS.get(tags.cut, plain(tags.cut))
    yield f"A text is cut into {way} (`data.cut`); tokens that are given stay as they are."
    if counted.what == "type":
        yield "Spans do not overlap, and none lies within another."
    rare = 0 if counted.counts is None else int(np.sum(np.asarray(counted.counts) < RARE))
    if rare:
        share = f"{plural(rare, counted.what)} of {len(counted.names):,}"
        yield f"{share} had fewer than {RARE} {counted.of}s to learn from; treat these as hints."
    if counted.scores is not None:
        yield from score_notes(counted.scores, what=counted.what, split=facts.split)


def _table(counted: Counted, split: str) -> Iterator[list[str]]:
    """The header, and the rows of the most frequent."""
    scores = {name: np.asarray(values) for name, values in (counted.scores or {}).items()}
    measures = counted.measures if scores else {}
    train = [] if counted.counts is None else [f"{counted.of}s in train"]
    yield [counted.what, *train, *(f"{title} on {plain(split)}" for title in measures.values())]
    frequent = scores["support"] if counted.counts is None else counted.counts
    for i in np.argsort(-np.asarray(frequent, float), kind="stable")[:MOST].tolist():
        count = [] if counted.counts is None else [f"{int(counted.counts[i]):,}"]
        yield [plain(counted.names[i]), *count, *(three(scores[name][i]) for name in measures)]


def _training(facts: CardFacts) -> Iterator[tuple[str, str]]:
    """The choices that matter most; resolved.toml has the rest."""
    for section in ("encoder", "objective", "targets"):
        if name := part_name(facts.settings, section):
            yield section, name
    encoder, fit = _section(facts, "encoder"), _section(facts, "fit")
    if encoder.get("path"):
        yield "pretrained weights", _source(str(encoder["path"]))
    for name in DIGEST:
        if name in fit and fit[name] != "":
            yield name.replace("_", " "), str(fit[name])
    if facts.seconds is not None:
        yield "time", duration(facts.seconds)
    yield from facts.versions.items()


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
