"""The colors of plots: apart for everyone, and seen on their ground."""

import re
from importlib.resources import files
from itertools import combinations

import numpy as np
import pytest

# What the color-blind see of linear RGB: Machado, Oliveira and Fernandes 2009, severity 1.
SEEN = {
    "all": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.3039],
    ],
}
TO_CONES = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
]
TO_LAB = [
    [0.2104542553, 0.793617785, -0.0040720468],
    [1.9779984951, -2.428592205, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.808675766],
]
NAMES = ("ink", "accent", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


def linear(color):
    digits = color if len(color) == 6 else "".join(2 * digit for digit in color)
    value = np.array([int(digits[i : i + 2], 16) for i in (0, 2, 4)]) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def oklab(color):
    """Ottosson's perceptual space; about 0.02 is a difference that is just seen."""
    return np.cbrt(np.clip(color, 0, 1) @ np.transpose(TO_CONES)) @ np.transpose(TO_LAB)


@pytest.fixture(params=["light", "dark"])
def palette(request):
    style = (files("tagwright.reports") / "templates" / "style.css").read_text(encoding="utf-8")
    part = style.split("prefers-color-scheme: dark")[request.param == "dark"]
    return {name: linear(value) for name, value in re.findall(r"--(\w+): #(\w+);", part)}


@pytest.mark.parametrize("eyes", list(SEEN))
def test_colors_of_plots_are_apart(palette, eyes):
    seen = {name: oklab(palette[name] @ np.transpose(SEEN[eyes])) for name in NAMES}
    nearest = min(
        combinations(NAMES, 2), key=lambda pair: np.linalg.norm(seen[pair[0]] - seen[pair[1]])
    )
    assert np.linalg.norm(seen[nearest[0]] - seen[nearest[1]]) > 0.06, nearest


def test_colors_of_plots_are_seen_on_their_ground(palette):
    light = {name: palette[name] @ [0.2126, 0.7152, 0.0722] + 0.05 for name in (*NAMES, "surface")}
    for name in NAMES:
        ratio = light[name] / light["surface"]
        assert max(ratio, 1 / ratio) >= 3, name
