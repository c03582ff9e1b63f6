"""Pages for the demo to tag."""

from pathlib import Path

from pyarrow import csv

from tagwright.read.shop import shop


def write_pages(folder: Path) -> Path:
    """A CSV of the shop's test pages, without their labels."""
    path = folder / "pages.csv"
    csv.write_csv(shop().tables["test"].select(["id", "text"]), path)
    return path
