"""The whole road with a pretrained encoder: fit, score, tag, save, load, resume, Tagger."""

import shutil

import numpy as np
import pytest
import torch

from tagwright import Tagger, load
from tagwright.data import read_data
from tagwright.errors import SettingsError
from tagwright.inference import model_folder
from tagwright.models import precision
from tagwright.pipelines.fit import fit_folder
from tagwright.pipelines.score import score_folder
from tagwright.pipelines.tag import tag_file
from tagwright.settings.schema import resolve
from tagwright.training.check import check
from tagwright.training.prepare import prepare
from tagwright.training.step_stream import Interrupted
from tagwright.training.train import Run, fit

from ..tiny_encoders import write_encoder

ROOMY = {"long": "windows", "overlap": 2}


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return write_encoder(tmp_path_factory.mktemp("encoders") / "tiny", "roberta")


def given(encoder, fit=None, **options):
    run = {"epochs": 3, "batch": 16, "learning_rate": 0.01, "limit": 24}
    return {
        "encoder": {"name": "pretrained", "path": str(encoder), **options},
        "fit": {**run, **(fit or {})},
    }


def digest(network):
    return [tensor.sum().item() for tensor in network.state_dict().values()]


@pytest.mark.parametrize(
    "options", [{}, ROOMY, {"lora": 4}, {"freeze": 1, "pooling": "attention"}], ids=str
)
def test_folder_needs_no_source_and_scores_as_fit_did(options, encoder, split_source, tmp_path):
    own, said = tmp_path / "gone", []
    shutil.copytree(encoder, own)
    settings = given(own, {"limit": 9, "epochs": 6}, **options)
    outcome = fit_folder(str(split_source), settings, out=tmp_path / "model", say=said.append)
    assert sum("longer than 9 word pieces" in sentence for sentence in said) == 1
    shutil.rmtree(own)
    scored = score_folder(
        tmp_path / "model", str(split_source), split="dev", unseen="drop", convention="sklearn"
    )
    assert scored.as_dict()["metrics"]["lrap"] == pytest.approx(outcome.metrics["lrap"], abs=1e-6)
    assert outcome.metrics["lrap"] > 0.6
    tagged = tag_file(
        tmp_path / "model", split_source / "test.csv", tmp_path / "tagged.csv", device="cpu"
    )
    assert tagged.rows == 40
    assert (
        (tmp_path / "model" / "encoder" / "config.json").read_text(encoding="utf-8").startswith("{")
    )
    card = (tmp_path / "model" / "README.md").read_text(encoding="utf-8")
    assert "| pretrained weights | gone |" in card
    assert "Of a text longer than 9 word pieces " in card
    assert str(tmp_path) not in card
    assert outcome.report.is_file()


def test_prediction_does_not_depend_on_batch_mates(encoder, source):
    settings = resolve(given(encoder, {"epochs": 1, "limit": 9}, **ROOMY))
    model = fit(prepare(read_data(str(source)), settings), settings).model
    texts = [" ".join(["paris", "rome"] * n) for n in (1, 9, 3, 20)] + [""]
    whole = model.scores(texts).logits
    alone = np.concatenate([model.scores([text]).logits for text in texts])
    np.testing.assert_allclose(whole, alone, rtol=1e-4, atol=1e-5)


def test_windows_are_pooled_in_training_as_in_prediction(encoder, source):
    """The loss of a step is that of the logits that prediction would give."""
    settings = resolve(given(encoder, {"limit": 9}, **ROOMY, dropout=0.0))
    prepared = prepare(read_data(str(source)), settings)
    network = fit(prepared, settings).model.network
    rows = prepared.rows("dev", network, settings)
    index = np.arange(len(rows.inputs.lengths))
    assert (rows.inputs.counts > 1).any()
    in_training = network.eval()(*rows.batch(index, "cpu").inputs)["main"]
    assert in_training.shape == rows.heads["main"].target.shape
    texts = prepared.tables["dev"]["text"]
    from tagwright.models.evaluate import logits_of

    np.testing.assert_allclose(
        logits_of(network, rows.inputs), in_training.detach().numpy(), rtol=1e-4, atol=1e-5
    )
    assert len(texts) == len(in_training)


@pytest.mark.parametrize("options", [{}, {"lora": 2}], ids=str)
def test_stopped_and_resumed_equals_never_stopped(options, encoder, source, tmp_path):
    settings = resolve(
        given(encoder, {"epochs": 2, "layer_decay": 0.8, "save_seconds": 0.0}, **options)
    )
    prepared = prepare(read_data(str(source)), settings)
    whole = fit(prepared, settings)
    asked = iter([False, False, False, True])
    with pytest.raises(Interrupted):
        fit(prepared, settings, Run(folder=tmp_path, asked=lambda: next(asked)))
    resumed = fit(prepared, settings, Run(folder=tmp_path))
    assert digest(resumed.model.network) == digest(whole.model.network)


