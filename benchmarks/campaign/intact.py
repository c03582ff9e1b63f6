"""What stands after a disturbance: models that are whole and not mixed, files that are not torn."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from campaign.works import difference, files_of

WHOLE = ("loads", "model.safetensors", "settings.toml")  # the decision is fitted later


def tried(read: Callable[[Path], Any], path: Path) -> Any:
    """What is read, or the error as a string, which equals no result."""
    try:
        return read(path)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def mixed(out: Path, *models: Mapping[str, Any]) -> str:
    """How a model folder differs from each of these models; "" where it is one of them, whole."""
    found = tried(files_of, out)
    if not isinstance(found, dict):
        return str(found)
    kept = {name: found[name] for name in WHOLE}
    differences = [difference(kept, {name: one[name] for name in WHOLE}) for one in models]
    return "" if "" in differences else "; ".join(differences)


def torn(out: Path) -> str:
    """Which file of a comparison or a recipe is only a part of itself; "" where none is."""
    for page in out.rglob("*.html"):
        if not page.read_text(encoding="utf-8").rstrip().endswith("</html>"):
            return str(page)
    try:
        json.loads((out / "results.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ""
    except ValueError as error:
        return f"results.json: {error}"
    return ""


def left(place: Path) -> list[str]:
    """Names of what a finished command may not leave: locks, and files that were written aside."""
    ends = (".lock", ".part", ".shards", ".old")
    found = (path for path in place.rglob(".*") if path.name.endswith(ends))
    return [path.relative_to(place).as_posix() for path in found]
