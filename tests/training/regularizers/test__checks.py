"""Settings that leave a regularizer nothing to do are refused before training, with a way out."""

import pytest

from tagwright import registry
from tagwright.errors import SettingsError
from tagwright.pipelines.fit import fit_folder
from tagwright.settings.schema import resolve
from tagwright.training.learner import check_regularizers

NAMES = ("rdrop", "vat")


def check(given, task="many"):
    settings = resolve(given, task)
    check_regularizers(settings, [settings.of(name) for name in settings.heads or ("main",)])


def refused(given, task="many"):
    with pytest.raises(SettingsError) as caught:
        check(given, task)
    return str(caught.value)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "loss",
    [n for n in registry.names("losses") if registry.find("losses", n).factory.link == "none"],
)
def test_a_loss_that_is_only_an_order(name, loss):
    said = refused({"objective": loss, name: {}})
    assert said.startswith(
        f"{name} compares probabilities, and {loss}'s logits are only an order; take a loss"
    )
    assert "zlpr" in said
    assert not any(other in said.split("has some")[1] for other in ("lsep", "warp", "two_way"))


@pytest.mark.parametrize("name", NAMES)
def test_tags_beside_labels_must_have_chances_too(name):
    said = refused(
        {"objective": "zlpr", "heads": {"tags": {"objective": "squared_hinge"}}, name: {}}, "both"
    )
    assert "squared_hinge's logits are only an order" in said


@pytest.mark.parametrize("name", NAMES)
def test_a_head_in_chunks(name):
    assert "leave head.chunk out" in refused({"objective": "zlpr", "head": {"chunk": 64}, name: {}})


@pytest.mark.parametrize("name", NAMES)
def test_every_head_is_looked_at(name):
    plain = {"objective": "zlpr"}
    faults = {
        "leave head.chunk out": {"head": {"chunk": 64}},
        "lsep's logits are only an order": {"objective": "lsep"},
    }
    for said, own in faults.items():
        assert said in refused(
            {"heads": {"one": plain, "two": plain, "three": {**plain, **own}}, name: {}}
        )
    check({"heads": {"one": plain, "two": {"task": "one"}, "three": {"task": "tokens"}}, name: {}})


def test_rdrop_wants_dropout():
    assert "bow has none here; take cnn" in refused(
        {"objective": "bce", "encoder": "bow", "rdrop": {}}
    )
    assert "bat has none here; set encoder.dropout" in refused({"encoder": "bat", "rdrop": {}})
    assert "cnn has none here" in refused({"encoder": {"name": "cnn", "dropout": 0.0}, "rdrop": {}})
    for encoder in ({"name": "bat", "dropout": 0.1}, {"name": "minilm", "dropout": 0.0}):
        check({"encoder": encoder, "rdrop": {}})
    check({"rdrop": {}}, "tokens")  # bat, which has some where tokens are tagged


def test_vat_wants_word_vectors():
    assert "bow has none; take cnn" in refused({"objective": "bce", "encoder": "bow", "vat": {}})


@pytest.mark.parametrize(
    ("section", "options", "said"),
    [
        ("rdrop", {"alpha": -1.0}, ["rdrop.alpha must be at least 0, got -1.0"]),
        (
            "vat",
            {"xi": 0.0, "steps": 0},
            ["vat.xi must be above 0, got 0.0", "vat.steps must be above 0, got 0"],
        ),
        (
            "vat",
            {"epsilon": -0.1, "weight": -2.0},
            ["vat.epsilon must be above 0", "vat.weight must be at least 0"],
        ),
    ],
)
def test_numbers_out_of_range_are_named_all_at_once(section, options, said):
    found = refused({section: options})
    assert all(one in found for one in said)


@pytest.mark.parametrize("name", registry.names(registry.REGULARIZERS))
def test_a_loss_with_chances_passes(name):
    for objective, task in (
        ("zlpr", "many"),
        ("cross_entropy", "one"),
        ("adaptive_threshold", "many"),
    ):
        if name in NAMES:
            check({"objective": objective, name: {}}, task)


@pytest.mark.parametrize("name", NAMES)
def test_fit_refuses_before_anything_is_written(name, tmp_path):
    source = tmp_path / "texts.csv"
    source.write_text(
        "text,labels\n" + "".join(f"word{n} other{n % 7},l{n % 3};m{n % 4}\n" for n in range(60))
    )
    with pytest.raises(SettingsError, match="lsep's logits are only an order"):
        fit_folder(str(source), {"objective": "lsep", name: {}}, out=tmp_path / "model")
    assert [path.name for path in tmp_path.iterdir()] == ["texts.csv"]
