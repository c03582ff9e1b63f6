"""The scikit-learn face, by our own contract: few of scikit-learn's checks run on text."""

import pickle
import random

import joblib
import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics import get_scorer, log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags

from tagwright import Tagger, load
from tagwright.errors import TagwrightError

WORDS = [["apple", "pear"], ["hammer", "saw"], ["paris", "rome"]]
NAMES = ["fruit", "tool", "city"]
SMALL = {"encoder": {"name": "cnn", "width": 8, "filters": 8}}


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def tagger(**options):
    return Tagger(
        **{
            "settings": SMALL,
            "epochs": 6,
            "batch": 8,
            "learning_rate": 0.05,
            "dev_share": 0.2,
            **options,
        }
    )


def drawn(count=75, seed=0):
    draw = random.Random(seed)
    kinds = [n % 3 for n in range(count)]
    return [
        f"the {draw.choice(WORDS[k])} {draw.choice(WORDS[k])} of x{n}" for n, k in enumerate(kinds)
    ], kinds


TEXTS, KINDS = drawn()
SINGLE = [NAMES[k] for k in KINDS]
LISTS = [[NAMES[k]] if n % 5 else [] for n, k in enumerate(KINDS)]
MATRIX = np.eye(3, dtype=int)[KINDS]
NEW = ["the apple pear", "hammer and saw", "rome of paris"]


@pytest.fixture(scope="module")
def single():
    return tagger().fit(TEXTS, SINGLE)


@pytest.fixture(scope="module")
def matrix():
    return tagger().fit(TEXTS, MATRIX)


@pytest.fixture(scope="module")
def lists():
    return tagger().fit(TEXTS, LISTS)


def test_single_labels_come_back_as_an_array_of_labels(single):
    assert single.predict(NEW).tolist() == NAMES
    assert single.predict(NEW).shape == (3,)


def test_lists_come_back_as_lists(lists):
    found = lists.predict(NEW)
    assert [type(row) for row in found] == [list] * 3
    assert all(set(row) <= set(NAMES) for row in found)
    assert lists.score(TEXTS, LISTS) == np.mean(
        [a == b for a, b in zip(lists.predict(TEXTS), LISTS)]
    )


def test_a_matrix_comes_back_as_a_matrix(matrix):
    found = matrix.predict(TEXTS)
    assert found.shape == (75, 3)
    assert set(np.unique(found)) <= {0, 1}
    assert (found == MATRIX).mean() > 0.9


def test_columns_of_the_matrix_that_no_text_has_stay_empty():
    wide = np.zeros((75, 12), int)
    wide[:, [1, 4, 11]] = MATRIX
    fitted = tagger().fit(TEXTS, wide)
    assert fitted.predict_proba(NEW).shape == (3, 12)
    assert np.mean(fitted.predict_proba(TEXTS)[:, [1, 4, 11]].argmax(1) == KINDS) > 0.8
    assert not fitted.predict(TEXTS)[:, [0, 2, 3, 5, 6, 7, 8, 9, 10]].any()


def test_a_sparse_matrix_is_read_like_a_dense_one(matrix):
    fitted = tagger().fit(TEXTS, csr_array(MATRIX))
    assert np.array_equal(fitted.predict_proba(NEW), matrix.predict_proba(NEW))


def test_probabilities_of_single_labels_sum_to_one_in_the_order_of_classes(single):
    found = single.predict_proba(NEW)
    np.testing.assert_allclose(found.sum(1), 1, rtol=1e-12)
    assert single.classes_.tolist() == sorted(NAMES)
    assert single.classes_[found.argmax(1)].tolist() == NAMES


@pytest.mark.parametrize("objective", ["bce", "zlpr"])
def test_rows_sum_to_one_whatever_the_loss(objective):
    found = tagger(objective=objective, epochs=1).fit(TEXTS, SINGLE).predict_proba(TEXTS)
    np.testing.assert_allclose(found.sum(1), 1, rtol=1e-12)


@pytest.mark.parametrize(
    "labels",
    [[1, 2, 10], [0.0, 1.0, 20.0], [True, False, True], [np.int64(3), np.int64(5), np.int64(40)]],
)
def test_numbers_come_back_as_numbers(labels):
    fitted = tagger().fit(TEXTS, [labels[k] for k in KINDS])
    assert set(fitted.predict(TEXTS).tolist()) <= set(labels)
    assert fitted.predict(NEW).dtype.kind in "ifb"
    assert fitted.score(TEXTS, [labels[k] for k in KINDS]) > 0.6


