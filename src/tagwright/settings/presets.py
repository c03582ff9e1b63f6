"""Presets: a paper's objective as a row of choices. A preset named like a loss is that loss
alone.
"""

from collections.abc import Mapping
from typing import Any

from tagwright import registry
from tagwright.errors import SettingsError, unknown

PLAIN = {"targets": "hard", "mask": "none", "weights": "none"}
GOVERNED = ("loss", *PLAIN, "soft")  # sections that every objective decides
KEYS_ONLY = ("fit",)  # of these sections an objective governs only the keys that its row sets

BESIDE = {"soft": {"role": "auxiliary"}}

SOLVED: dict[str, object] = {"loss": "bce", "fit": {"optimizer": "exact"}}

PRESETS: dict[str, dict[str, object]] = {
    # MaskLoss eq. 3
    "maskloss-label": {
        "loss": {"name": "bce", "labels": "mean"},
        "mask": "groups",
    },
    # with the groups of its A.3
    "maskloss-elem": {
        "loss": {"name": "bce", "labels": "mean"},
        "mask": "elements",
    },
    "kwls": {"loss": "cross_entropy", "targets": "kwls", **BESIDE},  # KWLS eqs. 1 to 9
    # its rivals, by the same equation 9
    "ls-classic": {
        "loss": "cross_entropy",
        "targets": "smooth",
        **BESIDE,
    },
    "ls-tfidf": {"loss": "cross_entropy", "targets": "tfidf", **BESIDE},
    "ls-distil": {"loss": "cross_entropy", "targets": "distil", **BESIDE},
    "cecl-ee": {"loss": "cecl", "weights": "ee"},  # BAT eqs. 7, 8: the paper's CL
    "cecl-standard": {"loss": "cecl", "weights": "standard"},
    "cecl-array": {"loss": "cecl", "weights": "array"},  # the paper's CLA
    "pbp-ee": {"loss": "pbp", "weights": "ee"},  # BAT eq. 9
    "pbp-standard": {"loss": "pbp", "weights": "standard"},
    "pbp-array": {"loss": "pbp", "weights": "array"},  # the paper's PBPA
    # LM-MTC eq. 4, without its eq. 5
    "cloze": {
        "loss": {"name": "bce", "labels": "mean"},
        "head": "cloze",
    },
    "lm-mtc": {"loss": {"name": "bce", "labels": "mean"}, "head": "cloze", "mlm": {}},
    "binary-relevance": SOLVED,  # a logistic regression a label: Boutell et al. 2004
    "classifier-chain": {**SOLVED, "head": "chain"},  # Read et al. 2011
}


def names() -> tuple[str, ...]:
    """Every objective that `--objective` takes."""
    return tuple(sorted({*registry.names(registry.LOSSES), *PRESETS}))


def preset(name: str) -> dict[str, object]:
    """The choices behind a name.

    >>> preset("zlpr")["loss"], preset("zlpr")["mask"]
    ('zlpr', 'none')
    """
    found = row_of(name)
    if not found:
        raise SettingsError(unknown("objective", name, names()))
    return found


def row_of(name: Any) -> dict[str, object]:
    """The same; of an unknown name nothing."""
    if not isinstance(name, str):
        return {}
    if name in PRESETS:
        return {**PLAIN, **PRESETS[name]}
    return {**PLAIN, "loss": name} if name in registry.names(registry.LOSSES) else {}


def governed(name: Any) -> dict[str, tuple[str, ...] | None]:
    """The sections that an objective governs: whole ones (None), or some keys of one.

    Every objective governs its loss, targets, mask, weights and soft labels, and whatever else its
    row sets.

    >>> governed("classifier-chain")["head"], governed("classifier-chain")["fit"]
    (None, ('optimizer',))
    """
    found: dict[str, tuple[str, ...] | None] = dict.fromkeys(GOVERNED)
    for section, values in row_of(name).items():
        found[section] = (
            tuple(values) if section in KEYS_ONLY and isinstance(values, Mapping) else None
        )
    return found
