"""The stub of the losses is what the folder holds."""

from pathlib import Path

from stubs import losses_stub

from tagwright import losses


def test_stub_on_disk_is_current():
    assert Path(losses.__file__).with_suffix(".pyi").read_text(encoding="utf-8") == losses_stub()