def test_classes_are_sorted_as_scikit_learn_sorts_them():
    """Scorers that take probabilities take columns in the order of np.unique(labels)."""
    labels = [[1, 2, 10][k] for k in KINDS]
    fitted = tagger().fit(TEXTS, labels)
    assert fitted.classes_.tolist() == [1, 2, 10]
    truth = fitted.predict_proba(TEXTS)[np.arange(75), KINDS]
    expected = -np.log(truth).mean()
    assert -get_scorer("neg_log_loss")(fitted, TEXTS, labels) == pytest.approx(expected, rel=1e-6)
    assert log_loss(labels, fitted.predict_proba(TEXTS)) == pytest.approx(expected, rel=1e-6)


def test_numbers_in_lists_come_back_as_numbers():
    labels = [[k] for k in KINDS]
    fitted = tagger().fit(TEXTS, labels)
    assert {type(label) for row in fitted.predict(TEXTS) for label in row} == {int}
    assert fitted.score(TEXTS, labels) > 0.5


def test_the_score_of_single_labels_is_accuracy(single):
    assert single.score(TEXTS, SINGLE) == np.mean(single.predict(TEXTS) == np.array(SINGLE))


def test_clone_and_parameters():
    first = tagger(seed=4, objective="zlpr")
    copy = clone(first)
    assert copy.get_params() == first.get_params()
    assert copy is not first
    copy.set_params(epochs=1, encoder="lstm")
    assert (copy.epochs, copy.encoder) == (1, "lstm")
    assert first.epochs == 6
    with pytest.raises(ValueError):
        copy.set_params(epoch=1)


def test_fitting_does_not_change_the_parameters():
    made = tagger(epochs=1)
    before = repr(made.get_params())
    made.fit(TEXTS, SINGLE)
    assert repr(made.get_params()) == before


def test_nothing_works_before_fit(tmp_path):
    for call in (
        lambda t: t.predict(NEW),
        lambda t: t.predict_proba(NEW),
        lambda t: t.save(tmp_path / "m"),
    ):
        with pytest.raises(NotFittedError):
            call(tagger())
    assert not (tmp_path / "m").exists()


def test_a_second_fit_forgets_the_first():
    made = tagger(epochs=1).fit(TEXTS, MATRIX)
    made.fit(TEXTS, SINGLE)
    assert made.predict(NEW).ndim == 1
    assert np.array_equal(
        made.predict_proba(NEW), tagger(epochs=1).fit(TEXTS, SINGLE).predict_proba(NEW)
    )


def test_tags_are_honest():
    tags = get_tags(tagger())
    assert is_classifier(tagger())
    assert tags.input_tags.string
    assert not tags.input_tags.two_d_array
    assert tags.classifier_tags.multi_label


def test_in_a_pipeline():
    lower = FunctionTransformer(lambda texts: [text.lower() for text in texts])
    made = Pipeline([("lower", lower), ("tag", tagger())]).fit(
        [text.upper() for text in TEXTS], SINGLE
    )
    assert made.predict([text.upper() for text in NEW]).tolist() == NAMES


@pytest.mark.parametrize("labels", [SINGLE, MATRIX], ids=["single", "matrix"])
def test_cross_validation(labels):
    scores = cross_val_score(tagger(), TEXTS, labels, cv=3)
    assert scores.shape == (3,)
    assert scores.mean() > 0.5


@pytest.mark.parametrize("labels", [SINGLE, MATRIX], ids=["single", "matrix"])
def test_grid_search(labels):
    search = GridSearchCV(tagger(), {"epochs": [0.2, 6]}, cv=2, scoring="f1_macro").fit(
        TEXTS, labels
    )
    assert search.best_params_ == {"epochs": 6}
    assert len(search.predict(NEW)) == 3


def test_nested_settings_can_be_searched():
    grid = {"settings": [SMALL, {"encoder": {"name": "cnn", "width": 4, "filters": 2}}]}
    assert (
        GridSearchCV(tagger(epochs=1), grid, cv=2).fit(TEXTS, SINGLE).best_params_["settings"]
        in grid["settings"]
    )


