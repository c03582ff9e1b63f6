"""Dev for every head: which rows count there, what the network is asked, and the score that the
best is chosen by.
"""

import json
import random

import numpy as np
import pytest
import torch
from seqeval.metrics import f1_score as entity_f1
from sklearn.metrics import (
    accuracy_score,
    f1_score,
    hamming_loss,
    label_ranking_average_precision_score,
    ndcg_score,
)

from tagwright.batches.inputs import TokenInputs
from tagwright.data import read_data
from tagwright.errors import SettingsError
from tagwright.models.build import build_network
from tagwright.models.distributed import ALONE
from tagwright.settings.schema import resolve
from tagwright.training.dev_split import DevInputs, Watched, devs_of, scorer
from tagwright.training.fitted import head_fit
from tagwright.training.prepare import prepare

from ..pipelines.several import heads_of, ready, write_heads

WORDS = ["red", "blue", "tent", "kite", "old", "hat"]
TOPICS = [f"t{number}" for number in range(7)]
COUNT, LIMIT = 60, 4
DEV = tuple(range(1, COUNT, 2))
ALL = ("mood", "topic", "span", "word")


def drawn(known=0.7):
    """Texts of 1 to 9 words, and what each head has for them; one in some texts knows nothing."""
    draw = random.Random(3)
    texts = [" ".join(draw.choices(WORDS, k=draw.randint(1, 9))) for _ in range(COUNT)]
    spans = {"tent": "B-X", "hat": "B-Y"}
    answers = {
        "mood": [draw.choice(["glad", "sad", "calm"]) for _ in texts],
        "topic": [sorted(draw.sample(TOPICS, draw.choice([0, 1, 1, 3]))) for _ in texts],
        "span": [[spans.get(word, "O") for word in text.split()] for text in texts],
        "word": [[draw.choice(["NOUN", "VERB"]) for _ in text.split()] for text in texts],
    }
    return texts, {
        name: [one if draw.random() < known else None for one in own]
        for name, own in answers.items()
    }


class Made:
    """A network that nobody trained, and dev as it is asked about it."""

    def __init__(self, folder, texts, answers, **sections):
        names = [*answers]
        heads = heads_of(*names, **sections.pop("own", {}))
        fit = {"limit": LIMIT, **sections.pop("fit", {})}
        write_heads(folder, answers, texts=texts, dev=DEV)
        self.prepared, self.settings = ready(folder, heads, fit=fit, **sections)
        self.network = untrained(self.prepared, self.settings)
        rows = self.prepared.rows("dev", self.network, self.settings)
        self.devs = devs_of(self.prepared, self.settings, rows)
        self.asked = DevInputs(self.prepared, self.settings, rows.inputs, self.devs)
        self.answers = self.asked.answers(self.network, ALONE)
        # dev as it was written, but for texts that nobody knows anything about
        there = [row for row in DEV if any(own[row] is not None for own in answers.values())]
        self.texts = [texts[row] for row in there]
        self.truth = {name: [own[row] for row in there] for name, own in answers.items()}

    def watch(self, metric="auto"):
        """What is watched by this setting."""
        return Watched(self.prepared, with_metric(self.settings, metric))

    def score(self, metric="auto"):
        """The evaluation by this metric."""
        return scorer(self.network, self.asked, self.watch(metric), ALONE)()

    def known(self, name):
        """Rows of dev that the head has an answer for."""
        return [row for row, answer in enumerate(self.truth[name]) if answer is not None]

    def cells(self, name):
        """What is true of these, (n, L)."""
        names = self.prepared.heads[name].space.names
        return np.array([[label in row for label in names] for row in self.listed(name)])

    def listed(self, name):
        """The labels of these as lists; of a head that tags tokens, one list a token."""
        found = [self.truth[name][row] for row in self.known(name)]
        if name in ("span", "word"):
            return [[tag] for tags in found for tag in tags]
        return [[one] for one in found] if name == "mood" else found

    def said(self, name):
        """The logits (n, L) of these, of all that the network said: a row a text, or a row a
        token.
        """
        if name not in ("span", "word"):
            return self.answers[name][self.known(name)]
        starts = np.cumsum([0, *(len(text.split()) for text in self.texts)])
        return np.concatenate(
            [self.answers[name][starts[row] : starts[row + 1]] for row in self.known(name)]
        )

    def chosen(self, name):
        """What the head decides of these, (n, L); how it decides is tested elsewhere."""
        return self.devs[name].decided(self.answers[name])[1].chosen


def with_metric(settings, metric):
    """The settings as if this metric were given."""
    plain = settings.as_dict()
    tasks = {name: head.own.task for name, head in settings.heads.items()}
    return resolve({**plain, "fit": {**plain["fit"], "metric": metric}}, heads=tasks)


