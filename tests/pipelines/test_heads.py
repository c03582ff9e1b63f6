"""Models with several named heads, from a file to answers: trained, saved, scored, tagged with,
decided, continued.
"""

import csv
import json
import shutil
import tomllib

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import torch
from sklearn.metrics import f1_score

from tagwright import load
from tagwright.data import read_data
from tagwright.errors import DataError, SettingsError
from tagwright.inference import model_folder
from tagwright.inference.score import score
from tagwright.inference.spans import find_spans, given_tokens
from tagwright.inference.tag import tag
from tagwright.pipelines.compare import compare_folder
from tagwright.pipelines.decide import redecide
from tagwright.pipelines.element_groups import find_element_groups
from tagwright.pipelines.fit import fit_folder
from tagwright.pipelines.groups import find_groups
from tagwright.pipelines.keywords import find_keywords
from tagwright.pipelines.report import report_folder
from tagwright.pipelines.score import score_folder
from tagwright.pipelines.tag import tag_file
from tagwright.settings.merge import read_settings
from tagwright.training.check import check
from tagwright.training.head_objective import objectives_of
from tagwright.training.learner import Learner
from tagwright.training.prepare import prepare
from tagwright.training.read_data import read_for
from tagwright.training.state import Run
from tagwright.training.step_stream import Interrupted
from tagwright.training.train import _network, fit

from . import several

TINY = {"name": "bat", "hidden": 16, "width": 16, "feed": 16, "layers": 1, "heads": 2}
GIVEN = {
    "data": {"task": "both"},
    "encoder": TINY,
    "fit": {"epochs": 1.0, "device": "cpu", "learning_rate": 0.005},
}
TOPICS = {"billing": ("invoice", "refund"), "tech": ("crash", "login"), "sales": ("price", "offer")}
URGENCY = {"high": "urgent", "low": "whenever"}
FLAGS = {"angry": "awful", "new": "first", "vip": "partner"}
THREE = {
    "heads": {"topic": {}, "urgency": {"weight": 0.5}, "flags": {"objective": "zlpr"}},
    "encoder": {"name": "cnn", "width": 16, "filters": 8},
    "fit": {"epochs": 6.0, "batch": 16, "device": "cpu", "learning_rate": 0.03},
}


@pytest.fixture(scope="module")
def mails(tmp_path_factory):
    """Mails with a topic each, an urgency that a third of them do not have, and any number of
    flags.
    """
    draw, path = np.random.default_rng(0), tmp_path_factory.mktemp("mails") / "mails.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["message", "topic", "urgency", "flags"])
        for number in range(240):
            topic, urgency = draw.choice(sorted(TOPICS)), draw.choice(["high", "low", ""])
            flags = [flag for flag in FLAGS if draw.random() < 0.4]
            words = [
                *draw.permutation(TOPICS[topic]),
                URGENCY.get(urgency, "please"),
                *(FLAGS[flag] for flag in flags),
            ]
            rows.writerow(
                [
                    " ".join([*draw.permutation(words), f"n{number}"]),
                    topic,
                    urgency,
                    ";".join(flags),
                ]
            )
    return path


@pytest.fixture(scope="module")
def folder(mails, tmp_path_factory):
    out = tmp_path_factory.mktemp("three") / "model"
    outcome = fit_folder(str(mails), THREE, out=out)
    assert list(outcome.heads) == ["topic", "urgency", "flags"]
    return out


def copied(folder, tmp_path):
    return shutil.copytree(folder, tmp_path / "model")


def weights(fitted):
    return fitted.model.network.state_dict()


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_each_head_learns_its_own_labels_and_rule(folder):
    model = model_folder.load(folder)
    assert {name: head.space.names for name, head in model.heads.items()} == {
        "topic": ("billing", "sales", "tech"),
        "urgency": ("high", "low"),
        "flags": ("angry", "new", "vip"),
    }
    assert [head.rule for head in model.heads.values()] == ["argmax", "argmax", "threshold"]
    assert model.heads["topic"].metrics["metrics"]["accuracy"] > 0.8
    assert model.heads["flags"].metrics["metrics"]["micro_f1"] > 0.8


