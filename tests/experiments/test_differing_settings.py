"""Which settings set apart what is compared."""

from tagwright.experiments.differing_settings import differing
from tagwright.settings.schema import resolve


def test_a_regularizer_that_some_objectives_have_is_a_difference():
    """lm-mtc brings `mlm` and cloze does not: this was a KeyError after the last run."""
    chosen = {
        name: resolve({"objective": name, "encoder": "minilm"}) for name in ("cloze", "lm-mtc")
    }
    found = differing(chosen)
    assert found["mlm"] == {"cloze": "none", "lm-mtc": "on"}
    assert not any(name.startswith("head") for name in found)


def test_settings_of_a_regularizer_differ_among_those_that_have_it():
    given = {
        "bce": {},
        "a": {"rdrop": {"alpha": 1.0}},
        "b": {"rdrop": {"alpha": 2.0}},
        "none": {"rdrop": "none"},
    }
    found = differing({name: resolve({"objective": "bce", **own}) for name, own in given.items()})
    assert found["rdrop"] == {"bce": "none", "a": "on", "b": "on", "none": "none"}
    assert found["rdrop.alpha"] == {"a": 1.0, "b": 2.0}


def test_a_loss_that_is_not_the_objectives_is_among_the_differences():
    made = {
        name: resolve({"objective": name, "loss": "bce"}) for name in ("zlpr", "maskloss-label")
    }
    assert differing(made)["loss.name"] == {"zlpr": "bce", "maskloss-label": "bce"}
    assert "loss.name" not in differing(
        {name: resolve({"objective": name}) for name in ("zlpr", "bce")}
    )
