"""What hostile use does: kills, signals, full disks, broken folders, hostile files, races. Nothing
may be lost.

    python benchmarks/reliability.py                    # all of it: about half an hour on two cores
    python benchmarks/reliability.py --short            # a few of each
    python benchmarks/reliability.py --only kills,disk  # some parts

Each part makes as many cases as the table says and counts a fault for a lost or mixed model, for
other bits than an undisturbed run has, for a traceback, a crash, a hang, and for more than 2 GB of
memory on hostile input. Ends with exit code 1 if there is any fault.
"""

import argparse
import importlib
import shutil
import sys
import tempfile
import time
from pathlib import Path

from campaign.tally import Tally, lines

# how many cases each part makes in the whole campaign and in the short form
PARTS = {
    "kills": (200, 6),
    "signals": (60, 4),
    "disk": (60, 4),
    "pairs": (40, 2),
    "loads": (20_000, 300),
    "flips": (400, 20),
    "folders": (100, 10),
    "files": (100, 10),
}


def main() -> None:
    """Run the parts and print how they went."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--short", action="store_true", help="a few cases of each part")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, with commas between")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    tallies = []
    for name in options.only.split(","):
        started, home = time.monotonic(), Path(tempfile.mkdtemp(prefix=f"reliability-{name}-"))
        tally = Tally(name=name, wanted=PARTS[name][options.short])
        importlib.import_module(f"campaign.{name}").run(tally, home, seed=options.seed)
        shutil.rmtree(home, ignore_errors=True)
        tallies.append(tally)
        said = (
            f"{name}: {tally.made:,} in {time.monotonic() - started:.0f} s, {len(tally.faults)}"
            " faults"
        )
        print(said, file=sys.stderr, flush=True)
    print("\n".join(lines(tallies)))
    sys.exit(any(tally.faults for tally in tallies))


if __name__ == "__main__":
    main()
