"""The whole road with labels as slots: fit, stop, save, load, captured steps, names, and what is
refused.
"""

import json

import numpy as np
import pytest
import torch

from tagwright.data import read_data
from tagwright.errors import SettingsError
from tagwright.inference import model_folder
from tagwright.labels.space import LabelSpace
from tagwright.models.build import build_network
from tagwright.models.label_slots import name_vectors
from tagwright.pipelines.fit import fit_folder
from tagwright.settings.schema import resolve
from tagwright.tokenizers.pretrained import read_pieces
from tagwright.training import steps as loops
from tagwright.training.check import check
from tagwright.training.prepare import prepare
from tagwright.training.step_stream import Interrupted
from tagwright.training.train import Run, fit

from ..pipelines.kills import same_bits
from ..pipelines.several import heads_of, write_heads
from ..pipelines.several import ready as ready_heads
from ..tiny_encoders import FAMILIES, write_encoder

CALM = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
WINDOWS = {"long": "windows", "overlap": 2}
TEXTS = [" ".join(["paris", "rome"] * n) for n in (1, 5, 3, 9)] + ["", "a red saw"]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    """Without dropout, whose draws go by the shape of a batch."""
    return write_encoder(tmp_path_factory.mktemp("encoders") / "tiny", "bert", **CALM)


def given(path, *, head=None, encoder=None, fit=None, **sections):
    run = {
        "epochs": 1,
        "batch": 16,
        "learning_rate": 0.01,
        "limit": 20,
        "device": "cpu",
        **(fit or {}),
    }
    own = {"name": "pretrained", "path": str(path), "dropout": 0.0, **(encoder or {})}
    return {"objective": "cloze", "encoder": own, "fit": run, "head": head or {}, **sections}


def ready(source, path, **sections):
    data = read_data(str(source))
    settings = resolve(given(path, **sections), data.task)
    return prepare(data, settings), settings


def weights(fitted):
    return fitted.model.network.state_dict()