def test_figures_of_a_head_are_those_of_the_texts_where_it_has_an_answer(folder, mails):
    found = score_folder(folder, str(mails), split=None, unseen="drop", convention="sklearn")
    told = [row for row in rows_of(mails) if row["urgency"]]
    chosen = load(folder, head="urgency").predict([row["message"] for row in told])
    expected = f1_score([row["urgency"] for row in told], chosen, average="macro")
    results = found.as_dict()["heads"]
    assert found.heads["urgency"].rows == len(told) < found.heads["topic"].rows == 240
    assert results["urgency"]["macro_f1"] == pytest.approx(expected)
    assert set(results) == {"topic", "urgency", "flags"}


def test_what_nobody_said_of_a_head_teaches_it_nothing(mails):
    """Other labels where a head's cell is empty would change nothing, for the cell takes no
    part.
    """
    data, settings = read_for(str(mails), {**THREE, "fit": {**THREE["fit"], "epochs": 0.5}})
    prepared = prepare(data, settings)
    network, objectives = _network(prepared, settings), objectives_of(prepared, settings)
    rows = prepared.rows("train", network, settings)
    labelled = rows.heads["urgency"].labelled
    index = np.array([np.flatnonzero(~labelled)[0], np.flatnonzero(labelled)[0]])
    batch = rows.batch(index, "cpu")
    logits = network.eval().run(*batch.inputs)[1]
    parts = {
        name: objectives[name](logits[name], batch.heads[name], generator=None)
        for name in objectives
    }
    whole = Learner(network, objectives)(batch, torch.Generator()).value
    torch.testing.assert_close(whole, sum(parts.values()))
    truth = int(batch.heads["urgency"].target[1].argmax())
    of_urgency = -torch.log_softmax(logits["urgency"][1], -1)[truth]
    rare = 0.5 * len(labelled) / labelled.sum()  # its weight, and as if it had an answer everywhere
    torch.testing.assert_close(parts["urgency"], of_urgency * rare.item(), rtol=1e-5, atol=1e-6)
    logits["urgency"][0] += 3.0
    assert (
        objectives["urgency"](logits["urgency"], batch.heads["urgency"], generator=None)
        == parts["urgency"]
    )


def test_a_rarely_answered_head_weighs_more_a_text_but_not_where_no_answer_is_needed(tmp_path):
    rows = [
        f"{'xyz'[n % 3]} number{n},{'xyz'[n % 3]},{'pq'[n // 10 % 2] if n % 10 == 0 else ''}"
        for n in range(200)
    ]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["text,often,rarely", *rows]), encoding="utf-8")
    data, settings = read_for(
        str(path), {"heads": {"often": {}, "rarely": {"weight": 0.5}}, "encoder": "cnn"}
    )
    prepared = prepare(data, settings)
    found = objectives_of(prepared, settings)
    answers = prepared.heads["rarely"].examples
    assert (found["often"].weight, found["often"].of_any_text) == (1.0, 1.0)
    assert found["rarely"].weight == pytest.approx(
        0.5 * prepared.tables["train"].num_rows / answers
    )
    assert found["rarely"].of_any_text == 0.5  # two passes must agree on every text


def test_a_loss_of_a_whole_batch_weighs_the_same_however_rarely_its_head_is_answered(mails):
    heads = {"topic": {"objective": "bce"}, "urgency": {"objective": "batch_dice", "weight": 0.5}}
    data, settings = read_for(str(mails), {**THREE, "heads": heads})
    found = objectives_of(prepare(data, settings), settings)
    assert (found["urgency"].weight, found["topic"].weight) == (0.5, 1.0)


def test_the_logits_of_heads_that_nobody_asks_for_are_not_made(folder, monkeypatch):
    model = model_folder.load(folder)
    monkeypatch.setattr(
        type(model.network.heads["topic"]), "forward", lambda head, hidden: calls.append(head)
    )
    calls = []
    model.network.run(
        torch.ones(1, 3, dtype=torch.long), torch.tensor([3]), without=["topic", "flags"]
    )
    assert calls == [model.network.heads["urgency"]]


