"""What a model folder says of inference and of training comes back as it was."""

import json

import pytest

from tagwright.settings.inference import InferenceSettings, Record, inference_of
from tagwright.settings.schema import resolve
from tagwright.settings.sections import DataSettings, SplitSettings


def test_settings_of_inference_come_back_from_json():
    given = {
        "encoder": {"name": "cnn", "windows": [2, 5]},
        "fit": {"limit": 77},
        "data": {"text": "title,body"},
    }
    made = inference_of(resolve(given))
    assert made.encoder.options["windows"] == (2, 5)
    assert (made.limit, made.data.text) == (77, "title,body")
    assert InferenceSettings.from_dict(json.loads(json.dumps(made.as_dict()))) == made


def test_columns_that_were_not_found_stay_unknown():
    made = InferenceSettings(encoder=resolve({}).encoder, data=DataSettings())
    assert "text" not in made.as_dict()["data"]
    assert InferenceSettings.from_dict(made.as_dict()).data == DataSettings()


def test_a_record_tells_what_it_knows_and_takes_defaults_for_the_rest():
    known = Record(
        resolved={"objective": "zlpr", "split": {"seed": 7, "newer": 1}, "fit": {"refit": True}}
    )
    assert (known.objective, known.split, known.refitted) == ("zlpr", SplitSettings(seed=7), True)
    assert (Record().objective, Record().split, Record().refitted) == (
        "unknown",
        SplitSettings(),
        False,
    )


@pytest.mark.parametrize(
    "junk", [{"split": 3, "fit": "x"}, {"split": {"seed": "x", "dev_share": -1.0}, "fit": {}}]
)
def test_a_record_that_makes_no_sense_tells_defaults(junk):
    assert (Record(resolved=junk).split, Record(resolved=junk).refitted) == (SplitSettings(), False)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("limit", 0),
        ("limit", 10**30),
        ("limit", "x"),
        ("limit", True),
        ("precision", "int4"),
        ("data", []),
        ("data", {"text": 1}),
        ("data", {"unheard": 1}),
        ("heads", {"main": 1}),
        ("heads", {"main": {"labels": 1}}),
        ("encoder", "cnn"),
        ("encoder", {"name": ["cnn"], "options": {}}),
        ("encoder", {"name": "cnn", "options": [1]}),
    ],
)
def test_settings_of_inference_that_make_no_sense_are_refused(name, value):
    content = InferenceSettings(encoder=resolve({}).encoder).as_dict()
    with pytest.raises(ValueError, match=r"must be|unknown"):
        InferenceSettings.from_dict({**content, name: value})
