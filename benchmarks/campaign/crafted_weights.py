"""Crafted model folders whose files of tensors lie, hold other tensors than belong there, or are
pickles.
"""

import json
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from campaign.crafted import CANARY, DEEP, HEAD, Change, all_of, cases, text, value

WEIGHTS, LEARNED = "model.safetensors", "learned.safetensors"
KERNEL = "encoder.kernel"
F32 = 4  # bytes


class Payload:
    """What writes a file where it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return eval, (f"open({str(self.path)!r}, 'w').close()",)


def _arrays(name: str, edit: Any) -> Change:
    """Change the arrays of a file: `edit` takes them and gives them back."""

    def change(folder: Path) -> None:
        from safetensors.numpy import load_file, save_file

        save_file(edit(load_file(folder / name)), folder / name)

    return change


def _tensor(name: str, to: Any, file: str = WEIGHTS) -> Change:
    """One array in another form."""
    return _arrays(file, lambda found: {**found, name: np.ascontiguousarray(to(found[name]))})


def _raw(header: Any, body: bytes = b"", *, size: int | None = None, file: str = WEIGHTS) -> Change:
    """A file made by hand: the size that it claims for its header, the header, the bytes."""
    content = header if isinstance(header, bytes) else json.dumps(header).encode()
    return text(
        file, (len(content) if size is None else size).to_bytes(8, "little") + content + body
    )


def _header(edit: Any, file: str = WEIGHTS) -> Change:
    """The same bytes under another header."""

    def change(folder: Path) -> None:
        content = (folder / file).read_bytes()
        size = int.from_bytes(content[:8], "little")
        made = json.dumps(edit(json.loads(content[8 : 8 + size]))).encode()
        (folder / file).write_bytes(len(made).to_bytes(8, "little") + made + content[8 + size :])

    return change


def _entry(**values: Any) -> Change:
    """Another entry for one tensor in the header."""
    return _header(lambda found: {**found, KERNEL: {**found[KERNEL], **values}})


def _pickled(name: str, form: str) -> Change:
    """A pickle with a payload, as torch or numpy would write one, by the name of a file that is
    read.
    """

    def change(folder: Path) -> None:
        content = pickle.dumps(Payload(folder.parent / CANARY))
        (folder / name).parent.mkdir(exist_ok=True)
        if form == "pickle":
            (folder / name).write_bytes(content)
            return
        with zipfile.ZipFile(folder / name, "w") as made:
            made.writestr("archive/data.pkl" if form == "torch" else "idf.npy", content)

    return change


def _renamed(found: dict[str, Any]) -> dict[str, Any]:
    return {name.upper(): array for name, array in found.items()}


def _all(to: float) -> Change:
    """Every number of the weights is this one: finite, and their products are not."""
    return _arrays(
        WEIGHTS, lambda found: {name: np.full_like(array, to) for name, array in found.items()}
    )


def _sparse(file: str, numbers: int, *, more: bool = True) -> Change:
    """One tensor more, of so many numbers that take no room on the disk; or it alone."""

    def change(folder: Path) -> None:
        content = (folder / file).read_bytes() if more else (2).to_bytes(8, "little") + b"{}"
        size = int.from_bytes(content[:8], "little")
        header, body = json.loads(content[8 : 8 + size]), content[8 + size :]
        ends = [len(body), len(body) + F32 * numbers]
        made = json.dumps(
            {**header, "x": {"dtype": "F32", "shape": [numbers], "data_offsets": ends}}
        ).encode()
        with (folder / file).open("wb") as written:
            written.write(len(made).to_bytes(8, "little") + made + body)
            written.truncate(8 + len(made) + ends[1])

    return change


ONE = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
LIES: dict[str, Change] = {
    "an empty file": text(WEIGHTS, b""),
    "seven bytes": text(WEIGHTS, b"\0" * 7),
    "a header of 2**63 bytes": _raw(b"{}", size=2**63),
    "a header of 2**64 - 1 bytes": _raw(b"{}", size=2**64 - 1),
    "a header beyond the file": _raw(b"{}", size=10**6),
    "a header beyond the limit": _raw(b" " * (2**22 + 8)),
    "a header of no bytes": _raw(b""),
    "a header that is no JSON": _raw(b"{'a': 1}"),
    "a header that is nested": _raw(b"[" * DEEP),
    "a header that is nested inside": _raw(b'{"a":' * DEEP),
    "a header that is a list": _raw([ONE]),
    "a header of invalid UTF-8": _raw(b'{"\xff": 1}'),
    "4 MiB of names": _raw(
        {f"{n}": {**ONE, "shape": [0], "data_offsets": [0, 0]} for n in range(60_000)}
    ),
    "overlapping offsets": _raw({"a": ONE, "b": ONE}, bytes(4)),
    "offsets beyond the file": _raw(
        {"a": {**ONE, "data_offsets": [0, 10**12], "shape": [10**12 // F32]}}, bytes(4)
    ),
    "negative offsets": _entry(data_offsets=[-4, 0]),
    "offsets backwards": _entry(data_offsets=[8, 4]),
    "offsets of floats": _entry(data_offsets=[0.0, 4.0]),
    "a shape of 10**12": _entry(shape=[10**12]),
    "a shape of 10**30": _entry(shape=[10**30]),
    "a shape whose product wraps": _entry(shape=[2**32, 2**32]),
    "a shape of -1": _entry(shape=[-1, 48]),
    "a shape of zeros and more": _entry(shape=[0, 10**18], data_offsets=[0, 0]),
    "a shape of 10,000 ones": _entry(shape=[1] * 10_000 + [8, 48]),
    "an unknown type": _entry(dtype="F4096"),
    "a type of numbers": _entry(dtype=32),
    "metadata that are none": _header(lambda found: {**found, "__metadata__": {"a": 1}}),
    "metadata of 1 MB": _header(lambda found: {**found, "__metadata__": {"a": "x" * 10**6}}),
    "bytes behind": lambda folder: (folder / WEIGHTS).open("ab").write(b"\0" * 1000) and None,
}
FORMS: dict[str, Change] = {
    "missing": _arrays(
        WEIGHTS, lambda found: {name: one for name, one in found.items() if name != KERNEL}
    ),
    "extra": _arrays(WEIGHTS, lambda found: {**found, "extra": np.zeros(3, np.float32)}),
    "renamed": _arrays(WEIGHTS, _renamed),
    "none": _arrays(WEIGHTS, lambda found: {}),
    "a name of 1 MB": _arrays(
        WEIGHTS, lambda found: {**found, "x" * 10**6: np.zeros(1, np.float32)}
    ),
    "a name of escapes": _arrays(
        WEIGHTS, lambda found: {**found, "\x1b[31m\n[red]": np.zeros(1, np.float32)}
    ),
    "10,000 more": _arrays(
        WEIGHTS, lambda found: found | {f"{n}": np.zeros(1, np.float32) for n in range(10_000)}
    ),
    "flat": _tensor(KERNEL, np.ravel),
    "turned": _tensor(KERNEL, np.transpose),
    "one row more": _tensor(KERNEL, lambda array: np.vstack([array, array[:1]])),
    "empty": _tensor(KERNEL, lambda array: array[:0]),
    "of no dimension": _tensor("heads.main.linear.bias", lambda array: array[0]),
    **{
        f"in {to}": _tensor(KERNEL, lambda array, to=to: array.astype(to))
        for to in ("f8", "f2", "i4", "i8", "?")
    },
    "NaN": _tensor(KERNEL, lambda array: array * np.float32("nan")),
    "infinity": _tensor("heads.main.linear.bias", lambda array: array + np.float32("inf")),
    "minus infinity": _tensor("encoder.lookup.tables.0", lambda array: array - np.float32("inf")),
    "3e38 all over": _all(3e38),
    "-3e38 all over": _all(-3e38),
    "1e30 all over": _all(1e30),
    "padding that is not zero": _tensor("encoder.lookup.tables.0", lambda array: array * 0 + 5),
}
NGRAMS: dict[str, Change] = {
    **{
        f"base {to}": _tensor("base", lambda _, to=to: np.array(to), LEARNED)
        for to in (0, -1, 1, 2**62)
    },
    **{
        f"shortest {to}": _tensor("shortest", lambda _, to=to: np.array(to), LEARNED)
        for to in (0, -5, 2, 3, 2**62)
    },
    "base NaN": _tensor("base", lambda _: np.array(np.nan), LEARNED),
    "base of several": _tensor("base", lambda _: np.arange(3), LEARNED),
    "keys that fall": _tensor("keys_1", lambda array: array[::-1], LEARNED),
    "keys below 0": _tensor("keys_1", lambda array: array - 100, LEARNED),
    "keys all alike": _tensor("keys_1", lambda array: array * 0 + 2, LEARNED),
    "keys beyond": _tensor("keys_2", lambda array: array + 2**62, LEARNED),
    "keys of floats": _tensor("keys_1", lambda array: array.astype("f4"), LEARNED),
    "keys of bytes": _tensor("keys_1", lambda array: array.astype("i1"), LEARNED),
    "keys in rows": _tensor("keys_1", lambda array: array[None], LEARNED),
    "idf infinite": _tensor("idf", lambda array: array + np.float32("inf"), LEARNED),
    "idf 3e38": _tensor("idf", lambda array: array * 0 + np.float32(3e38), LEARNED),
    "idf -3e38": _tensor("idf", lambda array: array * 0 - np.float32(3e38), LEARNED),
    "idf 1e-45": _tensor("idf", lambda array: array * 0 + np.float32(1e-45), LEARNED),
    "idf of doubles": _tensor("idf", lambda array: array.astype("f8"), LEARNED),
    "no idf": _arrays(
        LEARNED, lambda found: {name: one for name, one in found.items() if name != "idf"}
    ),
    "keys_3 and no keys_2": _arrays(
        LEARNED, lambda found: {name.replace("_2", "_3"): found[name] for name in found}
    ),
    "letters beside": _arrays(
        LEARNED, lambda found: found | {f"letters_{name}": found[name] for name in found}
    ),
    "a strange array": _arrays(LEARNED, lambda found: {**found, "x" * 1000: np.zeros(10**5)}),
}
SPARSE: dict[str, Change] = {
    "learned: 400 MB of zeros more": _sparse(LEARNED, 10**8),
    "learned: 400 MB of zeros": _sparse(LEARNED, 10**8, more=False),
    "weights: 400 MB of zeros more": _sparse(WEIGHTS, 10**8),
    "weights: 400 MB of zeros": _sparse(WEIGHTS, 10**8, more=False),
}
# their digests would take a minute, and are asked for at the end
VAST = {f"{file}: 100 GB of zeros more": _sparse(file, 25 * 10**9) for file in (WEIGHTS, LEARNED)}
PICKLES: dict[str, Change] = {
    f"{name} is a {form}": _pickled(name, form)
    for name in (WEIGHTS, "inference.json", "tokenizer/tokenizer.json", f"{HEAD}/labels.json")
    for form in ("pickle", "torch", "numpy")
}
PICKLES |= {
    f"{name} beside": _pickled(name, "torch")
    for name in ("pytorch_model.bin", "encoder/x.bin", "x.pkl")
}
SPECIALS: dict[str, Change] = {
    f"specials {to!r}": _tensor("specials", lambda _, to=to: np.array(to), LEARNED)
    for to in (
        [0, 0],
        [5, 5],
        [11, 12],
        [23, 0],
        [24, 0],
        [10**9, 1],
        [-1, 1],
        [1.0, 1.0],
        [[1, 1]],
        [2**62, 2**62],
    )
}
CONFIG = "encoder/config.json"
BERT: dict[str, Change] = {
    "weights 3e38": _all(3e38),
    "weights 1e20": _all(1e20),
    "a config of another width": value(CONFIG, "hidden_size", to=32),
    "a config in the arrays": _arrays(
        LEARNED, lambda found: {**found, "config.json": np.arange(9)}
    ),
    "several lies": all_of(
        value(CONFIG, "hidden_size", to=10**6), value(CONFIG, "num_hidden_layers", to=4000)
    ),
}

CASES = [
    *cases("bow", SPARSE),
    *cases("bow", VAST, sealed=False),
    *cases("cnn", {f"weights: {name}": one for name, one in (LIES | FORMS | PICKLES).items()}),
    *cases("bow", {f"learned: {name}": one for name, one in NGRAMS.items()}),
    *cases(
        "bow",
        {f"learned is a {form}": _pickled(LEARNED, form) for form in ("pickle", "torch", "numpy")},
    ),
    *cases("bert", SPECIALS | BERT),
]
