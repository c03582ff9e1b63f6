"""What the source may hold few of, or none: counted in the syntax trees of its files."""

import ast
from collections.abc import Iterator
from pathlib import Path

import tagwright

SOURCE = Path(tagwright.__file__).parent
MOST_PROBES = 10  # where another library's objects end and nothing else tells what they have
MOST_IGNORED = 40  # lines that mypy is told to pass over: only fewer


def trees() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield path.relative_to(SOURCE), ast.parse(path.read_text(encoding="utf-8"))


def probes(tree: ast.Module) -> Iterator[int]:
    """Lines that ask an object whether it has an attribute."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "hasattr" or (node.func.id == "getattr" and len(node.args) == 3):
                yield node.lineno
        elif isinstance(node, ast.ExceptHandler) and "AttributeError" in _caught(node):
            yield node.lineno


def _caught(node: ast.ExceptHandler) -> str:
    return "" if node.type is None else ast.unparse(node.type)


def private_imports(path: Path, tree: ast.Module) -> Iterator[str]:
    """Names with `_` that are imported from a package that the file is not in."""
    package = ("tagwright", *path.parent.parts)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tagwright"):
            owner = (node.module or "").split(".")
            for name in node.names:
                named = [*owner, name.name]
                for place, part in enumerate(named):
                    private = part.startswith("_") and not part.startswith("__")
                    inside = package[:place] == tuple(named[:place])
                    if private and not inside:
                        yield ".".join(named)


def nested_conditions(tree: ast.Module) -> Iterator[int]:
    """Lines of conditional expressions within others."""
    for node in ast.walk(tree):
        if isinstance(node, ast.IfExp):
            inner = (one for child in ast.iter_child_nodes(node) for one in ast.walk(child))
            if any(isinstance(one, ast.IfExp) for one in inner):
                yield node.lineno


def test_the_counters_see_what_they_count():
    bad = ast.parse(
        "getattr(a, 'b', None)\nhasattr(a, 'b')\ntry:\n    a\nexcept (KeyError, AttributeError):\n"
        "    pass\nx = 1 if a else 2 if b else 3\nfrom tagwright.losses._call import loss\n"
    )
    assert [*probes(bad)] == [1, 2, 5]
    assert [*nested_conditions(bad)] == [7]
    assert [*private_imports(Path("models/build.py"), bad)] == ["tagwright.losses._call.loss"]
    assert not [*private_imports(Path("losses/zlpr.py"), bad)]


def test_few_objects_are_asked_whether_they_have_an_attribute():
    found = [f"{path}:{line}" for path, tree in trees() for line in probes(tree)]
    assert len(found) <= MOST_PROBES, found


def test_no_private_name_is_imported_from_another_package():
    found = [f"{path}: {name}" for path, tree in trees() for name in private_imports(path, tree)]
    assert found == []


def test_no_conditional_expression_holds_another():
    found = [f"{path}:{line}" for path, tree in trees() for line in nested_conditions(tree)]
    assert found == []


def test_the_type_checker_is_told_to_pass_over_no_more_lines():
    sources = (path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))
    assert sum(text.count("type: ignore") for text in sources) <= MOST_IGNORED
