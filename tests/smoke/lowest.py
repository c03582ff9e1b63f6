"""The lowest version of each dependency that pyproject.toml allows, as pins for pip."""

import re
import tomllib
from pathlib import Path


def pins(requirements: list[str]) -> list[str]:
    """The floor of each requirement; torch stays what constraints.txt says, its wheel is the costly
    one.

    >>> pins(["torch>=2.10", "numpy>=1.26", "vl-convert-python>=1.7"])
    ['numpy==1.26', 'vl-convert-python==1.7']
    """
    floors = [re.fullmatch(r"([\w-]+)>=([\d.]+)", requirement) for requirement in requirements]
    if None in floors:
        raise ValueError(f"every dependency must read name>=version, got {requirements}")
    return ["==".join(floor.groups()) for floor in floors if floor and floor[1] != "torch"]


if __name__ == "__main__":
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    print("\n".join(pins(project["dependencies"])))  # noqa: T201
