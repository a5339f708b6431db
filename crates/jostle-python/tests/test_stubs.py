"""The stubs name the arguments that the module takes."""

import ast
import inspect
import pathlib

import pytest

import jostle

STUBS = ast.parse(pathlib.Path(jostle.__file__).with_suffix(".pyi").read_text())


def functions():
    """Each function and method of the stubs, and what the module has under its name."""
    for node in STUBS.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node, getattr(jostle, node.name)
        for method in getattr(node, "body", []):
            if isinstance(method, ast.FunctionDef) and not method.decorator_list:
                found = getattr(jostle, node.name)
                found = found if method.name == "__new__" else getattr(found, method.name)
                yield f"{node.name}.{method.name}", method, found


@pytest.mark.parametrize("name, stub, found", list(functions()), ids=lambda part: part if isinstance(part, str) else "")
def test_arguments(name, stub, found):
    written = [argument.arg for argument in stub.args.args + stub.args.kwonlyargs]
    taken = inspect.signature(found).parameters.values()
    named = [argument.name for argument in taken if argument.kind != argument.POSITIONAL_ONLY]
    assert [argument for argument in written if argument not in ("self", "cls")] == named, name
