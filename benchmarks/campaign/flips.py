"""Files of a model folder are flipped, cut, emptied, removed or exchanged: loading refuses them, or
nothing differs.
"""

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from campaign import models
from campaign.forks import Ended, Forks
from campaign.tally import Tally

MANIFEST = "manifest.json"
FREE = ("README.md",)  # a person may change it, and it says nothing about how the model answers
MOST = 1 << 20  # bytes that are appended
FORMERS = Path(__file__).parents[2] / "tests" / "folders" / "format-1"  # folders of an older format


def run(tally: Tally, home: Path, *, seed: int) -> None:
    """Damage a copy of a model in one place, and load it."""
    draw = random.Random(seed)
    with Forks(home) as maker:
        kinds = maker.call(models.make, home, list(models.SETTINGS), patience=300).value
    for folder in FORMERS.iterdir() if FORMERS.exists() else ():
        if folder.is_dir():
            shutil.copytree(folder, home / f"former-{folder.name}")
            kinds.append(f"former-{folder.name}")
    with Forks(home, models.warm_up, [home / kind for kind in kinds]) as forks:
        sound = {kind: forks.call(loaded, home / kind).value for kind in kinds}
        tally.require(None not in sound.values(), f"a sound model does not load: {sound}")
        for number in tally.rounds():
            kind, other = draw.sample(kinds, 2)
            copy = home / "copy"
            shutil.copytree(home / kind, copy)
            what, name = _damaged(copy, home / other, number, draw)
            ended = forks.call(loaded, copy)
            _judge(tally, ended, sound[kind], f"{kind}/{name} {what}", free=name in FREE)
            shutil.rmtree(copy)


def loaded(folder: Path) -> dict[str, Any]:
    """The fingerprint of the model in a folder, or what its loading says."""
    from tagwright.errors import ModelError
    from tagwright.inference import model_folder

    try:
        model = model_folder.load(folder)
        model_folder.load_card(folder)
    except ModelError as error:
        return {"refused": str(error)}
    return models.fingerprint(model)


def _judge(tally: Tally, ended: Ended, sound: dict[str, str], case: str, *, free: bool) -> None:
    tally.add(ended.ran)
    found = ended.value
    if not isinstance(found, dict):
        tally.require(False, f"{case}: no ModelError, {ended.said[-1:] or ended.ran.code}")
    elif "refused" in found:
        tally.note("refused")
        tally.require(
            not free, f"{case}: refused, though a person may change it: {found['refused']}"
        )
        tally.require(
            len(found["refused"].splitlines()) == 1,
            f"{case}: several lines, {found['refused'][:500]!r}",
        )
    else:
        tally.note("equal" if free else "equal: the manifest tells the same")
        differing = [part for part, digest in found.items() if digest != sound[part]]
        tally.require(
            not differing, f"{case}: loads as another model, of other {', '.join(differing)}"
        )
        tally.require(
            free or case.split()[0].endswith(f"/{MANIFEST}"),
            f"{case}: a damaged file was not noticed",
        )
    tally.require(not ended.reached, f"{case}: reached out, {ended.reached[:2]}")


def _flipped(path: Path, other: Path, draw: random.Random) -> str:
    content = bytearray(path.read_bytes())
    place, mask = draw.randrange(len(content)), draw.randrange(1, 256)
    content[place] ^= mask
    path.write_bytes(content)
    return f"byte {place} ^ {mask}"


def _truncated(path: Path, other: Path, draw: random.Random) -> str:
    size = draw.randrange(path.stat().st_size)
    with path.open("rb+") as file:
        file.truncate(size)
    return f"cut to {size}"


def _extended(path: Path, other: Path, draw: random.Random) -> str:
    content = draw.choice([b"\n", b" ", b"\0", draw.randbytes(100), b"\0" * MOST])
    with path.open("ab") as file:
        file.write(content)
    return f"{len(content)} bytes appended, {content[:1]!r}"


def _emptied(path: Path, other: Path, draw: random.Random) -> str:
    path.write_bytes(b"")
    return "emptied"


def _removed(path: Path, other: Path, draw: random.Random) -> str:
    path.unlink()
    return "removed"


def _replaced(path: Path, other: Path, draw: random.Random) -> str:
    """By the file of its name in another model, or by any file of it where that has none, or the
    same.
    """
    name = path.relative_to(path.parents[1] if path.parent.name != "copy" else path.parent)
    files = sorted(file for file in other.rglob("*") if file.is_file())
    same = [file for file in files if file.match(str(name))]
    differing = [file for file in same or files if file.read_bytes() != path.read_bytes()]
    taken = draw.choice(
        differing or [file for file in files if file.read_bytes() != path.read_bytes()]
    )
    shutil.copyfile(taken, path)
    return f"replaced by {taken.parent.name}/{taken.name}"


def _renumbered(path: Path, other: Path, draw: random.Random) -> str:
    """The digit of the format in the manifest is another one, which a flip of two bits can do."""
    content = path.read_bytes()
    place = content.index(b'"format": ') + len(b'"format": ')
    digit = draw.choice(b"0123".replace(content[place : place + 1], b""))
    path.write_bytes(content[:place] + bytes([digit]) + content[place + 1 :])
    return f"format {chr(digit)}"


Damage = Callable[[Path, Path, random.Random], str]
DAMAGES: tuple[Damage, ...] = (
    _flipped,
    _truncated,
    _extended,
    _emptied,
    _removed,
    _replaced,
    _renumbered,
)


def _damaged(folder: Path, other: Path, number: int, draw: random.Random) -> tuple[str, str]:
    """What was done, and to which file. Every second time it is a flip."""
    damage = _flipped if number % 2 else draw.choice(DAMAGES[1:])
    if damage is _renumbered:
        return damage(folder / MANIFEST, other, draw), MANIFEST
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size)
    path = folder / MANIFEST if number % 9 == 0 else draw.choice(files)
    name = path.relative_to(folder).as_posix()
    return damage(path, other, draw), name
