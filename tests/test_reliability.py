"""The short form of the campaign of hostile use ends without a fault."""

import subprocess
import sys
from pathlib import Path

import pytest

from tagwright.errors import SettingsError
from tagwright.inference._shards import shards_of

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


def test_the_campaign_knows_how_a_complete_file_is_told(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(CAMPAIGN.parent))
    from campaign.works import COMPLETE

    (tmp_path / "out.csv").write_text("text,tags\n", encoding="utf-8")
    with (
        pytest.raises(SettingsError) as caught,
        shards_of(tmp_path / "out.csv", {}, resume=True, overwrite=False),
    ):
        pass
    assert COMPLETE in str(caught.value)
