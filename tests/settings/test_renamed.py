"""Settings files with old names are read under today's."""

from tagwright.settings.inference import choice_of
from tagwright.settings.merge import settings_in
from tagwright.settings.schema import resolve

OLD = """
[fit]
optimiser = "sgd"
[targets]
name = "kwls"
normalise = "sigmoid"
[heads.a.head]
name = "document"
optimiser = "auto"
[split.keep]
optimiser = 3
"""


def test_old_names_are_read_and_labels_of_the_same_name_stay():
    given = settings_in(OLD)
    assert given["fit"] == {"optimizer": "sgd"}
    assert given["targets"] == {"name": "kwls", "normalize": "sigmoid"}
    assert given["heads"]["a"]["head"] == {"name": "document", "optimizer": "auto"}
    assert given["split"]["keep"] == {"optimiser": 3}


def test_they_resolve():
    settings = resolve(settings_in('encoder = "cnn"\n[fit]\noptimiser = "sgd"\n'))
    assert settings.fit.optimizer == "sgd"


def test_options_of_a_saved_part_have_todays_names():
    old = {"name": "document", "options": {"optimiser": "auto", "chunk": 0}}
    assert choice_of(old).options == {"optimizer": "auto", "chunk": 0}
