"""Presets: a paper's objective as a row of choices. A preset named like a loss is that loss alone."""

from tagwright import parts
from tagwright.errors import SettingsError, unknown

PLAIN = {"targets": "hard", "mask": "none", "weights": "none"}

BESIDE = {"soft": {"role": "auxiliary"}}

SOLVED: dict[str, object] = {"loss": "bce", "fit": {"optimiser": "exact"}}

PRESETS: dict[str, dict[str, object]] = {
    "maskloss-label": {"loss": {"name": "bce", "labels": "mean"}, "mask": "groups"},  # MaskLoss eq. 3
    "maskloss-elem": {"loss": {"name": "bce", "labels": "mean"}, "mask": "elements"},  # with the groups of its A.3
    "kwls": {"loss": "cross_entropy", "targets": "kwls", **BESIDE},  # KWLS eqs. 1 to 9
    "ls-classic": {"loss": "cross_entropy", "targets": "smooth", **BESIDE},  # its rivals, by the same equation 9
    "ls-tfidf": {"loss": "cross_entropy", "targets": "tfidf", **BESIDE},
    "ls-distil": {"loss": "cross_entropy", "targets": "distil", **BESIDE},
    "cecl-ee": {"loss": "cecl", "weights": "ee"},  # BAT eqs. 7, 8: the paper's CL
    "cecl-standard": {"loss": "cecl", "weights": "standard"},
    "cecl-array": {"loss": "cecl", "weights": "array"},  # the paper's CLA
    "pbp-ee": {"loss": "pbp", "weights": "ee"},  # BAT eq. 9
    "pbp-standard": {"loss": "pbp", "weights": "standard"},
    "pbp-array": {"loss": "pbp", "weights": "array"},  # the paper's PBPA
    "cloze": {"loss": {"name": "bce", "labels": "mean"}, "head": "cloze"},  # LM-MTC eq. 4, without its eq. 5
    "lm-mtc": {"loss": {"name": "bce", "labels": "mean"}, "head": "cloze", "mlm": {}},
    "binary-relevance": SOLVED,  # a logistic regression a label: Boutell et al. 2004
    "classifier-chain": {**SOLVED, "head": "chain"},  # Read et al. 2011
}


def names() -> tuple[str, ...]:
    """Every objective that `--objective` takes."""
    return tuple(sorted({*parts.names("losses"), *PRESETS}))


def preset(name: str) -> dict[str, object]:
    """The choices behind a name.

    >>> preset("zlpr")["loss"], preset("zlpr")["mask"]
    ('zlpr', 'none')
    """
    if name in PRESETS:
        return {**PLAIN, **PRESETS[name]}
    if name in parts.names("losses"):
        return {**PLAIN, "loss": name}
    raise SettingsError(unknown("objective", name, names()))
