"""Packages import each other in the order of the stages ([tool.importlinter], pyproject.toml)."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_no_package_imports_from_a_later_stage():
    code = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports())"
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "1 kept, 0 broken" in ran.stdout
