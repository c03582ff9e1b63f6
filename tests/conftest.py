"""What all tests share: where real data may be, and that skipping is not a way to pass."""

import os
from functools import wraps
from pathlib import Path

import pytest
import torch
from hypothesis import settings

from .small_models import *  # noqa: F403

# before anything loads Triton: without a GPU its kernels are interpreted
if not torch.cuda.is_available():
    os.environ.setdefault("TRITON_INTERPRET", "1")

# where a failure must be repeatable, the drawn examples are the same every time
settings.register_profile("repeatable", derandomize=True, deadline=None)
if os.environ.get("CI"):
    settings.load_profile("repeatable")

ALLOWED_SKIPS = ("GPU", "TAGWRIGHT_DATA", "TAGWRIGHT_ENCODERS")


@pytest.fixture(scope="session", autouse=True)
def float32_on_a_cpu():
    """What "auto" means must not hang on how fast this machine happens to be in bfloat16."""
    from tagwright.models import precision

    own = precision.gain
    precision.gain = wraps(own)(lambda: 0.0)
    yield
    precision.gain = own


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data sets; tests that want it skip where it is not there."""
    folder = Path(os.environ.get("TAGWRIGHT_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("real data are not here; set TAGWRIGHT_DATA")
    return folder


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """With TAGWRIGHT_NO_SKIPS set, a skip for any other reason than a missing GPU or data is a
    failure.
    """
    outcome = yield
    report = outcome.get_result()
    if report.skipped and os.environ.get("TAGWRIGHT_NO_SKIPS") and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if not any(word in reason for word in ALLOWED_SKIPS):
            report.outcome = "failed"
            report.longrepr = f"skipped, which is a failure here: {reason}"
