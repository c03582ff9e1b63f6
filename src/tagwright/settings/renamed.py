"""Settings that once had other names: what older versions wrote is read under today's names."""

from collections.abc import Mapping
from typing import Any

NAMES = {"optimiser": "optimizer", "normalise": "normalize"}
SECTIONS = ("fit", "head", "targets")  # that have such settings


def renamed(values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of one section, or the options of one part, under today's names.

    >>> renamed({"name": "document", "optimiser": "auto"})
    {'name': 'document', 'optimizer': 'auto'}
    """
    return {NAMES.get(key, key): value for key, value in values.items()}


def with_renamed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Nested settings under today's names, those of named heads too.

    >>> own = {"a": {"targets": {"normalise": "auto"}}}
    >>> with_renamed({"fit": {"optimiser": "sgd"}, "heads": own})
    {'fit': {'optimizer': 'sgd'}, 'heads': {'a': {'targets': {'normalize': 'auto'}}}}
    """
    result = dict(settings)
    for section in SECTIONS:
        if isinstance(result.get(section), Mapping):
            result[section] = renamed(result[section])
    heads = result.get("heads")
    if isinstance(heads, Mapping):
        result["heads"] = {
            name: with_renamed(own) if isinstance(own, Mapping) else own
            for name, own in heads.items()
        }
    return result