@pytest.mark.parametrize("own", [{"objective": "zlpr"}, {"objective": "bce", "targets": "kwls"}])
def test_a_head_alone_learns_what_it_would_without_a_name(own, mails):
    """A single named head has the weights of a plain run on the same column."""
    plain = {**THREE, "data": {"labels": "flags"}, **own}
    plain.pop("heads")
    named = {**THREE, "heads": {"flags": own}}
    of_plain, of_named = (
        fit(prepare(*read), read[1])
        for read in (read_for(str(mails), one) for one in (plain, named))
    )
    for key, value in weights(of_plain).items():
        assert torch.equal(weights(of_named)[key.replace("heads.main.", "heads.flags.")], value), (
            key
        )


def test_stopped_and_resumed_equals_never_stopped(mails, tmp_path):
    given = {
        **THREE,
        "fit": {**THREE["fit"], "epochs": 2.0, "save_seconds": 0.0},
        "rdrop": {"alpha": 1.0},
    }
    given["encoder"] = {**given["encoder"], "dropout": 0.2}
    data, settings = read_for(str(mails), given)
    prepared, stops = prepare(data, settings), iter([False] * 7 + [True])
    whole = fit(prepared, settings)
    with pytest.raises(Interrupted):
        fit(prepared, settings, Run(folder=tmp_path, asked=lambda: next(stops)))
    resumed = fit(prepared, settings, Run(folder=tmp_path))
    assert all(torch.equal(value, weights(resumed)[key]) for key, value in weights(whole).items())
    assert whole.history[-1]["score"] == resumed.history[-1]["score"]


def test_tagging_gives_columns_to_each_head_and_one_head_can_be_asked(folder, mails, tmp_path):
    tag_file(folder, mails, tmp_path / "all.csv", column="got")
    rows = rows_of(tmp_path / "all.csv")
    assert [name for name in rows[0] if name.startswith("got")] == [
        f"got_{head}{of}" for head in ("topic", "urgency", "flags") for of in ("", "_scores")
    ]
    for head, column in (("topic", "got_topic"), ("urgency", "got_urgency")):
        assert [row[column] for row in rows] == load(folder, head=head).predict(
            [r["message"] for r in rows]
        ).tolist()
    tag_file(folder, mails, tmp_path / "one.csv", head="topic", column="got")
    assert [row["got"] for row in rows_of(tmp_path / "one.csv")] == [
        row["got_topic"] for row in rows
    ]


@pytest.mark.parametrize("head", ["topic", "flags"])
def test_a_new_rule_of_one_head_leaves_the_others(head, folder, mails, tmp_path):
    model = copied(folder, tmp_path)
    before = {path: path.read_bytes() for path in (model / "heads").rglob("*.json")}
    done = redecide(model, str(mails), rule="auto", assignments=[], split=None, head=head)
    assert done.head == head
    changed = {path.parent.name for path, content in before.items() if path.read_bytes() != content}
    assert changed == {head}
    assert list(model_folder.load(model).heads) == ["topic", "urgency", "flags"]
    assert "## Other heads" in (model / "README.md").read_text("utf-8")


def test_groups_and_elements_ask_the_head_that_is_named(folder, mails):
    asked = {"model": folder, "head": "flags"}
    assert find_element_groups(str(mails), options={**asked, "threshold": 0.1}).label_count == 3
    with pytest.raises(
        SettingsError, match=r"\(24 texts\): no two labels"
    ):  # of flags, which every text has told
        find_groups(str(mails), by="confusions", options=asked)
    with pytest.raises(SettingsError, match="unknown head 'flag'"):
        find_groups(str(mails), by="confusions", options={**asked, "head": "flag"})


def test_every_head_has_a_report_and_the_card_names_them_all(folder, mails, tmp_path):
    pytest.importorskip("altair")
    pages = {path.name for path in (folder.parent / "model.run").glob("*.html")}
    assert pages == {"report.html", "report-urgency.html", "report-flags.html"}
    card = (folder / "README.md").read_text("utf-8")
    assert "head `topic`" in card
    assert "| urgency | exactly one of 2 labels |" in card
    assert "| flags | any number of 3 labels |" in card
    report_folder(
        folder, str(mails), tmp_path / "flags.html", split=None, overwrite=False, head="flags"
    )
    assert "angry" in (tmp_path / "flags.html").read_text("utf-8")


