"""A hundred kills at random moments of training lose nothing: the model ends in the same bits as one never disturbed.

    python benchmarks/kills.py --kills 100

Each round starts `tagwright fit … --resume` on the embedded pages and ends it with SIGKILL after a random time:
start-up, reading, training, saving and writing are all hit. A run that finishes is compared and started anew.
"""

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tagwright.folder import sha256, verified

COMPARED = ("model.safetensors", "heads/main/decision.json", "settings.toml")
FIT = ["fit", "shop", "--encoder", "cnn", "--objective", "zlpr", "--epochs", "6", "--set", "fit.save_seconds=0.2"]


def command(out: Path, *more: str) -> list[str]:
    """The words of one run."""
    return [sys.executable, "-m", "tagwright", *FIT, "--set", "encoder.filters=32", "--out", str(out), *more]


def digests(folder: Path) -> dict[str, str]:
    """What must be the same, after the folder's own check."""
    verified(folder)
    return {name: sha256(folder / name) for name in COMPARED}


def run_killed(out: Path, seconds: float) -> bool:
    """Run until done or killed; True when it was killed."""
    process = subprocess.Popen(command(out, "--resume"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        _, said = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return True
    if process.returncode != 0:
        raise SystemExit(f"a run failed by itself:\n{said.decode()}")
    return False


def main() -> None:
    """Print how it went."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    home = Path(tempfile.mkdtemp())
    started = time.monotonic()
    subprocess.run(command(home / "whole"), check=True, capture_output=True)
    whole, usual = digests(home / "whole"), time.monotonic() - started
    kills, finished, out = 0, 0, home / "killed"
    while kills < options.kills or not out.exists():
        last = kills >= options.kills
        killed = run_killed(out, 600.0 if last else draw.uniform(0.2, usual))
        kills += killed
        if not killed:
            finished += 1
            if digests(out) != whole:
                raise SystemExit(f"after {kills} kills the model differs")
            if not last:
                shutil.rmtree(out)
                shutil.rmtree(home / "killed.run")
    print(f"{kills} kills, {finished} finished runs, the same bits every time; one run takes {usual:.1f} s")
    shutil.rmtree(home)


if __name__ == "__main__":
    main()
