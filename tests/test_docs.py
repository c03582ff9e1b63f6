"""Every example in the documents runs: python blocks in order, console blocks command by
command.
"""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
# pages whose examples train on all pages of the shop, several times
LONG = {"comparisons.md", "groups.md", "settings.md", "tutorial.md"}


def blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def cases() -> list:
    """The pages with examples; long ones are slow tests."""
    marks = {
        page: [pytest.mark.slow] if page.name in LONG else [] for page in PAGES if blocks(page)
    }
    return [pytest.param(page, marks=mark, id=page.name) for page, mark in marks.items()]


@pytest.mark.parametrize("page", cases())
def test_every_example_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "example"}
    for kind, text in blocks(page):
        if kind == "python":
            exec(compile(text, str(page), "exec"), names)
            continue
        for line in text.splitlines():
            if line.startswith("$ tagwright "):
                command = [sys.executable, "-m", "tagwright", *shlex.split(line)[2:]]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                assert done.returncode == 0, f"{line}\n{done.stderr}"


def test_some_page_has_examples():
    assert any(blocks(page) for page in PAGES)