def test_the_settings_of_a_folder_repeat_the_run(folder, mails):
    given = read_settings(folder / "settings.toml")
    assert given["heads"]["flags"]["objective"] == "zlpr"
    data, settings = read_for(str(mails), given)
    assert settings == read_for(str(mails), THREE)[1]
    resolved = tomllib.loads((folder / "resolved.toml").read_text("utf-8"))
    assert resolved["heads"]["urgency"]["loss"]["name"] == "cross_entropy"
    again = fit(prepare(data, settings), settings).model.network.state_dict()
    saved = model_folder.load(folder).network.state_dict()
    assert all(torch.equal(again[key], value) for key, value in saved.items())


def test_in_python_a_head_answers_and_all_are_saved(folder, tmp_path):
    tagger = load(folder, head="flags")
    assert tagger.predict(["crash awful partner urgent"]) == [["angry", "vip"]]
    tagger.save(tmp_path / "again")
    assert set(model_folder.load(tmp_path / "again").heads) == {"topic", "urgency", "flags"}
    learnt = tagger.fit(["a b", "c d", "a d", "c b"] * 8, [["x"], ["y"], ["x", "y"], []] * 8)
    assert learnt.model_.record.resolved["objective"] == "zlpr"
    with pytest.raises(SettingsError, match="unknown head 'topics'"):
        load(folder, head="topics")
    with pytest.raises(SettingsError, match="trains several heads"):
        tagger.set_params(settings=THREE).fit(["a"], [["x"]])


def test_a_head_without_answers_in_dev_or_train_is_refused(tmp_path):
    path = tmp_path / "a.csv"
    rows = [f"text {n},{'xy'[n % 2]},{'pq'[n % 2] if n < 2 else ''}" for n in range(40)]
    path.write_text("\n".join(["text,a,b", *rows]), encoding="utf-8")
    data, settings = read_for(str(path), {"heads": {"a": {}, "b": {}}, "split": {"seed": 1}})
    with pytest.raises(DataError, match="with labels of b"):
        prepare(data, settings)


def test_teachers_and_masks_are_those_of_their_head(mails):
    given = {**THREE, "fit": {**THREE["fit"], "epochs": 1.0}}
    given["heads"] = {
        "topic": {"objective": "ls-distil"},
        "flags": {"objective": "bce", "targets": "kwls"},
    }
    data, settings = read_for(str(mails), given)
    prepared = prepare(data, settings)
    made = prepared.alone("flags").soft_labels(["train"], settings.of("flags"))
    assert made.shape == (prepared.tables["train"].num_rows, 3)
    fitted = fit(prepared, settings)
    assert list(fitted.heads) == ["topic", "flags"]
    assert fitted.heads["topic"].measures.results()["accuracy"] > 0.5


@pytest.mark.parametrize("names", [("score", "topic"), ("type", "values"), ("loss", "training")])
def test_a_head_may_be_called_what_the_program_calls_something_else(names, mails, tmp_path):
    own = {name: {"labels": column} for name, column in zip(names, ("topic", "flags"))}
    given = {**THREE, "heads": own, "fit": {**THREE["fit"], "epochs": 2.0, "evaluations": 1.0}}
    fit_folder(str(mails), given, out=tmp_path / "model")
    model = model_folder.load(tmp_path / "model")
    assert list(model.heads) == list(names)
    data, settings = read_for(str(mails), given)
    history = fit(prepare(data, settings), settings).history
    assert [row["score"] for row in history] == pytest.approx(
        [sum(row[f"{name} score"] for name in names) / 2 for row in history]
    )
    assert all(np.isfinite(row["loss"]) for row in history)


def test_reports_are_written_where_dev_lacks_answers_of_each_head(tmp_path):
    pytest.importorskip("altair")
    draw = np.random.default_rng(0)
    texts = [
        " ".join(draw.choice(["red", "blue", "tent", "kite", "old", "hat"], 3)) for _ in range(60)
    ]
    moods = [["glad", "sad", None][number] for number in draw.integers(0, 3, 60)]
    topics = [[["sea"], ["land", "sea"], [], None][number] for number in draw.integers(0, 4, 60)]
    spans = [
        [None, ["O", "B-X", "O"], ["B-X", "I-X", "O"]][number] for number in draw.integers(0, 3, 60)
    ]
    for number, answers in enumerate(
        ({"mood": moods, "topic": topics}, {"topic": topics, "span": spans})
    ):
        folder = several.write_heads(
            tmp_path / f"{number}", answers, texts=texts, dev=range(0, 60, 2)
        )
        said = []
        given = {"encoder": several.ENCODER, "fit": {"epochs": 1, "device": "cpu"}}
        given["heads"] = several.heads_of(*answers)
        outcome = fit_folder(str(folder), given, out=tmp_path / f"{number}-model", say=said.append)
        assert outcome.report is not None, said
        assert (outcome.report.parent / f"report-{[*answers][1]}.html").exists()


