"""Which loop trains, and what is said of it. A CPU runs captured steps as they are;
contract/test_gpu.py captures.
"""

from types import SimpleNamespace

import pytest
import torch

from tagwright import registry
from tagwright.data.shop import shop
from tagwright.settings.schema import resolve
from tagwright.training import steps as loops
from tagwright.training.captured import CapturedStep, NotCaptured
from tagwright.training.prepare import prepare
from tagwright.training.state import Run
from tagwright.training.step_stream import Interrupted
from tagwright.training.train import fit

CHEAP = {"epochs": 1.5, "batch": 16, "limit": 60, "device": "cpu", "learning_rate": 0.01}


@pytest.fixture(scope="module")
def case():
    settings = resolve(
        {
            "objective": "zlpr",
            "encoder": {"name": "cnn", "filters": 8, "dropout": 0.2},
            "fit": CHEAP,
        }
    )
    return prepare(shop(pages=300), settings), settings


@pytest.fixture
def captured(monkeypatch):
    """Nothing speaks against capturing."""
    monkeypatch.setattr(loops, "against_capture", lambda *given: None)


def weights(fitted):
    return fitted.model.network.state_dict()


def same_bits(one, other):
    return all(torch.equal(value, other[name]) for name, value in one.items())


def followed(seen, say=None):
    return Run(
        progress=lambda stream, *_: (seen.append(step) or step for step in stream),
        say=say or (lambda text: None),
    )


def test_a_cpu_takes_the_plain_loop_and_says_nothing(case):
    seen, said = [], []
    fit(*case, followed(seen, said.append))
    assert said == []
    assert all(step.settled for step in seen)


def test_captured_steps_train_the_same_model(case, captured):
    prepared, settings = case
    calm = resolve(
        {**settings.as_dict(), "encoder": {**settings.as_dict()["encoder"], "dropout": 0.0}}
    )
    seen = {True: [], False: []}
    found = fit(prepared, calm, followed(seen[True]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loops, "against_capture", lambda *given: "")
        plain = fit(prepared, calm, followed(seen[False]))
    assert not all(step.settled for step in seen[True])
    losses = [[step.loss for step in seen[kind]] for kind in (True, False)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-3)
    assert found.history[-1]["score"] == pytest.approx(plain.history[-1]["score"], abs=0.02)


def test_captured_steps_excuse_what_words_excuse(case, captured, tmp_path):
    """One frequent word speaks for all labels, so that most texts excuse most of them."""
    prepared, settings = case
    plain = settings.as_dict()
    path = tmp_path / "words.csv"
    path.write_text("word,label\n" + "".join(f'and,"{label}"\n' for label in prepared.space.names))
    calm = {**plain["encoder"], "dropout": 0.0}
    losses = {}
    for name, mask in {
        "masked": {"name": "elements", "words": str(path), "plain_share": 0.5},
        "none": "none",
    }.items():
        for kind, reason in (("captured", None), ("plain", "")):
            seen = losses[name, kind] = []
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(loops, "against_capture", lambda *given, reason=reason: reason)
                fit(prepared, resolve({**plain, "encoder": calm, "mask": mask}), followed(seen))
    found = {key: [step.loss for step in seen] for key, seen in losses.items()}
    assert not all(step.settled for step in losses["masked", "captured"])
    assert found["masked", "captured"] == pytest.approx(found["masked", "plain"], rel=1e-3)
    assert sum(found["masked", "plain"]) < 0.9 * sum(found["none", "plain"])


@pytest.mark.parametrize("reason", [None, ""])
def test_a_mask_is_drawn_once_a_step_for_all_parts_of_its_batch(
    reason, case, monkeypatch, tmp_path
):
    prepared, settings = case
    monkeypatch.setattr(loops, "against_capture", lambda *given: reason)
    path = tmp_path / "alike.csv"
    path.write_text("label,group\n" + "".join(f'"{label}",all\n' for label in prepared.space.names))
    given = settings.as_dict()
    given["encoder"]["dropout"], given["mask"] = (
        0.0,
        {"name": "groups", "groups": str(path), "plain_share": 0.5},
    )
    losses = []
    for parts_of_batch in (1, 4):
        seen = []
        given["fit"]["accumulate"] = parts_of_batch
        fit(prepared, resolve(given), followed(seen))
        losses.append([step.loss for step in seen])
    assert losses[0] == pytest.approx(losses[1], rel=1e-3)
    assert max(losses[0]) > 2 * min(losses[0])  # both kinds of steps were drawn


def test_captured_and_stopped_goes_on_to_the_same_bits(case, captured, tmp_path):
    asked = iter([False, False, True])
    with pytest.raises(Interrupted):
        fit(*case, Run(folder=tmp_path, asked=lambda: next(asked, True)))
    assert same_bits(weights(fit(*case, Run(folder=tmp_path))), weights(fit(*case)))


@pytest.mark.parametrize("after", [0, 2])
def test_a_capture_that_fails_leaves_the_rest_to_the_plain_loop(case, captured, monkeypatch, after):
    fed, whole = [], CapturedStep.feed

    def failing(self, *given):
        fed.append(1)
        if len(fed) > after:
            raise NotCaptured("a step waits for the host (a reason)")
        return whole(self, *given)

    monkeypatch.setattr(CapturedStep, "feed", failing)
    seen, said = [], []
    fit(*case, followed(seen, said.append))
    assert said == [
        "steps run one by one, not as captured graphs: a step waits for the host (a reason)"
    ]
    assert [step.number for step in seen] == list(range(1, len(seen) + 1))


def test_memory_that_runs_out_is_said_and_kept_in_the_checkpoint(case, monkeypatch, tmp_path):
    prepared, settings = case
    encoder, sizes = registry.find("encoders", "cnn").factory, []
    forward = encoder.forward

    def small(self, ids, lengths):
        if self.training:
            sizes.append(len(ids))
            if len(ids) > 8:
                raise torch.OutOfMemoryError(
                    "CUDA out of memory. Tried to allocate 1 GiB. GPU 0 has …"
                )
        return forward(self, ids, lengths)

    monkeypatch.setattr(encoder, "forward", small)
    said, asked = [], iter([False, True])
    with pytest.raises(Interrupted):
        fit(
            prepared,
            settings,
            Run(folder=tmp_path, asked=lambda: next(asked, True), say=said.append),
        )
    assert len(said) == 1
    assert said[0].startswith(
        "the GPU's memory does not hold 16 texts at once: batches are computed in 2 parts"
    )
    sizes.clear()
    fit(prepared, settings, Run(folder=tmp_path, say=said.append))
    assert len(said) == 1
    assert max(sizes) == 8


def ready(**changed):
    """What nothing speaks against."""
    facts = {
        "world": 1,
        "batchwise": False,
        "sparse": False,
        "long": "head",
        "bytes": 1,
        "optimizer": True,
        **changed,
    }
    parameter = torch.nn.Parameter(torch.zeros(1))
    training = SimpleNamespace(
        optimizer=torch.optim.AdamW([parameter])
        if facts["optimizer"]
        else torch.optim.SGD([parameter], lr=1)
    )
    objectives = {"main": SimpleNamespace(batchwise=facts["batchwise"])}
    rows = SimpleNamespace(
        sparse=facts["sparse"], inputs=SimpleNamespace(row_a_text=facts["long"] != "windows")
    )
    return training, objectives, rows, facts


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({}, None),
        ({"optimizer": False}, ""),
        ({"world": 2}, "several processes"),
        ({"batchwise": True}, "looks at a whole batch"),
        ({"sparse": True}, "labels come in chunks"),
        ({"long": "windows"}, "windows have no fixed shape"),
        ({"bytes": 10**10}, "take 10.0 GB, and the GPU has 8.0 GB free"),
    ],
)
def test_reasons_against_capturing(changed, reason, monkeypatch):
    training, objectives, rows, facts = ready(**changed)
    monkeypatch.setattr(loops, "device_of", lambda settings: torch.device("cuda"))
    monkeypatch.setattr(loops, "free_bytes", lambda device: 8 * 10**9)
    monkeypatch.setattr(loops, "resident_bytes", lambda rows: facts["bytes"])
    run = SimpleNamespace(ranks=SimpleNamespace(world=facts["world"]))
    found = loops.against_capture(training, objectives, rows, resolve({}), run)
    assert found == reason if not reason else reason in found


