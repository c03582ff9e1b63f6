"""Names that are cut so that they fit into a plot and stay different."""

from collections.abc import Sequence
from unicodedata import east_asian_width


def short_names(names: Sequence[str], *, limit: int = 26) -> list[str]:
    """Names cut in the middle, for paths differ at their ends; those that then look alike are cut
    elsewhere, where they differ, and the same names are numbered.

    Vega's own limit is off: it counts in UTF-16 and may cut a letter in two, which ends the drawing
    with an error.

    >>> names = ["home / garden / chairs", "home / garden / stairs", "home / garden / stairs"]
    >>> short_names(names, limit=9)
    ['ho…chairs', 'ho…stairs', 'ho…stairs (2)']
    """
    rooms = [
        limit // 2 if any(east_asian_width(letter) in "WF" for letter in name) else limit
        for name in names
    ]
    short = [_cut(name, room) for name, room in zip(names, rooms)]
    alike: dict[str, list[int]] = {}
    for i, cut in enumerate(short):
        alike.setdefault(cut, []).append(i)
    for places in alike.values():
        if len({names[i] for i in places}) > 1:
            start = _apart([names[i] for i in places])
            for i in places:
                short[i] = _cut_from(names[i], start, rooms[i])
    seen: dict[str, int] = {}
    for i, cut in enumerate(short):
        seen[cut] = seen.get(cut, 0) + 1
        short[i] = cut if seen[cut] == 1 else f"{cut} ({seen[cut]})"
    return short


def _cut(name: str, room: int) -> str:
    half = (room - 1) // 2
    return name if len(name) <= room else f"{name[:half]}…{name[-half:]}"


def _apart(names: Sequence[str]) -> int:
    """Where the word begins in which the names first differ."""
    shared = next(
        (i for i, letters in enumerate(zip(*names)) if len(set(letters)) > 1), min(map(len, names))
    )
    return names[0].rfind(" ", 0, shared) + 1


def _cut_from(name: str, start: int, room: int) -> str:
    """The first letters of a name, and what comes from `start` on."""
    head = min(room // 4, start)
    rest = room - head - 1
    return (
        f"{name[:head]}…{name[start:]}"
        if len(name) - start <= rest
        else f"{name[:head]}…{name[start:][: rest - 1]}…"
    )
