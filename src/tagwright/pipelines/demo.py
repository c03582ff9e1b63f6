"""Pages for the demo to tag, and what came of it."""

from pathlib import Path

from pyarrow import csv

from tagwright.data.shop import shop


def write_pages(folder: Path) -> Path:
    """A CSV of the shop's test pages, without their labels."""
    path = folder / "pages.csv"
    csv.write_csv(shop().tables["test"].select(["id", "text"]), path)
    return path


def tagged_titles(path: Path, *, count: int = 5) -> list[tuple[str, str]]:
    """Title and tags of the first pages."""
    options = csv.ParseOptions(newlines_in_values=True)
    rows = csv.read_csv(path, parse_options=options).slice(0, count).to_pylist()
    return [(row["text"].partition("\n")[0], row["tags"]) for row in rows]
