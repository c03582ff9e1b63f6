"""Decisions: scores in, labels out; saved with the model, thresholds by label name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, cast

import numpy as np

from tagwright.arrays import Bools, Floats, Ints
from tagwright.registry import DECISIONS, Kind, P, build, find, made

__all__ = ["KIND", "Decision", "HeldOut", "as_dict", "from_dict", "loaded"]


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """What a decision is fitted on: logits of rows that the model was not trained on, and their
    truth.

    Rows are texts, or tokens where these are tagged. Where labels are very many, `logits` and
    `truth` are (n, k), of each text's highest labels, and `positives` (n,) counts its true labels
    in and out of these.
    """

    logits: Floats  # (n, L)
    truth: Bools  # bool (n, L)
    likely: Callable[[], Floats]  # makes the probabilities (n, L)
    label_names: Sequence[str]
    seed: int  # for whatever is drawn, such as folds
    offsets: Ints | None = None  # of tokens: text i has rows offsets[i] to offsets[i + 1]
    positives: Ints | None = None

    def chosen_by(self, decision: "Decision") -> Bools:
        """What a decision chooses here, bool (n, L)."""
        texts = {"offsets": self.offsets} if decision.about_tokens else {}
        return decision.choose(self.logits, self.likely(), **texts)


class Decision(Generic[P]):
    """What every decision derives from: scores in, labels out.

    A decision is saved as its attributes, so every setting is an attribute of its name. Those that
    begin with `_` are not saved. What `fit` finds in the data are further arguments of its making,
    arrays (L,), or () for all labels; it names them in `FITTED`, and they are attributes, too.
    """

    FITTED: ClassVar[tuple[str, ...]] = ()
    about_tokens: ClassVar[bool] = False  # of tagged tokens; else of whole texts
    thresholds: Floats | None = None  # of logits, (L,) or (), if that is what it goes by
    probability: float | None = None  # above which a label is chosen, if that is what it goes by

    def choose(self, logits: Floats, probabilities: Floats) -> Bools:
        """Scores (n, L) -> bool (n, L). One about tokens also takes `offsets`, or None."""
        raise NotImplementedError

    def describe(self) -> str:
        """A sentence for the model card: which labels are chosen."""
        raise NotImplementedError

    @classmethod
    def exactly_one(cls, *_: P.args, **options: P.kwargs) -> bool:
        """Whether it chooses one label for each text, no more and no less, with these settings."""
        return False

    @classmethod
    def check(cls, *_: P.args, **options: P.kwargs) -> None:
        """Refuse settings without a meaning, before training: raise a SettingsError."""

    @classmethod
    def fit(cls, held_out: HeldOut, *_: P.args, **options: P.kwargs) -> tuple["Decision", Bools]:
        """The decision for new texts, and its choices on the held-out ones, bool (n, L).

        Each of these choices must be made without the truth of its own row, or figures measured on
        them would be too good: fit on the other folds.
        """
        if cls.FITTED:
            raise NotImplementedError
        decision = cast("Decision", made(cls, options, label_names=held_out.label_names))
        return decision, held_out.chosen_by(decision)


KIND = Kind(
    title="decision",
    facts={"label_names": "the names of the labels"},
    base=Decision,
    own_facts=lambda decision: cast("type[Decision]", decision).FITTED,
)


def as_dict(decision: Decision, names: Sequence[str]) -> dict[str, object]:
    """The settings of a decision, ready for JSON; an array (L,) becomes values by label name, one
    of () a number.

    Attributes that begin with `_` are what a decision made of its facts, no settings.
    """
    return {
        key: _plain(value, names)
        for key, value in vars(decision).items()
        if not key.startswith("_")
    }


def _plain(value: object, names: Sequence[str]) -> object:
    if not isinstance(value, np.ndarray):
        return value
    return dict(zip(names, value.tolist())) if value.ndim else float(value)


def from_dict(
    content: Mapping[str, object], names: Sequence[str], fitted: Sequence[str] = ("thresholds",)
) -> tuple[dict[str, object], dict[str, Floats]]:
    """Settings that `as_dict` wrote, and the arrays of `fitted`: (L,), joined by name, or () for
    all labels.

    A number that JSON has none for (`plain`) is infinite: a threshold that no score passes.
    """
    arrays = {
        key: _array(value, names)
        for key in fitted
        if key in content and isinstance(value := content[key], Mapping | float | int | None)
    }
    return {key: value for key, value in content.items() if key not in arrays}, arrays


def loaded(rule: str, content: Mapping[str, object], names: Sequence[str]) -> Decision:
    """The decision of this name that `as_dict` wrote."""
    options, arrays = from_dict(content, names, find(DECISIONS, rule).factory.FITTED)
    return build(DECISIONS, rule, options, label_names=names, **arrays)


def _array(value: Mapping[str, float | None] | float | None, names: Sequence[str]) -> Floats:
    given = [value[name] for name in names] if isinstance(value, Mapping) else [value]
    array = np.array([np.inf if number is None else number for number in given], np.float64)
    return array if isinstance(value, Mapping) else array[0, ...]