@pytest.mark.parametrize("encoder", ["cnn", "bow"])
def test_pickled_in_memory_it_says_the_same(encoder):
    settings = SMALL if encoder == "cnn" else {"encoder": {"name": "bow"}}
    fitted = tagger(encoder=encoder, settings=settings, epochs=2).fit(TEXTS, SINGLE)
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.predict_proba(NEW), fitted.predict_proba(NEW))


def test_joblib_workers_take_it(single):
    found = joblib.Parallel(n_jobs=2, backend="threading")(
        joblib.delayed(single.predict)([text]) for text in NEW
    )
    assert [row[0] for row in found] == NAMES


@pytest.mark.slow
def test_joblib_processes_take_it(single):
    found = joblib.Parallel(n_jobs=2, backend="loky")(
        joblib.delayed(single.predict)([text]) for text in NEW
    )
    assert [row[0] for row in found] == NAMES


def test_weights_of_zero_silence_their_rows():
    """Fruit rows twice, once as fruit with no weight and once as tool: what counts is learnt."""
    fruit = [text for text, k in zip(TEXTS, KINDS) if k == 0]
    texts = TEXTS + [f"{text} again" for text in fruit] * 2
    labels = SINGLE + ["tool"] * (2 * len(fruit))
    silent = np.array([0.0 if k == 0 else 1.0 for k in KINDS] + [1.0] * (2 * len(fruit)))
    made = tagger().fit(texts, labels, sample_weight=silent)
    assert made.predict(["the apple pear of"]).tolist() == ["tool"]
    other = tagger().fit(
        texts,
        labels,
        sample_weight=np.where(silent == 0, 1.0, np.where(np.arange(len(texts)) < 75, 1.0, 0.0)),
    )
    assert other.predict(["the apple pear of"]).tolist() == ["fruit"]


def test_equal_weights_are_no_weights(single):
    weighted = tagger().fit(TEXTS, SINGLE, sample_weight=[2.5] * 75)
    np.testing.assert_allclose(weighted.predict_proba(NEW), single.predict_proba(NEW), rtol=1e-4)


def test_no_texts_give_no_predictions(single, lists):
    assert single.predict([]).shape == (0,)
    assert single.predict_proba([]).shape == (0, 3)
    assert lists.predict([]) == []


def test_an_array_of_texts_is_read_like_a_list(single):
    for kind in (object, str):
        assert single.predict(np.array(NEW, dtype=kind)).tolist() == NAMES


def test_saved_and_loaded_it_says_the_same(single, lists, tmp_path):
    for name, made in (("single", single), ("lists", lists)):
        made.save(tmp_path / name)
        again = load(tmp_path / name)
        assert np.array_equal(again.predict_proba(NEW), made.predict_proba(NEW))
        assert list(again.predict(NEW)) == list(made.predict(NEW))
        assert again.classes_.tolist() == sorted(NAMES)


def test_saving_twice_is_refused_without_overwrite(single, tmp_path):
    single.save(tmp_path / "m")
    with pytest.raises(TagwrightError, match="exists"):
        single.save(tmp_path / "m")
    single.save(tmp_path / "m", overwrite=True)


def test_a_loaded_tagger_saves_again(single, tmp_path):
    single.save(tmp_path / "m")
    load(str(tmp_path / "m")).save(str(tmp_path / "again"))
    assert np.array_equal(load(tmp_path / "again").predict_proba(NEW), single.predict_proba(NEW))


def test_the_seed_decides(single):
    assert np.array_equal(tagger().fit(TEXTS, SINGLE).predict_proba(NEW), single.predict_proba(NEW))
    assert not np.array_equal(
        tagger(seed=1).fit(TEXTS, SINGLE).predict_proba(NEW), single.predict_proba(NEW)
    )


def test_a_single_label_is_always_the_likeliest():
    fitted = tagger(objective="bce", epochs=1).fit(TEXTS, SINGLE)
    likeliest = fitted.classes_[fitted.predict_proba(TEXTS).argmax(1)]
    assert (fitted.predict(TEXTS) == likeliest).all()


def test_a_clone_of_a_loaded_tagger_trains_the_same_kind_of_model(tmp_path):
    tagger(settings={"encoder": {"name": "cnn", "filters": 7, "width": 8}}).fit(TEXTS, SINGLE).save(
        tmp_path / "m"
    )
    again = clone(load(tmp_path / "m")).fit(TEXTS, SINGLE)
    assert again.model_.inference.encoder.options["filters"] == 7
