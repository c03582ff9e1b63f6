"""Labels of texts and tags of tokens from one model: two heads, one encoder."""

import json

import numpy as np
import pyarrow as pa
import pytest
import torch

from tagwright import bundle
from tagwright.assemble.fit import fit_folder, read_for
from tagwright.assemble.prepare import prepare
from tagwright.assemble.score import score
from tagwright.assemble.spans import find_spans, given_tokens
from tagwright.assemble.tag import tag
from tagwright.assemble.tag_head import tagging_of
from tagwright.assemble.train import _network
from tagwright.fit.learner import Learner
from tagwright.objective import build_objective
from tagwright.read import read_data

TINY = {"name": "bat", "hidden": 16, "width": 16, "feed": 16, "layers": 1, "heads": 2}
GIVEN = {"data": {"task": "both"}, "encoder": TINY, "fit": {"epochs": 1.0, "device": "cpu", "learning_rate": 0.005}}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    out = tmp_path_factory.mktemp("both") / "model"
    outcome = fit_folder("shop", GIVEN, out=out)
    assert outcome.tags is not None
    return bundle.load(out)


def test_both_heads_are_saved_with_their_labels_and_figures(model):
    assert set(model.heads) == {"main", "tags"}
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
    assert results["tags"]["entity_f1"] > 0.3


def test_the_loss_is_that_of_the_labels_and_the_weighed_one_of_the_tags():
    data, settings = read_for("shop", {**GIVEN, "tags": {"objective": "cecl", "weight": 0.5}})
    prepared = prepare(data, settings)
    network = _network(prepared, settings).eval()
    rows = prepared.rows("train", network, settings)
    batch = rows.batch(np.arange(5), "cpu")
    objective = build_objective(settings, prepared.space, row_count=prepared.example_count)
    objective.tagging = tagging_of(prepared, settings)
    value = Learner(network, objective)(batch, torch.Generator()).value
    logits = network(*batch.inputs)
    of_labels = torch.nn.functional.binary_cross_entropy_with_logits(logits["main"], batch.target, reduction="sum")
    share = torch.log_softmax(logits["tags"], -1)[batch.tags >= 0]
    gold = batch.tags[batch.tags >= 0]
    others = torch.log1p(-share.exp()).scatter(1, gold[:, None], 0.0).sum()
    of_tags = -(share.gather(1, gold[:, None]).sum() + others)
    mean_tokens = prepared.token_count / prepared.tables["train"].num_rows
    torch.testing.assert_close(value, of_labels + 0.5 * of_tags / mean_tokens, rtol=1e-4, atol=1e-4)


def test_tag_gives_labels_and_keywords(model, tmp_path):
    source = tmp_path / "pages.jsonl"
    pages = read_data("shop").tables["test"]["text"][:5].to_pylist()
    source.write_text("".join(json.dumps({"text": text}) + "\n" for text in [*pages, ""]), encoding="utf-8")
    tag(model, source, tmp_path / "out.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()]
    assert all({"tags", "tags_scores", "keywords"} <= set(row) for row in rows)
    for row in rows:
        for keyword in row["keywords"]:
            assert all(
                row["text"][s["start"] : s["end"]].casefold() == keyword["text"].casefold() for s in keyword["spans"]
            )
    assert sum(len(row["keywords"]) for row in rows) > 0
    assert rows[-1]["keywords"] == []


def test_a_page_beyond_the_limit_is_tagged_to_its_end(model):
    page = read_data("shop").tables["test"]
    words = [word for row in page["tokens"].to_pylist()[:30] for word in row]
    _, cuts = given_tokens(pa.chunked_array([pa.array([words])]))
    found = find_spans(model.of_tags(), cuts)
    assert found.end.max() > 0.9 * len(" ".join(words))
    assert model.scores([" ".join(words)]).chosen.shape == (1, len(model.heads["main"].space))


def test_a_table_without_labels_is_refused(tmp_path):
    from tagwright.errors import DataError

    path = tmp_path / "a.jsonl"
    path.write_text('{"tokens": ["a", "b"], "tags": ["O", "B-X"]}\n' * 4, encoding="utf-8")
    with pytest.raises(DataError, match="no column of labels"):
        read_data(path, task="both")


def test_the_tags_have_a_report_of_their_own(tmp_path):
    pytest.importorskip("altair")
    fit_folder("shop", {**GIVEN, "fit": {**GIVEN["fit"], "epochs": 0.2}}, out=tmp_path / "model")
    labels, tags = ((tmp_path / "model.run" / name).read_text("utf-8") for name in ("report.html", "report-tags.html"))
    assert "outdoor/tent" in labels
    assert "B-BRAND" in tags
    assert "outdoor/tent" not in tags
