"""Published values of the papers' equations, made with 60-digit arithmetic."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tagwright import losses, registry
from tagwright.masks.groups import GroupMask
from tagwright.objective import auxiliary, weight_cells

VECTORS = json.loads((Path(__file__).parent / "vectors.json").read_text(encoding="utf-8"))
PUBLISHED = Path(__file__).parents[3] / "shared" / "papers" / "vectors.json"
DTYPES = {torch.float64: 1e-10, torch.float32: 1e-5}

# equation -> function, and the key of its expected value
EQUATIONS: dict[str, list[tuple[Any, str]]] = {
    "bce_eq14": [(losses.bce, "expected")],
    "focal_eq19_gamma2": [(losses.focal, "expected")],
    "dice1_eq20": [(losses.dice, "expected")],
    "dice2_eq21": [(losses.batch_dice, "expected")],
    "ranking_eq22": [(losses.ranking, "expected")],
    "warp_eq23": [
        (losses.warp, "expected"),
        (partial(losses.warp, weighting="harmonic"), "alt_harmonic_w"),
    ],
    "bpmll_log_eq24": [(losses.bpmll, "expected")],
    "lsep_eq12": [(losses.lsep, "expected")],
    "zlpr_eq1": [(losses.zlpr, "expected")],
    "tlpr_eq6": [(losses.zlpr, "expected")],
    "soft_zlpr_eq31": [(losses.zlpr, "expected")],
    "cecl_eq5_natural_log": [(losses.cecl, "expected")],
    "pbp_eq6_natural_log": [(losses.pbp, "expected")],
    "companion_asl": [
        (losses.asymmetric, "expected"),
        (
            partial(losses.asymmetric, gamma_positive=0, gamma_negative=0, clip=0),
            "gamma0_clip0_equals_bce",
        ),
    ],
    "companion_atl": [(losses.adaptive_threshold, "expected")],
}
CASES = [
    pytest.param(function, case, key, id=f"{equation}-{case['name']}-{key}")
    for equation, pairs in EQUATIONS.items()
    for function, key in pairs
    for case in VECTORS[equation]["cases"]
]


def tensor(values: Any, dtype: torch.dtype) -> torch.Tensor:
    return torch.atleast_2d(torch.tensor(values, dtype=dtype))


def logits_of(case: dict[str, Any], dtype: torch.dtype) -> torch.Tensor:
    """The logits of a case; of chances their logarithms, of an exact 0 as good as minus
    infinity.
    """
    if "logits" in case:
        return tensor(case["logits"], dtype)
    chances = np.array(case.get("output", case.get("probs")), np.float64)
    return tensor(np.where(chances > 0, np.log(np.maximum(chances, 1e-300)), -1e4).tolist(), dtype)


def close(found: float, expected: float, dtype: torch.dtype) -> None:
    assert found == pytest.approx(expected, rel=DTYPES[dtype], abs=DTYPES[dtype])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("function", "case", "key"), CASES)
def test_value_and_gradient_are_the_published_ones(
    function: Any, case: dict[str, Any], key: str, dtype: torch.dtype
):
    if "probs" in case and "onehot" not in case:
        logits, target = tensor(case["logits"], dtype), tensor(case["probs"], dtype)
    else:
        logits, target = (
            logits_of(case, dtype),
            tensor(case.get("labels", case.get("onehot")), dtype),
        )
    if function is losses.adaptive_threshold:  # the paper's threshold class comes first, ours last
        logits, target = logits.roll(-1, 1), target[:, 1:]
    logits.requires_grad_()
    settings = {"threshold": case["s0"]} if "s0" in case else {}
    value = function(logits, target, **settings).sum()
    # a row without a pair has no logarithm; the recommended value is 0
    close(value.item(), case[key] if case[key] is not None else case["recommended"], dtype)
    slope = case.get("grad_logits", case.get("grad_logits_eq32"))
    if slope is not None:
        value.backward()
        for found, expected in zip(logits.grad[0].tolist(), slope):
            close(found, expected, dtype)


@pytest.mark.parametrize("case", VECTORS["kl_eq36"]["cases"] + VECTORS["symkl_eq37"]["cases"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_divergence_of_zlpr_is_the_published_one(case: dict[str, Any], dtype: torch.dtype):
    function = losses.kl if case in VECTORS["kl_eq36"]["cases"] else losses.symmetric_kl
    found = function(tensor(case["s"], dtype), tensor(case["s_prime"], dtype), link="sigmoid2")
    close(found.item(), case["expected"], dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("equation", ["wcecl_eq7", "pbp_weighted_eq9"])
def test_weighted_losses_of_bat_are_the_published_ones(equation: str, dtype: torch.dtype):
    module = losses.CECLLoss if equation == "wcecl_eq7" else losses.PBPLoss
    for case in VECTORS[equation]["cases"]:
        if case.get("clip"):  # its value is that of the clip
            continue
        logits, target = logits_of(case, dtype), tensor(case["onehot"], dtype)
        cells = {}
        if case["weights"] == "CE":
            cells = {"negative_weight": torch.zeros(3, dtype=dtype)}
        elif case["weights"] != "none":
            counts = np.array(case["class_counts"])
            made = registry.build(
                "weights", case["weights"].lower(), {}, label_counts=counts, row_count=counts.sum()
            )
            cells = weight_cells(
                target, *(None if w is None else torch.as_tensor(w, dtype=dtype) for w in made)
            )
        value = module(gamma=case["gamma"], positive_scale=case["lambda"])(logits, target, **cells)
        close(value.item(), case["expected"], dtype)


def test_gradients_of_cecl_are_those_of_equations_13_and_14():
    for case in VECTORS["cecl_gradients_eq13_eq14"]["cases"]:
        for gold, key in ((1.0, "dL_dp_gold_eq13"), (0.0, "dL_dp_other_eq14")):
            # of a label's own term alone: two labels whose other term weighs nothing
            logits = torch.tensor(
                [[np.log(case["p"]), np.log1p(-case["p"])]], dtype=torch.float64, requires_grad=True
            )
            only = torch.tensor([1.0, 0.0], dtype=torch.float64)
            target = torch.tensor([[gold, 1 - gold]], dtype=torch.float64)
            weights = {"positive_weight": only, "negative_weight": only}
            losses.cecl(logits, target, gamma=case["gamma"], **weights).sum().backward()
            by_chance = logits.grad[0, 0].item() / (case["p"] * (1 - case["p"]))
            assert by_chance == pytest.approx(case[key], rel=1e-10)


def test_equation_22_changes_sign_where_published():
    for case in VECTORS["eq22_sign_change"]["cases"]:
        chance = case["expected"]
        gold, other = (
            torch.tensor(
                [[np.log(chance), np.log1p(-chance)]], requires_grad=True, dtype=torch.float64
            )
            for _ in "12"
        )
        first = torch.tensor([1.0, 0.0], dtype=torch.float64)
        target = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
        settings = {"gamma": 1, "positive_weight": first, "negative_weight": first}
        losses.cecl(gold, target, positive_scale=case["lambda"], **settings).sum().backward()
        losses.cecl(other, 1 - target, **settings).sum().backward()
        assert (gold.grad + other.grad)[0, 0].item() == pytest.approx(0, abs=1e-9)


def test_maskloss_is_the_published_one():
    for case in VECTORS["maskloss_eq3"]["cases"]:
        logits, target = (
            tensor(case["logits"], torch.float64),
            tensor(case["labels"], torch.float64),
        )
        membership = np.array(
            [[k in group for group in case["groups"]] for k in range(target.shape[1])]
        )
        for share, key in ((1.0, "expected_lambda1"), (0.0, "expected_lambda0")):
            mask = GroupMask(membership, plain_share=share)(target)
            close(
                losses.BinaryCrossEntropyLoss(labels="mean")(logits, target, mask=mask).item(),
                case[key],
                torch.float64,
            )


def test_kwls_loss_is_the_published_one():
    for case in VECTORS["kwls_loss_eq9"]["cases"]:
        logits = logits_of(case, torch.float64)
        hard = losses.cross_entropy(logits, tensor(case["hard"], torch.float64))
        soft = losses.squared_error(logits, tensor(case["soft"], torch.float64))
        found = auxiliary(hard, soft, alpha=case["alpha"]).mean()
        close(found.item(), case["expected"], torch.float64)
        close(
            auxiliary(hard, soft, alpha=case["alpha"], halved=False).mean().item(),
            case["official_code_value"],
            torch.float64,
        )


def test_label_slots_are_averaged_as_published():
    for case in VECTORS["lm_mtc_bce_eq4_joint_eq5"]["cases"]:
        logits, target = (
            tensor(case["logits"], torch.float64),
            tensor(case["labels"], torch.float64),
        )
        found = losses.BinaryCrossEntropyLoss(labels="mean")(logits, target).item()
        close(found, case["expected_bce_mean"], torch.float64)


def test_copied_values_are_those_that_lie_beside_the_papers():
    if PUBLISHED.exists():
        whole = json.loads(PUBLISHED.read_text(encoding="utf-8"))
        assert {key: whole[key] for key in VECTORS} == VECTORS
