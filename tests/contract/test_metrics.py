"""What every family of metrics keeps, whichever file it came in."""

import dataclasses
import inspect
import itertools

import numpy as np
import pytest

from tagwright.errors import ShapeError
from tagwright.metrics import OF_TAGS, Family, descriptions, facts, families

FAMILIES = families()

every_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)


def chunk(rows: int, labels: int, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    scores = np.round(rng.random((rows, labels)), 1)
    return scores, rng.random((rows, labels)) < 0.3, scores > 0.6


def results(state: Family, convention: str = "sklearn", labels: int = 7) -> dict[str, float]:
    return state.results(convention=convention, label_counts=2 ** np.arange(labels))


@every_family
def test_state_is_a_frozen_dataclass(family: type[Family]):
    assert dataclasses.is_dataclass(family)
    assert family.__dataclass_params__.frozen
    assert inspect.getdoc(family)


@every_family
def test_every_result_is_a_described_number(family: type[Family]):
    found = results(family.of(*chunk(41, 7)))
    assert found
    assert found.keys() <= family.METRICS.keys() | family.FACTS.keys()
    assert {type(value) for name, value in found.items() if name in family.METRICS} <= {float}
    # an int is a count
    assert {type(value) for name, value in found.items() if name in family.FACTS} <= {
        float,
        int,
    }


def test_names_are_given_once_and_described():
    every = (*FAMILIES.values(), *OF_TAGS.values())
    names = [name for family in every for name in (*family.METRICS, *family.FACTS)]
    assert sorted(names) == sorted({**descriptions(), **facts()})
    assert all(text and higher in (True, False) for text, higher in descriptions().values())
    assert all(facts().values())


@every_family
@pytest.mark.parametrize("convention", ["sklearn", "paper"])
@pytest.mark.parametrize(("rows", "labels"), [(1, 1), (1, 2), (41, 7), (401, 37)])
def test_sums_of_chunks_equal_the_whole(
    family: type[Family], convention: str, rows: int, labels: int
):
    parts = chunk(rows, labels)
    cuts = [0, 0, rows // 3, rows // 3 + 1, rows]  # an empty chunk, a chunk of one row
    states = [family.of(*(part[a:b] for part in parts)) for a, b in itertools.pairwise(cuts)]
    joined = results(sum(states[1:], start=states[0]), convention, labels)
    assert joined == pytest.approx(
        results(family.of(*parts), convention, labels), rel=1e-12, nan_ok=True
    )


@every_family
def test_order_of_the_sum_does_not_matter(family: type[Family]):
    one, two = family.of(*chunk(5, 7, seed=1)), family.of(*chunk(3, 7, seed=2))
    assert results(one + two) == pytest.approx(results(two + one), rel=1e-12)


@every_family
def test_order_of_labels_does_not_matter(family: type[Family]):
    order = np.random.default_rng(3).permutation(7)
    turned = family.of(*(part[:, order] for part in chunk(41, 7)))
    found = turned.results(label_counts=(2 ** np.arange(7))[order])
    assert found == pytest.approx(results(family.of(*chunk(41, 7))), rel=1e-12)


@every_family
def test_measuring_leaves_its_input_alone(family: type[Family]):
    parts = chunk(41, 7)
    for part in parts:
        part.setflags(write=False)
    state = family.of(*parts)
    before = results(state)
    _ = state + state
    assert results(state) == before


@every_family
def test_no_rows_raise_nothing(family: type[Family]):
    with np.errstate(all="raise"):
        results(family.of(*chunk(0, 7)))


@every_family
def test_swapped_arguments_are_refused(family: type[Family]):
    scores, truth, chosen = chunk(5, 7)
    with pytest.raises(ShapeError, match="truth and chosen bool, in this order"):
        family.of(truth, scores, chosen)
    with pytest.raises(ShapeError, match="truth and chosen bool, in this order"):
        family.of(scores, truth.astype(np.int64), chosen)


@every_family
def test_other_shapes_are_refused(family: type[Family]):
    scores, truth, chosen = chunk(5, 7)
    with pytest.raises(ShapeError, match=r"one shape \(n, L\)"):
        family.of(scores, truth[:, :6], chosen)
    with pytest.raises(ShapeError, match=r"one shape \(n, L\)"):
        family.of(scores[0], truth[0], chosen[0])
    with pytest.raises(ShapeError, match="L > 0"):
        family.of(scores[:, :0], truth[:, :0], chosen[:, :0])


@every_family
def test_scores_that_are_not_numbers_are_refused(family: type[Family]):
    scores, truth, chosen = chunk(5, 7)
    scores[3, 2] = np.nan
    with pytest.raises(ShapeError, match="NaN in 1 rows, first row 3"):
        family.of(scores, truth, chosen)


@every_family
def test_states_of_another_family_are_refused(family: type[Family]):
    other = next(f for f in FAMILIES.values() if f is not family)
    with pytest.raises(ShapeError, match="one family"):
        family.of(*chunk(5, 7)) + other.of(*chunk(5, 7))