def test_a_comparison_is_of_what_the_first_head_learns_by(mails, tmp_path):
    settings = {
        **THREE,
        "heads": {"flags": {}, "urgency": {}},
        "fit": {**THREE["fit"], "epochs": 1.0},
    }
    made = compare_folder(
        str(mails), settings, objectives=["bce", "zlpr"], seeds=2, jobs=1, out=tmp_path / "c"
    )
    assert made.failed == 0
    assert made.facts.title.endswith(", flags")
    given = {**settings, "heads": {"flags": {"objective": "zlpr"}, "urgency": {}}}
    with pytest.raises(
        SettingsError, match="bce is not compared, for the head whose figures are compared, flags"
    ):
        compare_folder(
            str(mails), given, objectives=["bce", "focal"], seeds=1, jobs=1, out=tmp_path / "d"
        )


def test_keywords_are_those_of_one_head(mails):
    given = {"heads": {"topic": {}, "flags": {}}}
    found = find_keywords(str(mails), given, head="flags", texts=0, top=1)
    assert {name: words[0].word for name, words in found.keywords.items()} == FLAGS
    assert set(find_keywords(str(mails), given, texts=0).keywords) == set(TOPICS)


def test_columns_that_two_heads_would_write_are_refused(mails, tmp_path):
    given = {**THREE, "heads": {"a": {"labels": "topic"}, "a_scores": {"labels": "urgency"}}}
    fit_folder(
        str(mails), {**given, "fit": {**THREE["fit"], "epochs": 0.5}}, out=tmp_path / "model"
    )
    with pytest.raises(SettingsError, match="two heads would write the column 'tags_a_scores'"):
        tag_file(tmp_path / "model", mails, tmp_path / "out.csv")
    tag_file(tmp_path / "model", mails, tmp_path / "out.csv", head="a")


def test_heads_without_answers_in_the_data_are_named_and_the_others_scored(folder, mails, tmp_path):
    for column in ("urgency", "flags"):
        rows = [{**row, column: ""} for row in rows_of(mails)]
        path = tmp_path / f"no-{column}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        found = score_folder(folder, str(path), split=None, unseen="drop", convention="sklearn")
        assert found.left_out == (column,)
        assert column not in found.as_dict()["heads"]


def test_the_words_of_a_head_stay_and_a_run_stopped_in_its_teacher_goes_on(mails, tmp_path):
    own = {
        "topic": {},
        "flags": {"objective": "bce", "mask": {"name": "elements", "threshold": 0.05}},
    }
    given = {**THREE, "heads": own, "fit": {**THREE["fit"], "epochs": 4.0}}
    stops = iter([False] * 3 + [True])
    with pytest.raises(Interrupted):
        fit_folder(str(mails), given, out=tmp_path / "model", asked=lambda: next(stops))
    assert [path.name for path in (tmp_path / "model.run").iterdir() if path.is_dir()] == [
        "head-flags"
    ]
    fit_folder(str(mails), given, out=tmp_path / "model", resume=True)
    assert "angry" in (tmp_path / "model.run" / "elements-flags.csv").read_text("utf-8")
    fit_folder(str(mails), THREE, out=tmp_path / "model", overwrite=True)
    assert not (tmp_path / "model.run" / "elements-flags.csv").exists()


def test_a_teacher_with_a_head_of_the_same_name_teaches_by_it(folder, mails):
    own = {"flags": {"objective": "bce", "targets": {"name": "distil", "model": str(folder)}}}
    data, settings = read_for(
        str(mails), {**THREE, "heads": own, "fit": {**THREE["fit"], "epochs": 0.5}}
    )
    prepared = prepare(data, settings)
    check(prepared, settings)
    assert fit(prepared, settings).heads["flags"].measures.results()["micro_f1"] > 0.2


