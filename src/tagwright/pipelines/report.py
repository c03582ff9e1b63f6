"""The report of a trained model on labelled data."""

from pathlib import Path

from tagwright.analysis.score_facts import score_facts
from tagwright.errors import SettingsError
from tagwright.inference import model_folder
from tagwright.inference.data_for_model import labelled_rows, read_for_model
from tagwright.inference.score import score
from tagwright.reports import fit_report
from tagwright.storage.files import write_text


def report_folder(
    folder: Path,
    source: str,
    out: Path,
    *,
    split: str | None,
    overwrite: bool,
    head: str | None = None,
    device: str = "auto",
    plugins: bool = False,
    **columns: str | None,
) -> None:
    """Load a model, score one of its heads on the source, the first where none is named, and write
    the page.
    """
    if out.exists() and not overwrite:
        raise SettingsError(f"{out} exists; choose another name or use --overwrite")
    whole = model_folder.load(folder, device=device, plugins=plugins)
    model = whole.alone(whole.of(head).first)
    data = read_for_model(model, source, columns).alone(model.first)
    scored = score(model, data, split=split)
    table = labelled_rows(data, split, "tags" if model.tags_tokens else "labels")[1]
    out.parent.mkdir(parents=True, exist_ok=True)
    write_text(out, fit_report(score_facts(model, scored, table, source)))
