"""What no file of the package may do: run a model's own code, or unpickle."""

import ast
from functools import cache
from pathlib import Path

import pytest
from sources import ROOT, package, tree_of

FILES = package()


@cache
def calls_in(path: Path) -> list[ast.Call]:
    """All calls of a file."""
    return [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call)]


def calls(path: Path, name: str) -> list[ast.Call]:
    """The calls of a function or method of that name."""
    return [c for c in calls_in(path) if name == getattr(c.func, "attr", getattr(c.func, "id", None))]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_models_never_bring_code(path: Path):
    for call in calls(path, "from_pretrained"):
        assert isinstance(call.func, ast.Attribute)
        owner = ast.unparse(call.func.value)
        if "Peft" in owner or "Lora" in owner:
            # adapters hold weights alone
            continue
        said = {k.arg: ast.unparse(k.value) for k in call.keywords}
        assert said.get("trust_remote_code") == "False", f"{path}:{call.lineno}: {owner}.from_pretrained"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_is_unpickled(path: Path):
    assert not [
        c for name in ("load", "loads", "Unpickler") for c in calls(path, name) if "pickle." in ast.unparse(c.func)
    ]
    for call in calls(path, "load"):
        if ast.unparse(call.func) == "torch.load":
            said = {k.arg: ast.unparse(k.value) for k in call.keywords}
            assert said.get("weights_only") == "True", f"{path}:{call.lineno}: torch.load"


def test_there_are_files_to_look_at():
    assert len(FILES) > 200
    assert sum(len(calls(path, "from_pretrained")) for path in FILES) > 10
