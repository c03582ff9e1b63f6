"""Small data and networks to prepare, and the rows that are made of them."""

import pyarrow as pa

from tagwright.data import Data
from tagwright.models.build import build_network

from ..pipelines.several import MOODS, SPANS, TOPICS


def table_of(texts, labels, **extra):
    columns = {
        "text": pa.array(texts, pa.string()),
        "labels": pa.array(labels, pa.list_(pa.string())),
    }
    return pa.table({**columns, **{name: pa.array(values) for name, values in extra.items()}})


def small(**extra):
    """Train and dev given, so that nothing is drawn."""
    train = table_of(
        ["red tent", "", None, "blue kite", "  \n", "red kite"],
        [["a"], ["a"], ["b"], ["b"], ["b"], None],
        **extra,
    )
    dev = table_of(["blue tent", "red", ""], [["a"], ["b", "strange", "odd"], ["strange"]])
    return Data(tables={"train": train, "dev": dev}, task="many", source="here")


def network_of(prepared, settings):
    """An untrained network."""
    labels = {name: (head.space, head.examples) for name, head in prepared.heads.items()}
    return build_network(settings, labels, sizes=prepared.tokenizer.sizes, learned=prepared.learned)


def rows_of_table(prepared, settings, name="train"):
    """The rows of a table, and what the one head learns of them."""
    made = prepared.rows(name, network_of(prepared, settings), settings)
    return made, made.heads["main"]


LABELS = {"mood": MOODS, "topic": TOPICS}
ALL = {**LABELS, "span": SPANS}


def rows_of_heads(prepared, settings, name="train"):
    """What each head learns of a table."""
    return prepared.rows(name, network_of(prepared, settings), settings).heads
