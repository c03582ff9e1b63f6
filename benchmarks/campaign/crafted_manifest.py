"""Crafted model folders whose manifest lies, or whose files are none."""

import json
import os
import shutil
import socket
from pathlib import Path
from typing import Any

from campaign.crafted import (
    DEEP,
    HEAD,
    MANIFEST,
    Change,
    about,
    cases,
    device,
    replaced,
    seal,
    sparse,
    text,
)

NAMES = {
    "an absolute name": "/etc/passwd",
    "a name that leads out": "tokenizer/../../x",
    "two dots": "..",
    "a dot inside": "./model.safetensors",
    "an empty part": "heads//main/head.json",
    "a NUL": "tokenizer/a\0b",
    "a newline": "tokenizer/a\nb",
    "a backslash": "tokenizer\\x",
    "a drive": "C:model.safetensors",
    "other case": "MODEL.safetensors",
    "other case of a head": "heads/main/HEAD.json",
    "half a surrogate pair": "tokenizer/\ud800",
    "a name of 1 MB": "tokenizer/" + "x" * 10**6,
    "an escape sequence": "tokenizer/\x1b[31mred",
    "an empty name": "",
    "the manifest": MANIFEST,
    "a file that is missing": "tokenizer/missing.json",
    "a head that nobody names": "heads/other/head.json",
    "many levels": "/".join(["tokenizer"] * DEEP),
    "a module": "encoder/modeling.py",
}


def _listed(name: str, digest: Any = "0" * 64) -> Change:
    """A manifest that lists one name more."""

    def change(folder: Path) -> None:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        manifest["sha256"][name] = digest
        (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")

    return change


def _digests(digest: Any) -> Change:
    """A manifest with this in the place of each digest."""

    def change(folder: Path) -> None:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        about(sha256=dict.fromkeys(manifest["sha256"], digest))(folder)

    return change


def _without(name: str) -> Change:
    def change(folder: Path) -> None:
        (folder / name).unlink()

    return change


def _bound(path: Path) -> None:
    """A socket; its path may be too long for one, so it is bound by its name alone."""
    before = os.getcwd()
    os.chdir(path.parent)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)
    os.chdir(before)


def _linked_folder(name: str) -> Change:
    def change(folder: Path) -> None:
        shutil.move(folder / name, folder / f"{name}-away")
        (folder / name).symlink_to(f"{name}-away")

    return change


def _as(encoding: str) -> Change:
    def change(folder: Path) -> None:
        content = (folder / MANIFEST).read_text(encoding="utf-8")
        (folder / MANIFEST).write_bytes(content.encode(encoding))

    return change


def _no_file(name: str) -> dict[str, Change]:
    """What may stand in the place of a file."""
    return {
        f"{name} is a pipe": replaced(name, os.mkfifo),
        f"{name} is a device": replaced(name, device),
        f"{name} is a socket": replaced(name, _bound),
        f"{name} is a link": replaced(name, lambda path: path.symlink_to("/etc/hostname")),
        f"{name} is a link to a device": replaced(name, lambda path: path.symlink_to("/dev/zero")),
        f"{name} is a link to nothing": replaced(name, lambda path: path.symlink_to("nothing")),
        f"{name} is a link to itself": replaced(name, lambda path: path.symlink_to(path.name)),
        f"{name} is a folder": replaced(name, lambda path: path.mkdir()),
        f"{name} is gigantic": replaced(name, sparse(10**11)),
    }


