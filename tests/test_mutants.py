"""The table of mutants stays true: its fragments are in the source and its tests exist."""

import ast

import pytest

from .mutants import ROOT, main, read_mutants

MUTANTS = read_mutants()


def test_names_of_mutants_differ():
    names = [mutant.name for mutant in MUTANTS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_fragment_of_a_mutant_occurs_once_and_changes(mutant):
    assert mutant.occurrences(ROOT) == 1, f"{mutant.file} has changed; update tests/mutants.toml"
    assert mutant.new != mutant.old


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_is_python(mutant):
    """A fault that cannot be imported would be caught by any test."""
    source = (ROOT / "src/tagwright" / mutant.file).read_text(encoding="utf-8")
    ast.parse(source.replace(mutant.old, mutant.new))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_tests_of_a_mutant_exist(mutant):
    assert mutant.tests
    for test in mutant.tests:
        path, _, name = test.partition("::")
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert name.partition("[")[0] in functions


def test_an_unknown_mutant_is_an_error():
    with pytest.raises(SystemExit, match="no such mutant: nothing"):
        main(["nothing"])
