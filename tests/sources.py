"""All modules of the project, each read and parsed once for all tests that look through them."""

import ast
import os
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]


@cache
def modules() -> tuple[Path, ...]:
    """The modules, tests among them, sorted; not those of environments, run folders and builds, which are large."""
    paths: list[Path] = []
    for folder, inner, files in os.walk(ROOT):
        inner[:] = [name for name in inner if not name.startswith(".") and name != "__pycache__"]
        if Path(folder) == ROOT:
            inner[:] = [name for name in inner if name not in {"runs", "build"}]
        paths += [Path(folder, name) for name in files if name.endswith(".py")]
    return tuple(sorted(paths))


def package() -> list[Path]:
    """The modules without tests and docs."""
    return [path for path in modules() if path.relative_to(ROOT).parts[0] not in {"tests", "docs"}]


@cache
def tree_of(path: Path) -> ast.Module:
    """What a module is when it is parsed."""
    return ast.parse(path.read_text(encoding="utf-8"))
