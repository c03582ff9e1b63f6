"""Mutation check: plant one small fault at a time and see that the tests notice it.

    python tests/mutants.py                  # every mutant of tests/mutants.toml
    python tests/mutants.py NAME [NAME ...]  # some of them
    python tests/mutants.py NAME --tests tests/cli   # do other tests notice it, too?

Each mutant replaces one fragment in a temporary copy of `src`; the working tree is never touched.
The exit code is 1 if a mutant survives its tests, or if its fragment does not occur exactly once.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = Path(__file__).with_suffix(".toml")
PACKAGE = Path("src", "tagwright")
EXPECTED = {0: "MISSED", 1: "caught"}  # what pytest ends with when a mutant is planted
SECONDS = 600  # per run of the tests; a mutant that hangs does not count as caught


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A fault: `old` becomes `new` in `file` (below src/tagwright). One of `tests` has to fail."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def occurrences(self, root: Path) -> int:
        """How often the fragment occurs in the file below `root`; 0 if there is no such file."""
        path = root / PACKAGE / self.file
        return path.read_text(encoding="utf-8").count(self.old) if path.is_file() else 0

    def plant(self, root: Path) -> str:
        """Replace the fragment below `root` and return the text as it was."""
        path = root / PACKAGE / self.file
        before = path.read_text(encoding="utf-8")
        path.write_text(before.replace(self.old, self.new), encoding="utf-8")
        return before


def read_mutants(path: Path = TABLE) -> list[Mutant]:
    """The mutants of a table, in its order."""
    rows = tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]
    return [Mutant(**{**row, "tests": tuple(row["tests"])}) for row in rows]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the mutants that the command line names; 0 if the tests catch all of them."""
    options = _options(arguments)
    mutants = _named(read_mutants(), options.names)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__"))
        tests = options.tests or sorted({test for mutant in mutants for test in mutant.tests})
        if not options.tests and _run(tests, copy, stop=False) != 0:
            print("the tests fail without any mutant; cure that first")
            return 1
        results = [_result(mutant, options.tests or mutant.tests, copy) for mutant in mutants]
    print(f"{results.count('caught')} of {len(results)} mutants are caught")
    return 0 if set(results) <= {"caught"} else 1


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Plant faults; see that the tests notice them.")
    parser.add_argument("names", nargs="*", help=f"mutants of {TABLE.name}; by default all")
    parser.add_argument("--tests", nargs="+", default=[], help="instead of the mutants' own tests")
    return parser.parse_args(arguments)


def _named(mutants: Iterable[Mutant], names: Sequence[str]) -> list[Mutant]:
    known = {mutant.name: mutant for mutant in mutants}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"no such mutant: {', '.join(unknown)}; see {TABLE.name}")
    return [known[name] for name in names] if names else list(known.values())


def _result(mutant: Mutant, tests: Sequence[str], copy: Path) -> str:
    """Whether the tests catch a mutant, in one word; also printed."""
    count = mutant.occurrences(copy)
    if count != 1:
        result = f"stale: its fragment occurs {count} times"
    else:
        before = mutant.plant(copy)
        code = _run(tests, copy, stop=True)
        (copy / PACKAGE / mutant.file).write_text(before, encoding="utf-8")
        result = EXPECTED.get(code, f"no answer: pytest ended with code {code}")
    print(f"{mutant.name:44} {mutant.file:28} {result}", flush=True)
    return result


def _run(tests: Sequence[str], copy: Path, *, stop: bool) -> int:
    """The exit code of pytest with the copy's package. `stop` at the first failure, and name it."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    command += ["-x"] if stop else []
    # no bytecode: a file that is changed twice within a second keeps its time stamp
    own = {"PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    options = {"cwd": ROOT, "env": {**os.environ, **own}, "timeout": SECONDS}
    try:
        done = subprocess.run(command, capture_output=True, text=True, **options)
    except subprocess.TimeoutExpired:
        return -1
    if stop and done.returncode in EXPECTED:
        lines = done.stdout.splitlines()
        print("".join(f"  {line}\n" for line in lines if line.startswith("FAILED ")), end="")
    elif done.returncode:
        print(done.stdout[-4000:], done.stderr[-2000:])
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
