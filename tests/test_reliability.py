"""The short form of the campaign of hostile use ends without a fault."""

import subprocess
import sys
from pathlib import Path

import pytest

CAMPAIGN = Path(__file__).parents[1] / "benchmarks/reliability.py"


@pytest.mark.slow
@pytest.mark.parametrize(
    "part", ["kills", "signals", "disk", "pairs", "loads", "flips", "folders", "files"]
)
def test_hostile_use_loses_nothing(part):
    ran = subprocess.run(
        [sys.executable, str(CAMPAIGN), "--short", "--only", part],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert f"| {part} |" in ran.stdout
