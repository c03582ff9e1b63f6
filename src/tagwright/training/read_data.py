"""The data that settings ask for, and the settings that the data resolve."""

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from tagwright.data import Data, read_data
from tagwright.data.dataset import HeadColumns
from tagwright.data.source import DataGiven
from tagwright.errors import SettingsError
from tagwright.inference.tagged_tokens import with_cut
from tagwright.settings.named_heads import HeadChoice, sources
from tagwright.settings.schema import Settings, resolve


def read_for(source: str, given: Mapping[str, object]) -> tuple[Data, Settings]:
    """The data and the resolved settings, whose defaults depend on the task."""
    heads = sources(given)
    section = given.get("data")
    options = {**section} if isinstance(section, Mapping) else {}
    options.pop("cut", None)
    if heads and "labels" in options:
        raise SettingsError(
            "data.labels (--labels) is for a model with one head; of several each has its own"
            " labels"
        )
    data = read_data(source, **cast(DataGiven, {**options, "heads": heads or None}))
    settings = resolve(
        given, data.task, data.size, {name: one.task for name, one in data.heads.items()} or None
    )
    # what was found is kept with the model, so that `tag` and `score` look into the same columns
    columns = ",".join(data.text_columns) or settings.data.text
    kept = replace(settings.data, text=columns, separator=data.separator)
    found = {name: found_head(settings.heads[name], data.heads[name]) for name in heads}
    settings = replace(settings, data=kept, heads={**settings.heads, **found})
    return data, with_cut(settings, data) if data.task in ("tokens", "both") else settings


def found_head(choice: HeadChoice, found: HeadColumns) -> HeadChoice:
    """The head with what reading has found of its labels."""
    columns, separator = ",".join(found.columns), found.separator
    return replace(
        choice, own=replace(choice.own, labels=columns, task=found.task, separator=separator)
    )