def untrained(prepared, settings):
    """A network whose heads say something of each text."""
    labels = {name: (head.space, 0) for name, head in prepared.heads.items()}
    network = build_network(
        settings, labels, sizes=prepared.tokenizer.sizes, learned=prepared.learned
    )
    torch.manual_seed(1)
    for head in network.heads.values():
        torch.nn.init.normal_(head.linear.weight)
    return network.eval()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """All four heads, each with texts that it has no answer for."""
    return Made(tmp_path_factory.mktemp("dev"), *drawn())


# which rows count


def test_texts_without_a_label_of_a_head_do_not_count_for_it(made):
    for name in ("mood", "topic"):
        dev = made.devs[name]
        assert dev.kept.tolist() == made.known(name)
        assert 0 < len(dev.kept) < len(made.texts)
        np.testing.assert_array_equal(dev.truth, made.cells(name))
        np.testing.assert_array_equal(dev.scored(made.answers[name]), made.said(name))
        assert not dev.tags_tokens
    assert made.known("mood") != made.known("topic")
    assert [] in made.listed("topic")  # no label is an answer, too


def test_tokens_of_untagged_texts_do_not_count(made):
    for name in ("span", "word"):
        dev = made.devs[name]
        lengths = [len(made.truth[name][row]) for row in made.known(name)]
        assert dev.tags_tokens
        assert dev.offsets.tolist() == np.cumsum([0, *lengths]).tolist()
        np.testing.assert_array_equal(dev.truth, made.cells(name))
        np.testing.assert_array_equal(dev.scored(made.answers[name]), made.said(name))
        assert len(dev.truth) == sum(lengths) < len(made.answers[name])


def test_where_every_text_has_an_answer_all_count(tmp_path):
    texts, answers = drawn(known=2.0)
    made = Made(tmp_path, texts, answers)
    for name, dev in made.devs.items():
        assert dev.kept is None
        assert dev.scored(made.answers[name]) is made.answers[name]
        np.testing.assert_array_equal(dev.truth, made.cells(name))
    assert (
        made.devs["span"].offsets.tolist()
        == np.cumsum([0, *(len(text.split()) for text in made.texts)]).tolist()
    )


