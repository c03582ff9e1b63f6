"""Tagging any amount of text: a stream in, shards out, joined at the end; a killed run goes on at its last shard."""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tagwright import bundle
from tagwright.assemble import write
from tagwright.assemble.train import device_of
from tagwright.errors import DataError, SettingsError
from tagwright.model import Model, Scores
from tagwright.read.stream import stream, texts_of

BATCH = 8192
SHARD = 16  # batches


class Tagged(NamedTuple):
    """How a run of `tag` ended."""

    rows: int
    without: int  # rows that got no tag
    empty: int  # rows without text: kept in place, without tags


def tag(
    model: Model,
    source: Path,
    out: Path,
    *,
    text: str | None = None,
    column: str = "tags",
    separator: str = ";",
    inert: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    progress: Callable[[int], None] = lambda rows: None,
) -> Tagged:
    """Write every row of `source` with all its columns, its tags and their scores to `out`, in constant memory."""
    writer = write.writer(out)
    shards = _open_shards(source, out, model, resume=resume, overwrite=overwrite)
    done = sorted(shards.glob("shard-*.json"))
    counts = [Tagged(**json.loads(path.read_text("utf-8"))) for path in done]
    progress(sum(c.rows for c in counts))
    batches = stream(source, batch_rows=BATCH, skip=sum(c.rows for c in counts))
    for number, group in enumerate(_grouped(batches, SHARD), start=len(done)):
        tables, tally = [], Tagged(0, 0, 0)
        for batch in group:
            table, part = _tagged(model, batch, source, text, column, separator if writer.flat else None)
            tables.append(write.inert(table) if inert else table)
            tally = Tagged(*(a + b for a, b in zip(tally, part)))
            progress(part.rows)
        name = shards / f"shard-{number:06d}"
        writer.write(pa.concat_tables(tables), name.with_suffix(".data"), header=number == 0)
        # the count is written last: a shard without it is written again
        name.with_suffix(".json").write_text(json.dumps(tally._asdict()), encoding="utf-8")
        counts.append(tally)
    writer.join(sorted(shards.glob("shard-*.data"))[: len(counts)], out)
    shutil.rmtree(shards)
    return Tagged(*(sum(column) for column in zip(*counts))) if counts else Tagged(0, 0, 0)


def tag_file(folder: Path, source: Path, out: Path, *, device: str = "auto", **options: Any) -> Tagged:
    """Load a model and tag a file with it."""
    model = bundle.load(folder)
    if not source.is_file():
        raise DataError(f"no file {source}")
    options["text"] = options.get("text") or model.settings.data.text
    model.network.to(device_of(replace(model.settings, fit=replace(model.settings.fit, device=device))))
    return tag(model, source, out, **options)


def _open_shards(source: Path, out: Path, model: Model, *, resume: bool, overwrite: bool) -> Path:
    shards = out.with_name(f".{out.name}.shards")
    if out.exists() and not overwrite:
        raise SettingsError(f"{out} exists; choose another name or use --overwrite")
    about = {"source": str(source), "size": source.stat().st_size, "model": _identity(model)}
    if shards.exists() and resume:
        if json.loads((shards / "about.json").read_text("utf-8")) != about:
            raise DataError(
                f"{shards} belongs to another input or model; remove it, or use --overwrite without --resume"
            )
        return shards
    if shards.exists() and not overwrite:
        raise SettingsError(f"an unfinished run stands in {shards}; go on with --resume or start over with --overwrite")
    shutil.rmtree(shards, ignore_errors=True)
    shards.mkdir(parents=True)
    (shards / "about.json").write_text(json.dumps(about), encoding="utf-8")
    return shards


def _identity(model: Model) -> Any:
    return {"settings": model.settings.as_dict(), "labels": list(model.heads["main"].space.names)}


def _grouped(batches: Iterator[pa.RecordBatch], size: int) -> Iterator[list[pa.RecordBatch]]:
    while group := list(islice(batches, size)):
        yield group


def _tagged(
    model: Model, batch: pa.RecordBatch, source: Path, text: str | None, column: str, separator: str | None
) -> tuple[pa.Table, Tagged]:
    table = pa.Table.from_batches([batch])
    taken = {column, f"{column}_scores"} & set(table.column_names)
    if taken:
        raise SettingsError(f"the input has a column {sorted(taken)[0]!r} already; name the new one with --column")
    texts = texts_of(table, source, text)
    scores = model.scores(texts)
    empty = pc.equal(pc.utf8_length(pc.utf8_trim_whitespace(pc.fill_null(texts, ""))), 0).to_numpy()
    chosen = scores.chosen & ~empty[:, None]
    names, values = _lists(model.heads["main"].space.names, scores, chosen)
    if separator is not None:
        names = pc.binary_join(names, separator)
        values = pc.binary_join(values.cast(pa.list_(pa.string())), separator)
    table = table.append_column(column, names).append_column(f"{column}_scores", values)
    return table, Tagged(len(chosen), int((~chosen.any(1)).sum()), int(empty.sum()))


def _lists(names: tuple[str, ...], scores: Scores, chosen: np.ndarray) -> tuple[pa.Array, pa.Array]:
    """Names and probabilities of the chosen labels, the likeliest first, as lists."""
    rows, columns = np.nonzero(chosen)
    values = scores.probabilities[rows, columns]
    order = np.lexsort((columns, -values, rows))
    offsets = pa.array(np.concatenate([[0], np.cumsum(chosen.sum(1))]), pa.int32())
    words = pa.array(names).take(pa.array(columns[order]))
    rounded = pa.array(np.round(values[order].astype(np.float64), 4))
    return pa.ListArray.from_arrays(offsets, words), pa.ListArray.from_arrays(offsets, rounded)
