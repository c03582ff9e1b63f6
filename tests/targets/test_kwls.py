"""KWLS: the part as training calls it."""

import numpy as np
import pyarrow as pa
import pytest

from tagwright import registry
from tagwright.errors import SettingsError
from tagwright.labels.space import LabelSpace
from tagwright.targets.kwls import kwls
from tagwright.tokenizers.tokens import Tokens

from .reference import left_out, random_texts, relevance, softmax, tokens_of

NAMES = ("a", "b", "c", "d", "e")
DEFAULTS = (2.0, 0.75, 2.0, 1.0)


def space_of(count: int = 5, *, exclusive: bool = True) -> LabelSpace:
    return LabelSpace(names=NAMES[:count], counts=(1,) * count, exclusive=exclusive)


def table(labels: list[list[int]]) -> pa.Table:
    return pa.table(
        {"labels": pa.array([[NAMES[i] for i in own] for own in labels], pa.list_(pa.string()))}
    )


def rows(found: list[list[float]]) -> list[list[float]]:
    return [softmax(row) for row in found]


def test_soft_labels_equal_slow_loops_in_float32():
    texts, labels = random_texts(0)
    soft = kwls(table(labels), space_of(), tokens_of(texts))
    assert soft.dtype == np.float32
    assert soft.shape == (41, 5)
    np.testing.assert_allclose(soft, rows(relevance(texts, texts, labels, 5, *DEFAULTS)), rtol=1e-5)
    np.testing.assert_allclose(soft.sum(axis=1), 1, rtol=1e-6)


def test_settings_reach_the_equations():
    texts, labels = random_texts(1)
    soft = kwls(table(labels), space_of(), tokens_of(texts), k1=1.5, b=0.25, k2=3.0)
    np.testing.assert_allclose(
        soft, rows(relevance(texts, texts, labels, 5, 1.5, 0.25, 3.0, 1.0)), rtol=1e-5
    )


def test_no_text_votes_for_itself_where_it_is_left_out():
    texts, labels = random_texts(2)
    soft = kwls(table(labels), space_of(), tokens_of(texts), leave_one_out=True)
    np.testing.assert_allclose(soft, rows(left_out(texts, labels, 5, *DEFAULTS)), rtol=1e-5)


def test_shared_words_pull_a_text_to_the_other_label():
    # by hand: text 2 has the word of label 0 beside that of its own label 1, text 1 has only its
    # own
    soft = kwls(table([[0], [1], [1]]), space_of(2), tokens_of([[2], [3], [2, 3]]))
    assert soft[1, 0] < soft[2, 0] < 0.5


def test_one_text_a_label_by_hand():
    # f = 1, S = S_avg, K = k1 = 2: WLC = 2/3, WLW = ln 2 + 1; WIC = 2/3, WIW = ln 2 + 1; X_avg = 1
    soft = kwls(table([[0], [1]]), space_of(2), tokens_of([[2], [3]]))
    own = (2 / 3 * (np.log(2) + 1)) ** 2
    np.testing.assert_allclose(soft[0], [1 / (1 + np.exp(-own)), 1 / (1 + np.exp(own))], rtol=1e-6)
    np.testing.assert_array_equal(soft[1], soft[0, ::-1])


def test_text_without_words_has_equal_shares():
    soft = kwls(table([[0], [1], [1]]), space_of(4), tokens_of([[2], [], [0, 1]]))
    np.testing.assert_array_equal(soft[1:], np.full((2, 4), 0.25, np.float32))


def test_many_labels_are_normalized_one_by_one():
    texts, labels = random_texts(3)
    soft = kwls(table(labels), space_of(exclusive=False), tokens_of(texts))
    expected = 1 / (1 + np.exp(-np.array(relevance(texts, texts, labels, 5, *DEFAULTS))))
    np.testing.assert_allclose(soft, expected, rtol=1e-5)
    np.testing.assert_array_equal(soft[:, 4], 0.5)


def test_lone_label_is_certain():
    np.testing.assert_array_equal(
        kwls(table([[0], [0]]), space_of(1), tokens_of([[2], []])), [[1], [1]]
    )


def test_of_several_features_the_first_is_the_word():
    texts, labels = random_texts(4)
    tokens = tokens_of(texts)
    several = Tokens(
        np.stack([tokens.ids, np.arange(len(tokens.ids), dtype=np.int32)], axis=1), tokens.offsets
    )
    np.testing.assert_array_equal(
        kwls(table(labels), space_of(), several), kwls(table(labels), space_of(), tokens)
    )


def test_no_rows_give_no_soft_labels():
    assert kwls(table([]), space_of(), tokens_of([])).shape == (0, 5)


@pytest.mark.parametrize(
    "settings", [{"k1": 0.0}, {"k2": -1.0}, {"b": 1.5}, {"b": -0.1}, {"k1": float("nan")}]
)
def test_settings_outside_their_range_are_refused(settings: dict[str, float]):
    with pytest.raises(SettingsError, match="kwls needs k1 and k2 above 0 and b from 0 to 1"):
        kwls(table([[0]]), space_of(), tokens_of([[2]]), **settings)


def test_part_is_built_from_facts_it_asks_for():
    facts = {"table": table([[0], [1]]), "space": space_of(2), "tokens": tokens_of([[2], [3]])}
    for name in ("hard", "kwls", "smooth", "tfidf"):
        assert name in registry.names("targets")
        assert registry.build("targets", name, {}, **facts).shape == (2, 2)