JSON = {
    "empty": b"",
    "nothing but NUL": bytes(1000),
    "not JSON": "{'format': 2}",
    "cut": '{"format": 2, "sha256": {',
    "nested lists": "[" * DEEP,
    "nested objects": '{"a":' * DEEP,
    "nested lists, whole": (
        '{"format": 2, "heads": ["main"], "sha256": ' + "[" * DEEP + "]" * DEEP + "}"
    ),
    "nested inside": (
        '{"format": 2, "heads": ["main"], "sha256": {}, "x": ' + "[" * 900 + "]" * 900 + "}"
    ),
    "a list": [],
    "null": "null",
    "a string": '"manifest"',
    "NaN": '{"format": NaN, "sha256": {}}',
    "5,000 digits": '{"format": ' + "9" * 5000 + ', "heads": ["main"], "sha256": {}}',
    "digests as a list": {"format": 2, "heads": ["main"], "sha256": []},
    "digests as null": {"format": 2, "heads": ["main"], "sha256": None},
    "no digest": {"format": 2, "heads": ["main"], "sha256": {}},
    "nothing of it": {},
    "invalid UTF-8": b'{"format": 2, "sha256": {"\xff": ""}}',
    "4 MiB of names": {
        "format": 2,
        "heads": ["main"],
        "sha256": {f"tokenizer/{n}": "" for n in range(10**5)},
    },
    "4 MiB of heads": {"format": 2, "heads": [f"h{n}" for n in range(3 * 10**5)], "sha256": {}},
    "twice the same key": (
        '{"format": 2, "format": 2, "heads": ["main"], "sha256": {}, "sha256": {}}'
    ),
}
ABOUT: dict[str, dict[str, Any]] = {
    **{
        f"format {number!r:.20}": {"format": number}
        for number in (0, 1, 3, -1, 2.0, "2", None, True, [2], 10**30)
    },
    "heads nested": {"heads": [["main"]]},
    "heads with a path": {"heads": ["../heads/main"]},
    "heads with an absolute path": {"heads": ["/etc"]},
    "heads with NUL": {"heads": ["main\0"]},
    "heads with half a pair": {"heads": ["\ud800"]},
    "heads empty": {"heads": []},
    "a head without name": {"heads": [""]},
    "heads twice": {"heads": ["main", "main"]},
    "heads of 100,000": {"heads": ["main", *map(str, range(10**5))]},
    "heads in an object": {"heads": {"main": 1}},
    "packages that are none": {"packages": [1]},
    "packages with markup": {"packages": {"encoders.cnn": "[bold red]x[/]\x1b[31m"}},
    "versions that are none": {"versions": None},
}

CASES = [
    *cases(
        "cnn",
        {f"manifest {name}": text(MANIFEST, content) for name, content in JSON.items()},
        sealed=False,
    ),
    *cases(
        "cnn",
        {f"manifest with {name}": about(**values) for name, values in ABOUT.items()},
        sealed=False,
    ),
    *cases(
        "cnn",
        {f"manifest lists {what}": _listed(name) for what, name in NAMES.items()},
        sealed=False,
    ),
    *cases(
        "cnn",
        {f"digests {digest!r:.20}": _digests(digest) for digest in (None, 1, "", [[]], "0")},
        sealed=False,
    ),
    *cases(
        "cnn",
        {f"manifest in {name}": _as(name) for name in ("utf-16", "utf-32", "utf-8-sig")},
        sealed=False,
    ),
    *cases("cnn", _no_file(MANIFEST), sealed=False),
    *cases("cnn", _no_file("inference.json"), sealed=False),
    *cases("cnn", _no_file("model.safetensors"), sealed=False),
    *cases("bow", _no_file("learned.safetensors"), sealed=False),
    *cases(
        "cnn",
        {f"{name} is a link to a folder": _linked_folder(name) for name in ("tokenizer", "heads")},
    ),
    *cases(
        "cnn",
        {f"without {name}": _without(f"{HEAD}/{name}.json") for name in ("head", "labels")},
        sealed=False,
    ),
    *cases("tokens", {"as format 1": about(format=1)}, sealed=False),
    *cases(
        "cnn",
        {"a file beside that nobody lists": text("setup.py", "raise SystemExit(3)")},
        sealed=False,
    ),
    *cases("cnn", {"an untouched folder": seal}, sealed=False),
]
