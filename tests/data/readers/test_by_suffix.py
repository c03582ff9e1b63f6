"""Which reader reads a file is said by its suffix, also where the file is compressed."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from tagwright import registry
from tagwright.data.readers import by_suffix
from tagwright.data.readers.by_suffix import read_batches, read_file, reader_of, suffix_of
from tagwright.data.readers.reader import Reader
from tagwright.errors import DataError


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("shop.csv", ".csv"),
        ("shop.CSV.GZ", ".csv"),
        ("shop.v2.jsonl", ".jsonl"),
        ("shop.gz", ""),
        ("shop", ""),
    ],
)
def test_the_suffix_is_that_of_the_format(name: str, expected: str) -> None:
    assert suffix_of(Path(name)) == expected


@pytest.mark.parametrize("name", ["a.cvs", "a.cvs.gz"])
def test_an_unknown_suffix_is_an_error_that_names_the_nearest(name: str) -> None:
    with pytest.raises(DataError, match=rf"^{name}: unknown suffix '\.cvs'; did you mean '\.csv'"):
        reader_of(Path(name))


def test_a_suffix_of_two_readers_is_refused_with_their_packages(monkeypatch) -> None:
    one, other = (
        SimpleNamespace(name=name, package=f"package-{name}", factory=registry_reader(name))
        for name in ("one", "other")
    )
    monkeypatch.setattr(registry, "usable", lambda kind: [one, other])
    said = (
        r"^a\.odd\.gz: more than one reader reads \.odd: one of the package package-one and other"
    )
    with pytest.raises(DataError, match=said):
        reader_of(Path("a.odd.gz"))
    assert reader_of(Path("a.one")) is one.factory


def registry_reader(name: str) -> type[Reader]:
    """A reader of a suffix of its own, and of one that another reads too."""
    return type(name, (Reader,), {"suffixes": (".odd", f".{name}")})


def test_a_file_that_the_system_does_not_give_is_a_fault_of_the_data(
    tmp_path: Path, monkeypatch
) -> None:
    class Locked(Reader):
        suffixes = (".csv",)

        @staticmethod
        def read(path):
            raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(by_suffix, "reader_of", lambda path: Locked)
    path = tmp_path / "a.csv"
    path.write_text("text,labels\n", encoding="utf-8")
    for read in (read_file, lambda path: list(read_batches(path))):
        with pytest.raises(DataError, match=r"a\.csv: cannot be read \(Permission denied\)"):
            read(path)