def test_a_tag_of_dev_that_train_lacks_is_right_nowhere_and_its_token_counts(tmp_path):
    texts, answers = drawn()
    write_heads(tmp_path, answers, texts=texts, dev=DEV)
    lines = [json.loads(line) for line in (tmp_path / "dev.jsonl").read_text().splitlines()]
    first = next(line for line in lines if line["word"] and len(line["word"]) > 1)
    first["word"][1] = "ADV"
    (tmp_path / "dev.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    prepared, settings = ready(tmp_path, heads_of(*ALL))
    network = untrained(prepared, settings)
    dev = devs_of(prepared, settings, prepared.rows("dev", network, settings))["word"]
    flat = [tag for line in lines if line["word"] for tag in line["word"]]
    assert dev.truth.tolist() == [[tag == name for name in ("NOUN", "VERB")] for tag in flat]
    assert flat.count("ADV") == (~dev.truth.any(1)).sum() == 1


def test_one_head_without_a_name_counts_all_rows_of_dev(source, tiny):
    settings = resolve(tiny())
    prepared = prepare(read_data(source), settings)
    network = untrained(prepared, settings)
    rows = prepared.rows("dev", network, settings)
    devs = devs_of(prepared, settings, rows)
    labels = prepared.tables["dev"]["labels"].to_pylist()
    expected = [[label in row for label in prepared.space.names] for row in labels]
    assert [*devs] == ["main"]
    assert devs["main"].kept is None
    assert devs["main"].truth.tolist() == expected
    logits = DevInputs(prepared, settings, rows.inputs, devs).answers(network, ALONE)["main"]
    value = label_ranking_average_precision_score(expected, logits)
    watch = Watched(prepared, settings)
    found = scorer(network, DevInputs(prepared, settings, rows.inputs, devs), watch, ALONE)()
    assert (watch.metric, str(watch), found.beside) == ("lrap", "lrap", {})
    assert found.score == pytest.approx(value, abs=1e-6)


def test_examples_of_confused_labels_are_rows_of_the_table_with_answers(made):
    dev = made.devs["mood"]
    pairs = head_fit(dev, made.answers["mood"]).measures.states["confusion"].top(9)
    names = dev.space.names
    assert pairs
    for pair in pairs:
        assert pair.rows
        for row in dev.kept[list(pair.rows)]:
            assert made.truth["mood"][row] == names[pair.missed]
            assert made.answers["mood"][row].argmax() == pair.wrong


# what the network is asked


def test_labels_are_asked_of_the_first_window_and_tags_of_the_whole_text(made):
    pieces = made.prepared.sheets["dev"].tokens
    starts = np.cumsum([0, *(len(text.split()) for text in made.texts)])
    assert max(np.diff(starts)) > LIMIT
    for row in range(len(made.texts)):
        alone = TokenInputs(pieces, LIMIT).batch(np.array([row]))
        with torch.no_grad():
            logits = made.network.of_labels(*alone)
        for name in ("mood", "topic"):
            np.testing.assert_allclose(
                made.answers[name][row], logits[name][0], rtol=1e-4, atol=1e-5
            )
        for name in ("span", "word"):
            own = made.answers[name][starts[row] : starts[row + 1]]
            assert np.abs(own).min(0).all()
            if len(own) <= LIMIT:
                np.testing.assert_allclose(own, logits[name][0], rtol=1e-4, atol=1e-5)
    assert {name: len(own) for name, own in made.answers.items()} == {
        "mood": len(made.texts),
        "topic": len(made.texts),
        "span": starts[-1],
        "word": starts[-1],
    }


def test_only_the_heads_that_are_named_are_asked(made):
    for heads in (["topic"], ["word"], ["span", "mood"]):
        found = made.asked.answers(made.network, ALONE, heads)
        assert found.keys() == {*heads}
        for name, logits in found.items():
            np.testing.assert_array_equal(logits, made.answers[name])


# the score


def f1(made, name):
    return f1_score(made.cells(name), made.chosen(name), average="macro", zero_division=0)


def spans(made):
    """F1 of spans, text by text."""
    names = made.prepared.heads["span"].space.names
    true = [made.truth["span"][row] for row in made.known("span")]
    ids, found = made.chosen("span").argmax(1).tolist(), []
    for tags in true:
        found.append([names[ids.pop(0)] for _ in tags])
    assert not ids
    return entity_f1(true, found)


def test_by_default_the_score_is_the_mean_of_what_each_head_is_watched_by(made):
    expected = {
        "mood": accuracy_score(made.cells("mood").argmax(1), made.said("mood").argmax(1)),
        "topic": label_ranking_average_precision_score(made.cells("topic"), made.said("topic")),
        "span": spans(made),
        "word": f1(made, "word"),
    }
    found = made.score()
    assert found.beside == pytest.approx(
        {f"{name} score": value for name, value in expected.items()}, abs=1e-6
    )
    assert found.score == pytest.approx(sum(expected.values()) / 4, abs=1e-6)
    assert made.watch().metric == "score"
    assert (
        str(made.watch())
        == "the mean of accuracy of mood, lrap of topic, entity_f1 of span and macro_f1 of word"
    )
    assert made.watch().sign == 1


def test_a_metric_that_all_have_is_the_mean_over_all(made):
    expected = {name: f1(made, name) for name in ALL}
    found = made.score("macro_f1")
    assert found.beside == pytest.approx(
        {f"{name} score": value for name, value in expected.items()}, abs=1e-6
    )
    assert found.score == pytest.approx(np.mean([*expected.values()]), abs=1e-6)


@pytest.mark.parametrize(
    ("metric", "heads"), [("lrap", ("mood", "topic")), ("entity_f1", ("span", "word"))]
)
def test_heads_that_lack_a_metric_have_no_say(metric, heads, made):
    watch = made.watch(metric)
    assert watch.of == dict.fromkeys(heads, metric)
    assert watch.metric == "score"
    assert made.score(metric).beside.keys() == {f"{name} score" for name in heads}


def test_the_mean_of_a_metric_that_two_have_is_over_these_two(made):
    value = [
        label_ranking_average_precision_score(made.cells(name), made.said(name))
        for name in ("mood", "topic")
    ]
    assert made.score("lrap").score == pytest.approx(np.mean(value), abs=1e-6)


def test_a_metric_of_one_head_is_the_score_and_bears_its_name(tmp_path):
    texts, answers = drawn()
    made = Made(tmp_path, texts, {name: answers[name] for name in ("topic", "span")})
    watch = made.watch("lrap")
    assert (watch.metric, str(watch)) == ("lrap", "lrap")
    found = made.score("lrap")
    value = label_ranking_average_precision_score(made.cells("topic"), made.said("topic"))
    assert found.score == pytest.approx(value, abs=1e-6)
    assert found.beside == pytest.approx({"topic score": value}, abs=1e-6)


def test_a_metric_that_only_texts_with_one_label_have_is_that_of_these_heads(made):
    """A head with several labels a text has no accuracy, whatever is decided."""
    value = accuracy_score(made.cells("mood").argmax(1), made.said("mood").argmax(1))
    assert "topic" not in made.watch("accuracy").of
    assert made.score("accuracy").beside["mood score"] == pytest.approx(value, abs=1e-6)


def test_a_metric_where_lower_is_better_has_a_sign(made):
    watch = made.watch("hamming_loss")
    assert (watch.sign, watch.metric, [*watch.of]) == (-1, "score", [*ALL])
    expected = {f"{name} score": hamming_loss(made.cells(name), made.chosen(name)) for name in ALL}
    assert made.score("hamming_loss").beside == pytest.approx(expected, abs=1e-6)
    assert {name: watch.alone(name).sign for name in ALL} == dict.fromkeys(ALL, -1)


def test_one_head_alone_is_watched_by_its_own_metric(made):
    watch = made.watch()
    assert {name: watch.alone(name).metric for name in ALL} == watch.of
    assert [*watch.of] == [*ALL]  # it is as before
    assert str(watch.alone("topic")) == "lrap"
    silent = made.watch("lrap").alone("span")
    assert (silent.metric, silent.sign) == ("score", 1)


def test_a_metric_that_no_head_has_is_refused_and_an_unknown_one_is_named(tmp_path):
    texts, answers = drawn()
    made = Made(tmp_path, texts, {name: answers[name] for name in ("mood", "topic")})
    with pytest.raises(
        SettingsError, match=r"no head is measured by entity_f1; choose another fit\.metric"
    ):
        made.watch("entity_f1")
    with pytest.raises(SettingsError, match="lrap"):
        made.watch("lrapp")


def test_a_head_of_tokens_alone_shows_other_metrics_beside(tmp_path):
    texts, answers = drawn()
    made = Made(tmp_path, texts, {"span": answers["span"]})
    found, value = made.score(), spans(made)
    assert made.watch().metric == "entity_f1"
    assert found.score == pytest.approx(value, abs=1e-6)
    assert found.beside.keys() == {"macro_f1", "macro_f2", "entity_f1"}
    assert found.beside["macro_f1"] == pytest.approx(f1(made, "span"), abs=1e-6)


# labels that are very many


@pytest.fixture
def many(tmp_path, monkeypatch):
    """The labels of `topic` are scored by shortlists of five of the seven."""
    monkeypatch.setattr("tagwright.models.shortlist.FULL", 3)
    texts, answers = drawn()
    own = {"topic": {"objective": "bce", "head": {"chunk": 2, "shortlist": 5}}}
    return Made(
        tmp_path, texts, {name: answers[name] for name in ("mood", "topic")}, own=own, encoder="cnn"
    )


def test_of_shortlists_the_kept_rows_count(many):
    dev, whole = many.devs["topic"], many.answers["topic"]
    kept, rows = dev.scored(whole), many.known("topic")
    assert whole.ids.shape == (len(many.texts), 5)
    np.testing.assert_array_equal(kept.ids, whole.ids[rows])
    np.testing.assert_array_equal(kept.logits, whole.logits[rows])
    assert kept.label_count == 7
    np.testing.assert_array_equal(dev.truth.toarray(), many.cells("topic"))
    logits = [
        many.network.of_labels(*many.asked.inputs.batch(np.array([row])))["topic"][0]
        for row in rows
    ]
    for row, one in enumerate(logits):
        best = one.topk(5)
        assert kept.ids[row].tolist() == best.indices.tolist()
        np.testing.assert_allclose(kept.logits[row], best.values.detach(), rtol=1e-4, atol=1e-5)


def test_heads_with_and_without_shortlists_have_a_mean(many):
    assert many.watch().of == {"mood": "accuracy", "topic": "ndcg_at_5"}
    logits = np.full(many.cells("topic").shape, -1e9)
    kept = many.devs["topic"].scored(many.answers["topic"])
    np.put_along_axis(logits, kept.ids.astype(int), kept.logits, axis=1)
    labelled = many.cells("topic").any(1)
    gain = ndcg_score(many.cells("topic")[labelled], logits[labelled], k=5) * labelled.mean()
    right = accuracy_score(many.cells("mood").argmax(1), many.said("mood").argmax(1))
    found = many.score()
    assert found.beside == pytest.approx({"mood score": right, "topic score": gain}, abs=1e-6)
    assert found.score == pytest.approx((gain + right) / 2, abs=1e-6)


def test_a_head_whose_shortlist_does_not_give_a_metric_has_no_say(many):
    assert many.watch("lrap").of == {"mood": "lrap"}
