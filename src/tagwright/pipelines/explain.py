"""Attention between the labels of a trained model, beside their correlation in the data."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypedDict, Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_array

from tagwright.arrays import Bools, Floats, Ints
from tagwright.data import Data
from tagwright.data.readers.by_suffix import read_file
from tagwright.data.source import locate
from tagwright.data.stream import texts_of
from tagwright.errors import DataError, SettingsError, some, unknown
from tagwright.explain.attention import depth_of, label_attention, layers_named
from tagwright.explain.correlation import alike_order, label_correlation, likeness
from tagwright.inference import model_folder
from tagwright.inference.data_for_model import own_columns, read_for_model
from tagwright.inference.model import Model
from tagwright.labels.space import LabelSpace
from tagwright.reports.attention import attention_report
from tagwright.reports.facts import AttentionFacts
from tagwright.storage.files import write_text

TEXTS = 4000  # beyond, a mean of attention hardly moves
MOST = 40  # labels that a heat map has room for


class AttentionAsked(TypedDict, total=False):
    """What may be asked of the attention between labels: see `attention_facts`."""

    layers: str
    texts: int | None
    labels: Sequence[str]
    split: str | None
    told: Callable[[int, int], None]


def explain_folder(
    folder: Path,
    source: str,
    *,
    out: Path | None = None,
    overwrite: bool = False,
    device: str = "auto",
    plugins: bool = False,
    columns: Mapping[str, str | None] | None = None,
    **asked: Unpack[AttentionAsked],
) -> AttentionFacts:
    """Load a model, read the data, look at the attention between its labels; with `out` also write
    the page.
    """
    if out is not None and out.exists() and not overwrite:
        raise SettingsError(f"{out} exists; choose another name or use --overwrite")
    model = model_folder.load(folder, device=device, plugins=plugins)
    depth_of(model.network)  # a model without slots is refused before the data are read
    model = model.alone(str(model.network.slotted))
    data, warnings = _read(model, source, columns or {})
    data = data.alone(model.first) if model.first in data.heads else data
    facts = attention_facts(model, data, title=folder.name, **asked)
    facts = replace(facts, warnings=(*warnings, *facts.warnings))
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        write_text(out, attention_report(facts))
    return facts


def attention_facts(
    model: Model,
    data: Data,
    *,
    title: str = "Labels",
    layers: str = "low,middle,last",
    texts: int | None = None,
    labels: Sequence[str] = (),
    split: str | None = None,
    told: Callable[[int, int], None] = lambda done, total: None,
) -> AttentionFacts:
    """Attention at some layers over at most `texts` texts of a split, and the correlation of the
    labels of all of them.

    `labels` are those to show; none named, the most frequent of train.
    """
    space, depth = model.primary.space, depth_of(model.network)
    numbers, chosen = layers_named(layers, depth), _chosen(labels, space)
    name, table = _table(data, split)
    rows = _spread(table.num_rows, texts)
    found = label_attention(
        model.network, model.inputs(table["text"].take(rows)), numbers, told=told
    )
    facts = AttentionFacts(
        title=title,
        label_names=space.names,
        layers=found,
        depth=depth,
        shown=chosen,
        split=name,
        texts=len(rows),
        rows=table.num_rows,
        nearness=_nearness(found, model),
    )
    facts = _beside(facts, table, space)
    near = found[numbers[-1]] if facts.correlation is None else facts.correlation
    order = alike_order(near[np.ix_(chosen, chosen)])
    return replace(facts, shown=tuple(chosen[i] for i in order))


def as_dict(facts: AttentionFacts) -> dict[str, object]:
    """Ready for JSON: every label of the model, whatever is shown."""
    layers = [
        {
            "layer": layer,
            "attention": matrix.tolist(),
            **(facts.likeness[layer]._asdict() if facts.likeness else {}),
            **({"nearness": facts.nearness[layer]} if facts.nearness else {}),
        }
        for layer, matrix in facts.layers.items()
    ]
    return {
        "labels": facts.label_names,
        "shown": [facts.label_names[label] for label in facts.shown],
        "split": facts.split,
        "texts": facts.texts,
        "rows": facts.rows,
        "depth": facts.depth,
        "layers": layers,
        "correlation": None if facts.correlation is None else facts.correlation.tolist(),
        "labelled": facts.labelled,
        "warnings": facts.warnings,
    }


def _read(
    model: Model, source: str, given: Mapping[str, str | None]
) -> tuple[Data, tuple[str, ...]]:
    """The data; of a file whose labels cannot be read, its texts alone, and why."""
    try:
        return read_for_model(model, source, given), ()
    except DataError as error:
        reason = str(error)
        if given.get("labels") is not None or not locate(source).is_file():
            raise
    path, text = locate(source), given.get("text")
    with own_columns(model, source, given):
        texts = texts_of(read_file(path), path, text or model.inference.data.text)
    table = pa.table({"text": texts, "labels": pa.nulls(len(texts), pa.list_(pa.string()))})
    return Data(tables={"all": table}, task="many", source=source), (
        f"no labels were read: {reason}",
    )


def _table(data: Data, split: str | None) -> tuple[str, pa.Table]:
    """The name and the rows of a split: dev where there is one, else test, else all."""
    name = split or next(n for n in ("dev", "test", "all", "train") if n in data.tables)
    if name not in data.tables:
        raise DataError(f"{data.source} has no split {name!r}; it has {', '.join(data.tables)}")
    if not data.tables[name].num_rows:
        raise DataError(f"{data.source}: {name} has no texts to look at")
    return name, data.tables[name]


def _chosen(labels: Sequence[str], space: LabelSpace) -> list[int]:
    """Ids of the labels to show, ascending."""
    names = [
        piece.strip()
        for name in labels
        for piece in ([name] if name in space.index else name.split(","))
    ]
    for name in names:
        if name not in space.index:
            raise SettingsError(unknown("label", name, space.names))
    wanted = sorted({space.index[name] for name in names})
    if len(wanted) == 1 or len(wanted) > MOST:
        raise SettingsError(f"name 2 to {MOST} labels to be shown, got {len(wanted)}")
    return wanted or sorted(np.argsort(-np.array(space.counts), kind="stable")[:MOST].tolist())


def _spread(count: int, wanted: int | None) -> Ints:
    """Row numbers of so many texts, evenly spread over all."""
    if wanted is not None and wanted < 1:
        raise SettingsError(f"--texts must be at least 1, got {wanted}")
    return np.unique(
        np.linspace(0, count - 1, min(count, wanted or TEXTS)).round().astype(np.int64)
    )


def _beside(facts: AttentionFacts, table: pa.Table, space: LabelSpace) -> AttentionFacts:
    """With the labels' correlation in all texts of the table that have some, and how like it each
    layer is.
    """
    labelled = table.filter(pc.is_valid(table["labels"]))
    if not labelled.num_rows:
        return replace(
            facts,
            warnings=("the texts have no labels, so there is no correlation to compare with",),
        )
    encoded = space.encode(labelled["labels"])
    truth, hidden = encoded.matrix(len(space)), None
    if "unknown" in labelled.column_names:
        hidden = space.encode(labelled["unknown"]).matrix(len(space))
    found = label_correlation(truth, hidden)
    return replace(
        facts,
        correlation=found,
        together=csr_array(truth.T @ truth).toarray().astype(np.int64),
        labelled=labelled.num_rows,
        likeness={layer: likeness(matrix, found) for layer, matrix in facts.layers.items()},
        warnings=_warnings(encoded.unseen, np.isnan(found.diagonal()), space),
    )


def _nearness(layers: Mapping[int, Floats], model: Model) -> dict[int, float]:
    """How much labels look at those whose slots stand near, of each layer; nothing where all share
    one place.
    """
    if model.primary.part.options.get("slot_positions") == "shared":
        return {}
    # slots have the order of the labels
    places = np.arange(len(model.primary.space), dtype=np.float64)
    near = -np.abs(places - places[:, None])
    return {layer: likeness(matrix, near, draws=0).spearman for layer, matrix in layers.items()}


def _warnings(unseen: Mapping[str, int], undefined: Bools, space: LabelSpace) -> tuple[str, ...]:
    result = []
    if unseen:
        result.append(f"labels that the model does not know are left out: {some(sorted(unseen))}")
    if undefined.any():
        names = [space.names[label] for label in np.flatnonzero(undefined)]
        result.append(
            f"labels on none of these texts, or on all, have no correlation: {some(names)}"
        )
    return tuple(result)
