"""One tag a token: the most probable tags of each text that make valid spans.

Viterbi over log-probabilities: what may follow, begin and end a text is allowed or not, as the
names of the tags say (`labels.tags.transitions`); nothing is fitted. Plain tags, where everything
may follow everything, get the highest.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from tagwright.arrays import Bools, Floats, Ints
from tagwright.decisions import Decision
from tagwright.decisions.argmax import Argmax
from tagwright.errors import ShapeError
from tagwright.labels.tags import Transitions, require_offsets, scheme_of, transitions

_CELLS = 1 << 22  # of texts, places and tags that are worked on at a time
_TINY = np.finfo(
    np.float64
).tiny  # a probability of 0 is as unlikely as can be, but never forbidden


class SpanDecision(Decision):
    """Chooses exactly one tag a token; with `legal` only tags that may follow each other, without
    it the highest.

    `label_names` are the names of the tags; the space of the labels knows them, so they are no
    setting.
    """

    about_tokens = True

    def __init__(self, label_names: Sequence[str], *, legal: bool = True) -> None:
        self.legal = legal
        self._names = tuple(label_names)
        self._allowed = transitions(scheme_of(self._names))

    @classmethod
    def exactly_one(cls, **options: object) -> bool:
        """Of each token."""
        return True

    def describe(self) -> str:
        """A sentence for the model card."""
        if not self.legal:
            return "One tag for each token: the one with the highest score."
        return (
            "One tag for each token: those of a text that are likeliest together and make whole"
            " spans."
        )

    def choose(self, logits: Floats, probabilities: Floats, offsets: Ints | None = None) -> Bools:
        """Scores (N, L) -> bool (N, L); text i has tokens offsets[i] to offsets[i + 1], (n + 1,).

        Without offsets nobody knows what follows what, and every token gets its highest tag; so
        does a text for which no tags are legal.
        """
        if logits.ndim != 2 or logits.shape[1] != len(self._names):
            raise ShapeError(
                f"scores must be (N, L) of the {len(self._names)} tags, got {logits.shape}"
            )
        chosen = Argmax().choose(logits, probabilities)
        if offsets is None or not self.legal or self._allowed.follows.all():
            return chosen
        require_offsets(offsets, len(logits))
        offsets = np.asarray(offsets)
        # elsewhere the highest tags are the best legal ones
        broken = _broken(chosen.argmax(1), offsets, self._allowed)
        likely = (
            np.log(np.maximum(probabilities, _TINY, dtype=np.float64))
            if broken.any()
            else probabilities
        )
        for texts in _blocks(offsets, logits.shape[1], broken):
            tokens, tags = _best_path(
                likely, offsets[texts], offsets[texts + 1] - offsets[texts], self._allowed
            )
            chosen[tokens] = False
            chosen[tokens, tags] = True
        return chosen


def _broken(tags: Ints, offsets: Ints, allowed: Transitions) -> Bools:
    """Which texts (n,) have tags, ids (N,), that cannot stand where they are."""
    wrong = np.zeros(len(tags) + 1, bool)
    wrong[1:-1] = ~allowed.follows[tags[:-1], tags[1:]]
    filled = offsets[:-1] < offsets[1:]
    first, last = offsets[:-1][filled], offsets[1:][filled] - 1
    wrong[first] = ~allowed.first[tags[first]]  # what stands before a text is another text
    wrong[last] |= ~allowed.last[tags[last]]
    found = np.zeros(len(filled), bool)
    found[filled] = np.logical_or.reduceat(wrong[:-1], first) if len(first) else False
    return found


def _blocks(offsets: Ints, labels: int, wanted: Bools) -> Iterator[Ints]:
    """The wanted texts (n,), longest first, so many at a time that their cells, padded to the
    longest, are few.
    """
    lengths = np.diff(offsets) * wanted
    order = np.argsort(-lengths, kind="stable")[: np.count_nonzero(lengths)]
    while len(order):
        count = max(1, _CELLS // int(lengths[order[0]] * labels))
        yield order[:count]
        order = order[count:]


def _best_path(
    likely: Floats, starts: Ints, lengths: Ints, allowed: Transitions
) -> tuple[Ints, Ints]:
    """The legal tags of texts whose log-probabilities in `likely` (N, L) add up highest: tokens
    (m,), their tags (m,).

    Lengths (n,) fall, so the texts that reach a place are the first ones. Texts without legal tags
    are left out.
    """
    longest, labels = int(lengths[0]), likely.shape[1]
    # longer than the place
    alive = [int(np.searchsorted(-lengths, -place)) for place in range(longest)]
    back = np.zeros((longest, len(starts), labels), np.int32)
    total = np.where(allowed.first, likely[starts], -np.inf)  # (n, L), of the best tags that end so
    sources = _sources(allowed.follows)
    for place in range(1, longest):
        n = alive[place]
        before, here = total[:n], likely[starts[:n] + place]
        best = np.empty((n, labels))
        for tags, earlier in sources:
            pick = earlier[before[:, earlier].argmax(axis=1)]
            back[place, :n, tags] = pick
            best[:, tags] = before[np.arange(n), pick][:, None]
        total[:n] = best + here
    return _trace(back, np.where(allowed.last, total, -np.inf), starts, lengths, alive)


def _sources(follows: Bools) -> list[tuple[Ints, Ints]]:
    """Tags that may follow the same ones, and those: with t types there are t + 1 such pairs, not
    L² cells.
    """
    kinds, which = np.unique(follows.T, axis=0, return_inverse=True)
    return [
        (np.flatnonzero(which.ravel() == kind), np.flatnonzero(before))
        for kind, before in enumerate(kinds)
    ]


def _trace(
    back: Ints, total: Floats, starts: Ints, lengths: Ints, alive: list[int]
) -> tuple[Ints, Ints]:
    """Follow the best last tags to the first ones; `back` (T, n, L) has the tag before."""
    path = np.zeros(back.shape[:2], np.int64)
    current = total.argmax(axis=1)
    for place in range(len(back) - 1, -1, -1):
        n = alive[place]  # a text joins at its last place, with its last tag
        path[place, :n] = current[:n]
        current[:n] = back[place, np.arange(n), current[:n]]
    possible = np.isfinite(total.max(axis=1))
    places, texts = np.nonzero((np.arange(len(back))[:, None] < lengths) & possible)
    return starts[texts] + places, path[places, texts]


PART = SpanDecision
