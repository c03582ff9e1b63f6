"""`tag`: a model and a file of texts to a file with tags."""

from pathlib import Path
from typing import Unpack

from tagwright.data.files.opening import require_file
from tagwright.inference import model_folder
from tagwright.inference.data_for_model import own_columns
from tagwright.inference.tag import Tagged, TagOptions, tag


def tag_file(
    folder: Path,
    source: Path,
    out: Path,
    *,
    head: str | None = None,
    device: str = "auto",
    plugins: bool = False,
    **options: Unpack[TagOptions],
) -> Tagged:
    """Load a model and tag a file with it: by all its heads, or by the one that is named."""
    model = model_folder.load(folder, device=device, plugins=plugins).of(head)
    require_file(source)
    given, options["text"] = options.get("text"), options.get("text") or model.inference.data.text
    with own_columns(model, source, {"text": given}):
        return tag(model, source, out, identity=model.network.origin, **options)