# labels of texts and tags of their tokens


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    out = tmp_path_factory.mktemp("both") / "model"
    outcome = fit_folder("shop", GIVEN, out=out)
    assert list(outcome.heads) == ["main", "tags"]
    return model_folder.load(out)


def test_both_heads_are_saved_with_their_labels_and_figures(model):
    assert list(model.heads) == ["main", "tags"]
    assert "B-BRAND" in model.heads["tags"].space.names
    assert "outdoor/tent" in model.heads["main"].space.names
    assert model.heads["tags"].rule == "spans"
    assert model.heads["main"].rule == "threshold"
    assert {"entity_f1"} <= set(model.heads["tags"].metrics["metrics"])
    assert "lrap" in model.heads["main"].metrics["metrics"]


def test_both_learn(model):
    scored = score(model, read_data("shop", task="both"), split="test")
    results = scored.as_dict()
    assert results["metrics"]["lrap"] > 0.2
    assert results["heads"]["tags"]["entity_f1"] > 0.3


def test_the_loss_is_that_of_the_labels_and_the_weighed_one_of_the_tags():
    data, settings = read_for(
        "shop", {**GIVEN, "heads": {"tags": {"objective": "cecl", "weight": 0.5}}}
    )
    prepared = prepare(data, settings)
    network = _network(prepared, settings).eval()
    rows = prepared.rows("train", network, settings)
    batch = rows.batch(np.arange(5), "cpu")
    value = Learner(network, objectives_of(prepared, settings))(batch, torch.Generator()).value
    logits, truth, tags = (
        network(*batch.inputs),
        batch.heads["main"].target,
        batch.heads["tags"].tags,
    )
    of_labels = torch.nn.functional.binary_cross_entropy_with_logits(
        logits["main"], truth, reduction="sum"
    )
    share = torch.log_softmax(logits["tags"], -1)[tags >= 0]
    gold = tags[tags >= 0]
    others = torch.log1p(-share.exp()).scatter(1, gold[:, None], 0.0).sum()
    of_tags = -(share.gather(1, gold[:, None]).sum() + others)
    mean_tokens = prepared.token_count / prepared.tables["train"].num_rows
    torch.testing.assert_close(value, of_labels + 0.5 * of_tags / mean_tokens, rtol=1e-4, atol=1e-4)


def test_labels_start_at_their_share_of_texts_and_tags_at_theirs_of_tokens():
    data, settings = read_for("shop", GIVEN)
    prepared = prepare(data, settings)
    bias = _network(prepared, settings).heads["tags"].linear.bias
    counted = pc.value_counts(pc.list_flatten(prepared.tables["train"]["tags"]))
    counts = {row["values"]: row["counts"] for row in counted.to_pylist()}
    shares = [counts[name] / sum(counts.values()) for name in prepared.heads["tags"].space.names]
    np.testing.assert_allclose(torch.softmax(bias, 0).detach(), shares, rtol=1e-4)


