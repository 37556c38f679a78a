"""The house itself: which folder may import which, that everything is packed, and how quiet the root is."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# rooms from the bottom up, as docs/architecture.md tells them: an import points to a room above its own line in the table
LAYERS = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8"), re.MULTILINE)


def modules():
    """Path from the root -> the tree of each module of the package."""
    for path in sorted(ROOT.rglob("*.py")):
        inside = path.relative_to(ROOT)
        if inside.parts[0] not in {"tests", "docs", "runs"} and not inside.parts[0].startswith((".", "build")):
            yield inside, ast.parse(path.read_text(encoding="utf-8"))


def dotted(inside):
    parts = inside.with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


@pytest.fixture(scope="module")
def arrows():
    """Module -> the modules of the package that it imports, anywhere in its text."""
    trees = dict(modules())
    known = {dotted(inside) for inside in trees}
    found = {}
    for inside, tree in trees.items():
        me, targets = dotted(inside), set()
        home = me if inside.name == "__init__.py" else me[:-1]
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.level:
                base = home[: len(home) - node.level + 1] + tuple((node.module or "").split(".") if node.module else ())
                for alias in node.names:
                    inner = (*base, alias.name)
                    targets.add(inner if inner in known else base)
        found[me] = targets
    missing = {(".".join(me), ".".join(each)) for me, targets in found.items() for each in targets if each not in known}
    assert not missing
    return found


def test_every_room_has_its_layer():
    rooms = {path.name for path in ROOT.iterdir() if (path / "__init__.py").is_file()}
    rooms |= {path.stem for path in ROOT.glob("*.py")}
    assert sorted(LAYERS) == sorted(rooms)


def test_imports_point_down(arrows):
    height = {room: place for place, room in enumerate(LAYERS)}
    room = {module: (module[0] if module else "__init__") for module in arrows}
    upward = {
        f"{'.'.join(module)} imports {'.'.join(target)}"
        for module, targets in arrows.items()
        for target in targets
        if height[room[target]] > height[room[module]]
    }
    assert not upward


def test_reports_and_studies_of_judges_do_not_read_each_other(arrows):
    report, studies = ("evaluation", "report"), ("evaluation", "studies")
    of_judges = (*studies, "judges")
    crossing = {
        f"{'.'.join(module)} imports {'.'.join(target)}"
        for module, targets in arrows.items()
        for target in targets
        if (module[:2] == report and target[:2] == studies)
        or (module[:3] == of_judges and target[:2] in (report, ("evaluation", "audit")))
    }
    assert not crossing


def test_studies_do_not_read_each_other(arrows):
    studies = ("evaluation", "studies")
    crossing = {
        f"{'.'.join(module)} imports {'.'.join(target)}"
        for module, targets in arrows.items()
        for target in targets
        if module[:2] == target[:2] == studies and len(module) > 2 and module[2] not in target[2:3]
    }
    assert not crossing


def test_no_module_imports_itself_by_way_of_others(arrows):
    done, open_ = set(), []

    def visit(module):
        if module in open_:
            pytest.fail(" -> ".join(".".join(each) for each in [*open_[open_.index(module) :], module]))
        if module not in done:
            open_.append(module)
            # a package's own __init__ is run first whoever asks for one of its modules
            for target in sorted(arrows[module]):
                if target != module:
                    visit(target)
            done.add(open_.pop())

    for module in sorted(arrows):
        visit(module)


def test_the_root_stays_quiet():
    assert len(list(ROOT.glob("*.py"))) <= 12


def test_every_package_and_every_file_that_is_read_is_packed():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    packages = {".".join(("evenhand", *dotted(inside))) for inside, _ in modules() if inside.name == "__init__.py"}
    assert sorted(settings["packages"]) == sorted(packages)
    packed = set()
    for package, patterns in settings["package-data"].items():
        folder = ROOT.joinpath(*package.split(".")[1:])
        for pattern in patterns:
            found = {path.relative_to(ROOT) for path in folder.glob(pattern) if path.is_file()}
            assert found, f"{package}: {pattern} names no file"
            packed |= found
    inside = {Path(*name.split(".")[1:]) for name in packages} - {Path()}
    data = {
        path.relative_to(ROOT)
        for folder in {each.parts[0] for each in inside} | {"recipes", "accelerate_configs"}
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix not in {".py", ".pyc", ".md"}
    }
    assert not data - packed
