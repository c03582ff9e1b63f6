"""`score`: a model and labelled data to metrics."""

from pathlib import Path

from tagwright.errors import SettingsError, unknown
from tagwright.inference import model_folder
from tagwright.inference.data_for_model import read_for_model
from tagwright.inference.score import Scored, score


def score_folder(
    folder: Path,
    source: str,
    *,
    split: str | None,
    unseen: str,
    convention: str,
    head: str | None = None,
    device: str = "auto",
    plugins: bool = False,
    **columns: str | None,
) -> Scored:
    """Load a model, read the data, score; every head whose labels are there, or the one that is
    named.
    """
    for value, choices in ((unseen, ("drop", "miss")), (convention, ("sklearn", "paper"))):
        if value not in choices:
            raise SettingsError(unknown("choice", value, choices))
    model = model_folder.load(folder, device=device, plugins=plugins).of(head)
    return score(model, read_for_model(model, source, columns), split=split, unseen_labels=unseen)