@pytest.mark.parametrize(
    "sections",
    [
        {"head": {"masking": "part", "rounds": 3}},
        {"head": {"chunks": 2, "score": "own"}, "encoder": WINDOWS, "fit": {"limit": 9}},
        {
            "head": {"text_sees_slots": False, "chunks": 2, "template": "short"},
            "encoder": {"lora": 2},
        },
        {"head": {"template": "same", "masking": "p"}, "encoder": {"freeze": "all"}},
        {
            "head": {"names": True, "slot_positions": "shared"},
            "encoder": {"freeze": 1},
            "objective": "zlpr",
        },
    ],
    ids=str,
)
def test_a_folder_scores_as_the_model_in_memory_whatever_the_batch(
    sections, encoder, source, tmp_path
):
    if "objective" in sections:
        sections = {**sections, "head": {"name": "cloze", **sections["head"]}}
    prepared, settings = ready(source, encoder, **sections)
    model = fit(prepared, settings).model
    model_folder.save(model, tmp_path / "model", card="")
    whole, again = (
        model.scores(TEXTS).logits,
        model_folder.load(tmp_path / "model").scores(TEXTS).logits,
    )
    assert np.array_equal(whole, again)
    alone = np.concatenate([model.scores([text]).logits for text in TEXTS])
    np.testing.assert_allclose(whole, alone, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("frozen", [{"freeze": "all"}, {"lora": 2}, {}], ids=str)
def test_slots_learn_beside_a_frozen_encoder_and_beside_adapters(frozen, encoder, source):
    prepared, settings = ready(source, encoder, encoder=frozen, head={"masking": "part"})
    before, after = loops_start(prepared, settings), weights(fit(prepared, settings))
    moved = {name for name, value in after.items() if not torch.equal(value, before[name])}
    assert {
        "heads.main.middle",
        "heads.main.edges",
        "heads.main.weight",
        "heads.main.bias",
    } <= moved
    of_encoder = {name for name in moved if name.startswith("encoder.model")}
    assert bool(of_encoder) is (frozen != {"freeze": "all"})
    if "lora" in frozen:
        assert not any("embeddings" in name or "bias" in name for name in of_encoder)


def loops_start(prepared, settings):
    """The weights that training starts from."""
    calm = resolve({**settings.as_dict(), "encoder": {**settings.as_dict()["encoder"], "lora": 0}})
    made = {
        "sizes": prepared.tokenizer.sizes,
        "learned": prepared.learned,
        "tokenizer": prepared.tokenizer,
    }
    labels = {"main": (prepared.space, prepared.heads["main"].examples)}
    return build_network(calm, labels, **made, fresh=True).state_dict()


@pytest.mark.parametrize("masking", ["part", "p"])
def test_stopped_and_resumed_equals_never_stopped(masking, encoder, source, tmp_path):
    head = {"masking": masking, "wrong": 0.1}
    prepared, settings = ready(source, encoder, head=head, fit={"epochs": 1.5, "save_seconds": 0.0})
    whole, asked = fit(prepared, settings), iter([False, False, True])
    with pytest.raises(Interrupted):
        fit(prepared, settings, Run(folder=tmp_path, asked=lambda: next(asked)))
    assert same_bits(weights(fit(prepared, settings, Run(folder=tmp_path))), weights(whole))


@pytest.mark.parametrize("masking", ["full", "part", "p"])
def test_captured_steps_train_the_same_model(masking, encoder, source, monkeypatch):
    """The last batch of an epoch is a short one, which a captured step fills up."""
    prepared, settings = ready(
        source, encoder, head={"masking": masking, "wrong": 0.1}, fit={"epochs": 1.5}
    )
    assert prepared.tables["train"].num_rows % 16
    found = {}
    for reason in ("", None):
        monkeypatch.setattr(loops, "against_capture", lambda *given, reason=reason: reason)
        losses = []
        run = Run(
            progress=lambda stream, *_, losses=losses: (
                losses.append(step.loss) or step for step in stream
            )
        )
        found[reason] = weights(fit(prepared, settings, run)), losses
    assert found[None][1] == pytest.approx(found[""][1], rel=1e-4)
    for name, value in found[""][0].items():
        if "key.bias" not in name:  # a softmax does not move with it, so that its gradient is noise
            torch.testing.assert_close(found[None][0][name], value, rtol=1e-3, atol=1e-4)


def test_draws_differ_from_step_to_step_and_with_the_seed(encoder, source, monkeypatch):
    from tagwright.models.heads.cloze import Cloze

    whole, seen = Cloze.draw, []
    monkeypatch.setattr(Cloze, "draw", lambda *given: seen.append(whole(*given)) or seen[-1])
    for seed in (0, 0, 1):
        fit(*ready(source, encoder, head={"masking": "part"}, fit={"seed": seed, "epochs": 0.5}))
    runs = [seen[start : start + len(seen) // 3] for start in range(0, len(seen), len(seen) // 3)]
    assert all(torch.equal(one, other) for one, other in zip(runs[0], runs[1], strict=True))
    assert not torch.equal(runs[0][0], runs[0][1])
    assert not torch.equal(runs[0][0], runs[2][0])


@pytest.mark.parametrize("family", ["bert", "electra"])
def test_slots_begin_at_the_mean_vector_of_their_names_pieces(family, tmp_path):
    from transformers import AutoModel, AutoTokenizer

    folder = write_encoder(tmp_path / family, family)
    names = ("Red_Paris", "xyz", "fruit/very-blue fruit", "zinc (gold), 2")
    words = AutoModel.from_pretrained(folder).get_input_embeddings().weight.detach()
    found = name_vectors(words, names, read_pieces(folder))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    said = ["red paris", "xyz", "fruit very blue fruit", "zinc gold 2"]
    for vector, text in zip(found, said, strict=True):
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        torch.testing.assert_close(vector, sum(words[i] for i in ids) / len(ids))


def test_names_are_where_the_network_starts(encoder):
    settings = resolve(given(encoder, head={"names": True}))
    tokenizer = read_pieces(encoder)
    space = LabelSpace(names=("paris rome", "gold", "tool"), counts=(1, 1, 1))
    from tagwright.models.build import learn

    learned = learn(settings, tokenizer.encode(["a"]), tokenizer)
    made = {"sizes": tokenizer.sizes, "learned": learned, "fresh": True, "tokenizer": tokenizer}
    network = build_network(settings, {"main": (space, 0)}, **made)
    expected = name_vectors(network.encoder.words.weight, space.names, tokenizer)
    assert (network.heads["main"].middle - expected[:, None]).abs().max() < 0.1
    assert expected.abs().max() > 0.2


@pytest.mark.parametrize(
    ("head", "from_names"), [({}, True), ({"names": False}, False), ({"template": "short"}, True)]
)
def test_slots_start_from_names_unless_told_otherwise(encoder, head, from_names):
    """One without a word starts at random, whatever the others do."""
    from tagwright.models.build import learn

    settings, tokenizer = resolve(given(encoder, head=head)), read_pieces(encoder)
    space = LabelSpace(names=("paris rome", "???", "tool"), counts=(1, 1, 1))
    learned = learn(settings, tokenizer.encode(["a"]), tokenizer)
    made = {"sizes": tokenizer.sizes, "learned": learned, "fresh": True, "tokenizer": tokenizer}
    network = build_network(settings, {"main": (space, 0)}, **made)
    # random ones are N(0, 0.02)
    far = network.heads["main"].middle.detach().mean(1).abs().amax(1) > 0.12
    assert far.tolist() == [from_names, False, from_names]


def test_a_name_without_a_word_is_told(encoder, tmp_path, rows_of, write_csv):
    rows = [(n, text, labels.replace("metal", "???")) for n, text, labels in rows_of(60)]
    source = write_csv(tmp_path / "texts.csv", rows)
    with pytest.raises(
        SettingsError,
        match=r"1 of the labels have no word in their name, such as '\?\?\?'.*head\.names",
    ):
        fit_folder(str(source), given(encoder, head={"names": True}), out=tmp_path / "model")
    assert [path.name for path in tmp_path.iterdir()] == ["texts.csv"]


@pytest.mark.parametrize(
    ("sections", "match"),
    [
        (
            {"fit": {"limit": 26}},
            r"5 labels take 15 positions before a text, and this encoder has 14 left: room for 4",
        ),
        ({"head": {"chunks": 0}}, r"head\.chunks must be at least 1"),
        ({"head": {"chunks": 2.5}}, r"chunks must be of type int, got 2\.5"),
        ({"head": {"share": 0.0}}, r"head\.share must be above 0"),
        ({"head": {"masking": "none"}}, r"unknown head\.masking 'none'"),
        ({"head": {"chunk": 2}}, r"unknown setting of cloze 'chunk'; did you mean 'chunks'"),
        ({"head": {"template": "same", "slot_positions": "shared"}}, r"head\.template=same"),
        ({"objective": "adaptive_threshold", "head": {"name": "cloze"}}, "threshold class"),
        ({"objective": "lsep", "head": {"name": "cloze", "rounds": 2}}, r"head\.rounds"),
    ],
    ids=str,
)
def test_mistakes_are_told_in_a_line_before_anything_is_written(
    sections, match, encoder, source, tmp_path
):
    steps = []
    with pytest.raises(SettingsError, match=match) as error:
        fit_folder(
            str(source),
            given(encoder, **sections),
            out=tmp_path / "model",
            progress=lambda *given: steps.append(given),
        )
    assert "\n" not in str(error.value)
    assert steps == []
    assert list(tmp_path.iterdir()) == []


def test_the_chunks_that_a_refusal_proposes_work(encoder, source):
    with pytest.raises(SettingsError) as error:
        fit(*ready(source, encoder, fit={"limit": 34}))
    chunks = int(str(error.value).split("head.chunks=")[1].split(",")[0])
    fit(*ready(source, encoder, fit={"limit": 34, "epochs": 0.1}, head={"chunks": chunks}))


@pytest.mark.parametrize("name", ["cnn", "bow", "bat", "lstm"])
def test_encoders_that_read_no_slots_are_refused_by_the_check(name, source, tmp_path):
    with pytest.raises(SettingsError, match="head cloze is for pretrained encoders"):
        fit_folder(
            str(source), {"objective": "cloze", "encoder": {"name": name}}, out=tmp_path / "model"
        )
    assert list(tmp_path.iterdir()) == []


def two_heads(folder, path, **topic):
    """Prepared data and settings of a head with slots and one without, each with texts that it has
    no label for.
    """
    texts = ["paris rome", "gold", "chess golf", "oslo", "saw"]
    answers = {
        "mood": ["glad", None, "sad", "glad", "sad"],
        "topic": [["city"], ["metal"], ["sport"], None, ["tool"]],
    }
    write_heads(
        folder, {name: own * 6 for name, own in answers.items()}, texts=texts * 6, dev=range(5)
    )
    run = given(path, fit={"epochs": 2})
    own = {"mood": {"objective": "cross_entropy", "head": {"name": "document"}}, "topic": topic}
    heads = heads_of("mood", "topic", **own)
    return ready_heads(folder, heads, encoder=run["encoder"], fit=run["fit"])


def test_a_head_with_slots_beside_one_without_scores_as_in_memory_whatever_the_batch(
    encoder, tmp_path
):
    cloze = {"objective": "cloze", "head": {"masking": "part", "rounds": 3}}
    prepared, settings = two_heads(tmp_path / "data", encoder, **cloze)
    check(prepared, settings)
    model = fit(prepared, settings).model
    model_folder.save(model, tmp_path / "model", card="")
    again = model_folder.load(tmp_path / "model")
    for name in ("mood", "topic"):
        whole = model.scores(TEXTS, head=name).logits
        assert np.array_equal(whole, again.scores(TEXTS, head=name).logits)
        alone = np.concatenate([model.scores([text], head=name).logits for text in TEXTS])
        np.testing.assert_allclose(whole, alone, rtol=1e-4, atol=1e-4)
    assert model.network.slotted == "topic"


def test_two_heads_with_slots_are_refused(encoder, tmp_path):
    prepared, settings = two_heads(tmp_path, encoder, objective="cloze")
    cloze = resolve(
        {
            **settings.as_dict(),
            "heads": {"mood": {"objective": "cloze"}, "topic": {"objective": "cloze"}},
        }
    )
    with pytest.raises(
        SettingsError, match="heads mood and topic put slots before a text, and only one can"
    ):
        check(prepared, cloze)


def test_labels_and_tags_from_one_model_are_refused(encoder, tmp_path):
    rows = [
        {"tokens": ["paris", f"n{n}"], "tags": ["B-X", "O"], "labels": ["a", "b"][n % 2]}
        for n in range(40)
    ]
    (tmp_path / "both.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )
    sections = given(encoder, data={"task": "both"})
    with pytest.raises(SettingsError, match="head cloze puts slots before a text"):
        fit_folder(str(tmp_path / "both.jsonl"), sections, out=tmp_path / "model")


@pytest.mark.parametrize("objective", ["cloze", "lm-mtc"])
def test_presets_bring_the_head_and_the_mean_over_labels(objective):
    from tagwright.settings.presets import preset

    found = preset(objective)
    assert found["head"] == "cloze"
    assert found["loss"] == {"name": "bce", "labels": "mean"}
    assert ("mlm" in found) is (objective == "lm-mtc")


def test_every_family_is_trained(source, tmp_path):
    for family in FAMILIES:
        path = write_encoder(tmp_path / family, family)
        fitted = fit(
            *ready(source, path, fit={"epochs": 0.2, "limit": 12}, head={"masking": "part"})
        )
        assert np.isfinite(fitted.dev.logits).all()
