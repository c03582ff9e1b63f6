"""What cannot be trained is refused, each with what to do instead."""

from dataclasses import replace

import pytest

from tagwright.data import read_data
from tagwright.errors import SettingsError
from tagwright.settings.schema import resolve
from tagwright.training.check import check, score_of
from tagwright.training.prepare import prepare
from tagwright.training.read_data import read_for

from ..pipelines.several import SPANS, TOPICS, WORDS, heads_of, ready, write_heads
from ..tagged_pages import tagged_rows, write_conll


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Pages with tags to learn from."""
    return write_conll(tmp_path_factory.mktemp("pages") / "pages.conll", tagged_rows(80))


def test_clipping_sparse_gradients_is_refused_before_training(source):
    """It ended in an error of PyTorch after the first step."""
    settings = resolve({"encoder": "bow", "fit": {"clip": 1.0}})
    with pytest.raises(SettingsError, match=r"bow has sparse gradients.*fit\.clip"):
        check(prepare(read_data(source), settings), settings)


@pytest.mark.parametrize("kind", ["resolved", "given"])
def test_settings_that_a_model_folder_could_not_hold_are_refused_before_training(make, kind):
    prepared, settings = make()
    keep = {f"a label with a long name, number {number}": 3 for number in range(15_000)}
    check(prepared, settings)
    if kind == "resolved":
        settings = replace(settings, split=replace(settings.split, keep=keep))
    else:
        settings = replace(settings, given={"split": {"keep": keep}})
    with pytest.raises(
        SettingsError, match=r"could not be read back .* characters; at most 524,288"
    ):
        check(prepared, settings)


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"encoder": {"name": "bow"}}, "to tag tokens take bat"),
        ({"encoder": {"name": "cnn"}}, "to tag tokens take bat"),
        ({"head": {"name": "document"}}, "head.name is document; take tokens"),
        ({"decide": {"name": "threshold"}}, "spans is the decision about tokens"),
        ({"objective": "lsep"}, "losses that do: .*cross_entropy"),
    ],
    ids=str,
)
def test_what_cannot_tag_is_refused_before_training(sections, message, pages):
    data, settings = read_for(str(pages), sections)
    with pytest.raises(SettingsError, match=message):
        check(prepare(data, settings), settings)


def test_texts_with_labels_have_no_token_head(single_source):
    data, settings = read_for(str(single_source), {"head": {"name": "tokens"}})
    with pytest.raises(SettingsError, match=r"head\.name is tokens; take document"):
        check(prepare(data, settings), settings)


def test_what_is_wrong_with_one_of_several_heads_is_said_of_that_one(tmp_path):
    answers = {"topic": TOPICS, "span": SPANS}
    prepared, settings = ready(write_heads(tmp_path, answers), heads_of(*answers))
    check(prepared, settings)
    heads = {**settings.heads, "span": settings.heads["topic"]}
    with pytest.raises(
        SettingsError, match=r"^\[heads\.span\] head\.name is document; take tokens"
    ):
        check(prepared, replace(settings, heads=heads))


@pytest.mark.parametrize(("overlap", "fits"), [(2, True), (3, False)])
def test_heads_that_tag_tokens_have_one_overlap(overlap, fits, tmp_path):
    answers = {"span": SPANS, "word": WORDS}
    own = {"span": {"head": {"overlap": 2}}, "word": {"head": {"overlap": overlap}}}
    prepared, settings = ready(write_heads(tmp_path, answers), heads_of(*answers, **own))
    if fits:
        check(prepared, settings)
    else:
        with pytest.raises(SettingsError, match="span and word read the same windows; give them"):
            check(prepared, settings)


def test_the_score_of_the_best_model_is_told_where_there_is_more_than_one_solution(make):
    assert score_of(*make()) == ("score: lrap on dev",)
    assert score_of(*make(fit={"metric": "macro_f1"})) == ("score: macro_f1 on dev",)
    assert score_of(*make(objective="binary-relevance", encoder="bow")) == ()