def test_precision_of_a_run_outlives_a_stop(encoder, source, tmp_path, monkeypatch):
    """A trial that would decide otherwise the second time must not change the bits."""
    settings = resolve(given(encoder, {"epochs": 1, "save_seconds": 0.0}))
    prepared, asked = prepare(read_data(str(source)), settings), iter([False, True])
    monkeypatch.setattr(precision, "gain", lambda: 2.0)
    with pytest.raises(Interrupted):
        fit(prepared, settings, Run(folder=tmp_path, asked=lambda: next(asked)))
    monkeypatch.setattr(precision, "gain", lambda: 0.5)
    assert (
        fit(prepared, settings, Run(folder=tmp_path)).model.network.encoder.precision == "bfloat16"
    )
    assert fit(prepared, settings).model.network.encoder.precision == "float32"


def test_training_starts_from_the_folders_weights(encoder, source):
    settings = resolve(given(encoder, {"learning_rate": 0.0, "epochs": 1}))
    fitted = fit(prepare(read_data(str(source)), settings), settings)
    from safetensors.torch import load_file

    expected = load_file(encoder / "model.safetensors")
    found = fitted.model.network.encoder.model.state_dict()
    assert found
    assert all(torch.equal(tensor, expected[name]) for name, tensor in found.items())


def test_tagger_takes_it_and_its_clone_trains_the_same_kind(encoder, tmp_path):
    texts = [f"{thing} item {n}" for n in range(30) for thing in ("paris", "apple")]
    tagger = Tagger(encoder="pretrained", settings=given(encoder), epochs=12).fit(
        texts, ["city", "fruit"] * 30
    )
    assert tagger.predict(["a paris", "apple"]).tolist() == ["city", "fruit"]
    tagger.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert np.array_equal(again.predict_proba(texts), tagger.predict_proba(texts))
    assert again.settings["encoder"]["path"] == str(encoder)


def test_compare_and_refit_start_anew_each_time(encoder, source):
    settings = resolve(given(encoder, {"refit": True, "epochs": 1}))
    prepared = prepare(read_data(str(source)), settings)
    first, second = (fit(prepared, settings).model.network for _ in range(2))
    assert digest(first) == digest(second)


@pytest.mark.parametrize(
    ("sections", "match"),
    [
        (
            {"embed": {"name": "word"}},
            "reads the tokens it was trained with; leave embed.name at pieces, got word",
        ),
        (
            {"encoder": {"name": "cnn"}, "embed": {"name": "pieces"}},
            "belongs to a pretrained encoder",
        ),
        ({"encoder": {"name": "pretrained"}}, "encoder.path is missing"),
    ],
)
def test_what_does_not_go_together_is_refused(sections, match, encoder, source):
    settings = resolve({**given(encoder), **sections})
    with pytest.raises(SettingsError, match=match):
        prepare(read_data(str(source)), settings)


def test_layer_decay_wants_a_pretrained_encoder(source, tmp_path):
    with pytest.raises(SettingsError, match=r"layer_decay is for pretrained encoders"):
        fit_folder(str(source), {"fit": {"layer_decay": 0.9}}, out=tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_unknown_precision_is_met_with_the_choices():
    with pytest.raises(SettingsError, match="did you mean 'float32'"):
        resolve({"fit": {"precision": "float3"}})


def test_too_long_a_limit_leaves_nothing_behind(encoder, source, tmp_path):
    with pytest.raises(SettingsError, match=r"fit\.limit is 99, but this encoder reads at most 40"):
        fit_folder(str(source), given(encoder, {"limit": 99}), out=tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_rate_suits_the_width(tmp_path, encoder, monkeypatch):
    wide = tmp_path / "wide"
    wide.mkdir()
    (wide / "config.json").write_text('{"hidden_size": 768}', encoding="utf-8")
    rates = [
        resolve({"encoder": {"name": "pretrained", "path": str(p)}}).fit.learning_rate
        for p in (encoder, wide)
    ]
    assert rates[0] > rates[1]
    monkeypatch.setenv("TAGWRIGHT_ENCODERS", str(encoder.parent))
    shutil.copytree(encoder, tmp_path / "shelf" / "mpnet")
    monkeypatch.setenv("TAGWRIGHT_ENCODERS", str(tmp_path / "shelf"))
    assert resolve({"encoder": "mpnet"}).fit.learning_rate == rates[0]


def test_encoder_by_our_name_is_kept_in_the_folder(encoder, source, tmp_path, monkeypatch):
    shutil.copytree(encoder, tmp_path / "shelf" / "mpnet")
    monkeypatch.setenv("TAGWRIGHT_ENCODERS", str(tmp_path / "shelf"))
    settings = {**given(encoder, {"epochs": 1}), "encoder": "mpnet"}
    fit_folder(str(source), settings, out=tmp_path / "model")
    monkeypatch.delenv("TAGWRIGHT_ENCODERS")
    model = model_folder.load(tmp_path / "model")
    assert (model.inference.encoder.name, model.inference.encoder.options["path"]) == (
        "mpnet",
        "mpnet",
    )


def test_a_head_in_chunks_takes_its_vectors_but_no_windows(encoder, source):
    data = read_data(source)
    settings = resolve({**given(encoder), "head": {"chunk": 2}}, data.task)
    prepared = prepare(data, settings)
    check(prepared, settings)
    assert fit(prepared, settings).history[-1]["score"] > 0.5
    settings = resolve({**given(encoder, **ROOMY), "head": {"chunk": 2}}, data.task)
    with pytest.raises(SettingsError, match="windows pool the logits"):
        check(prepare(data, settings), settings)