def test_tag_gives_labels_and_keywords(model, tmp_path):
    source = tmp_path / "pages.jsonl"
    pages = read_data("shop").tables["test"]["text"][:5].to_pylist()
    source.write_text(
        "".join(json.dumps({"text": text}) + "\n" for text in [*pages, ""]), encoding="utf-8"
    )
    tag(model, source, tmp_path / "out.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()]
    assert all({"tags", "tags_scores", "keywords"} <= set(row) for row in rows)
    for row in rows:
        for keyword in row["keywords"]:
            assert all(
                row["text"][s["start"] : s["end"]].casefold() == keyword["text"].casefold()
                for s in keyword["spans"]
            )
    assert sum(len(row["keywords"]) for row in rows) > 0
    assert rows[-1]["keywords"] == []


def test_a_page_beyond_the_limit_is_tagged_to_its_end(model):
    page = read_data("shop").tables["test"]
    words = [word for row in page["tokens"].to_pylist()[:30] for word in row]
    _, cuts = given_tokens(pa.chunked_array([pa.array([words])]))
    found = find_spans(model.alone("tags"), cuts)
    assert found.end.max() > 0.9 * len(" ".join(words))
    assert model.scores([" ".join(words)]).chosen.shape == (1, len(model.heads["main"].space))


def test_a_table_without_labels_is_refused(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"tokens": ["a", "b"], "tags": ["O", "B-X"]}\n' * 4, encoding="utf-8")
    with pytest.raises(DataError, match="no column of labels"):
        read_data(path, task="both")


def test_the_tags_have_a_report_of_their_own(tmp_path):
    pytest.importorskip("altair")
    fit_folder("shop", {**GIVEN, "fit": {**GIVEN["fit"], "epochs": 0.2}}, out=tmp_path / "model")
    labels, tags = (
        (tmp_path / "model.run" / name).read_text("utf-8")
        for name in ("report.html", "report-tags.html")
    )
    assert "outdoor/tent" in labels
    assert "B-BRAND" in tags
    assert "outdoor/tent" not in tags


@pytest.mark.parametrize("order", [("pos", "ner"), ("ner", "pos")])
def test_a_text_counts_its_tokens_that_any_head_has_a_tag_for(order, tmp_path):
    rows = [
        {"tokens": ["in", "rome", f"n{n}"], "pos": None if n % 10 else ["P", "N", "X"]}
        for n in range(100)
    ]
    tags = [{**row, "ner": ["O", "B-CITY", "O"] if n % 4 else None} for n, row in enumerate(rows)]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in tags), encoding="utf-8")
    heads = {name: {"task": "tokens"} for name in order}
    data, settings = read_for(str(path), {"heads": heads, "encoder": TINY})
    prepared = prepare(data, settings)
    learnt = prepared.rows("train", _network(prepared, settings), settings)
    table = prepared.tables["train"]
    told = [
        bool(pos or ner)
        for pos, ner in zip(table["tags/pos"].to_pylist(), table["tags/ner"].to_pylist())
    ]
    assert learnt.sizes.tolist() == [3 * one for one in told]
    weights = {name: head.weight for name, head in objectives_of(prepared, settings).items()}
    tagged = table.num_rows - table["tags/pos"].null_count
    assert weights["pos"] == pytest.approx(sum(told) / tagged)
    assert prepared.heads["pos"].examples == 3 * tagged


def test_two_heads_may_tag_the_same_tokens(tmp_path):
    """Kinds and colors of words, each from a column of its own, beside a label of the text."""
    draw = np.random.default_rng(3)
    kinds, colors = (
        {"tent": "B-GEAR", "stove": "B-GEAR", "red": "O", "blue": "O"},
        {"red": "WARM", "blue": "COLD"},
    )
    rows = []
    for _ in range(160):
        words = draw.choice(sorted(kinds), 4).tolist()
        own = {
            "kind": [kinds[word] for word in words],
            "color": [colors.get(word, "NONE") for word in words],
        }
        rows.append({"tokens": words, **own, "gear": "some" if "B-GEAR" in own["kind"] else "no"})
    source = tmp_path / "rows.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    heads = {"kind": {}, "color": {}, "gear": {}}
    given = {"heads": heads, "encoder": TINY, "fit": {**GIVEN["fit"], "epochs": 12.0, "batch": 8}}
    outcome = fit_folder(str(source), given, out=tmp_path / "model")
    assert outcome.heads["kind"].metrics["entity_f1"] > 0.9
    assert outcome.heads["color"].metrics["accuracy"] > 0.9
    tag_file(tmp_path / "model", source, tmp_path / "out.jsonl", column="got")
    first = json.loads((tmp_path / "out.jsonl").read_text("utf-8").splitlines()[0])
    assert {"got", "keywords_kind", "keywords_color"} <= set(first)
    for head in (None, "gear"):  # the tokens are the text, whichever head is asked
        found = score_folder(
            tmp_path / "model",
            str(source),
            split=None,
            unseen="drop",
            convention="sklearn",
            head=head,
        )
        figures = found.as_dict()["heads"]["gear"] if head is None else found.as_dict()["metrics"]
        assert figures["accuracy"] > 0.9
    done = redecide(
        tmp_path / "model", str(source), rule="auto", assignments=[], split=None, head="kind"
    )
    assert done.metrics["entity_f1"] > 0.9
    again = read_for(str(source), read_settings(tmp_path / "model" / "resolved.toml"))[1]
    assert [again.of(name).objective for name in heads] == ["cross_entropy"] * 3
    told = {word["text"] for word in first["keywords_kind"]}
    assert told == {word for word in rows[0]["tokens"] if kinds[word] != "O"}