def test_who_asks_for_none_gets_none(monkeypatch):
    monkeypatch.setattr(loops, "device_of", lambda settings: torch.device("cuda"))
    settings = resolve({"fit": {"capture": False}})
    assert (
        loops.against_capture(
            *ready()[:3], settings, SimpleNamespace(ranks=SimpleNamespace(world=1))
        )
        == ""
    )


def soft(case, **soft):
    """The same run with soft labels from keywords."""
    prepared, settings = case
    plain = settings.as_dict()
    return prepared, resolve({**plain, "targets": "kwls", "soft": {**plain["soft"], **soft}})


def losses(case, kind, monkeypatch):
    monkeypatch.setattr(loops, "against_capture", lambda *given: None if kind == "captured" else "")
    seen = []
    fitted = fit(*case, followed(seen))
    return [step.loss for step in seen], fitted


@pytest.mark.parametrize("kind", ["plain", "captured"])
@pytest.mark.parametrize("role", ["replace", "auxiliary"])
def test_soft_labels_count_from_their_step_on(case, kind, role, monkeypatch):
    hard, _ = losses(case, kind, monkeypatch)
    whole, _ = losses(soft(case, role=role), kind, monkeypatch)
    later, _ = losses(soft(case, role=role, from_step=5), kind, monkeypatch)
    assert later[:5] == hard[:5]
    assert whole[0] != hard[0]
    assert later[5] != hard[5]


def test_soft_labels_begin_where_they_would_have_after_a_stop(case, monkeypatch, tmp_path):
    chosen = soft(case, role="auxiliary", from_step=5)
    asked = iter([False, False, True])
    with pytest.raises(Interrupted):
        fit(*chosen, Run(folder=tmp_path, asked=lambda: next(asked, True)))
    assert same_bits(weights(fit(*chosen, Run(folder=tmp_path))), weights(fit(*chosen)))


@pytest.mark.parametrize("kind", ["plain", "captured"])
def test_a_second_head_learns_and_leaves(case, kind, monkeypatch):
    one, fitted = losses(soft(case, role="auxiliary"), kind, monkeypatch)
    two, with_two = losses(soft(case, role="auxiliary", heads=2), kind, monkeypatch)
    assert one[1:] != two[1:]
    assert weights(with_two).keys() == weights(fitted).keys()
    assert list(with_two.model.network.heads) == ["main"]


def test_a_refit_makes_soft_labels_of_all_its_rows(case, monkeypatch):
    prepared, settings = soft(case, role="auxiliary")
    made = []
    whole = type(prepared).soft_labels
    monkeypatch.setattr(
        type(prepared),
        "soft_labels",
        lambda self, names, *given, **more: (
            made.append(list(names)) or whole(self, names, *given, **more)
        ),
    )
    fit(
        prepared,
        resolve({**settings.as_dict(), "fit": {**settings.as_dict()["fit"], "refit": True}}),
    )
    assert made == [["train"], ["train", "dev"]]
