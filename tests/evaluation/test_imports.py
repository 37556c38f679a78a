import ast
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "evaluation"


def test_evaluation_loads_no_heavy_library():
    paths = (path.relative_to(FOLDER).with_suffix("") for path in FOLDER.rglob("*.py"))
    modules = [".".join(("evenhand", "evaluation", *path.parts)).removesuffix(".__init__") for path in paths]
    heavy = ("torch", "transformers", "peft", "vllm", "matplotlib")
    code = f"import sys, {', '.join(modules)}\nprint([h for h in {heavy!r} if h in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def rooms_of(path: Path) -> set[str]:
    """Folders of evaluation/ that a module imports."""
    home = path.relative_to(FOLDER).parts[:-1]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and 0 < node.level <= len(home) + 1:
            inside = (*home[: len(home) - node.level + 1], *(node.module or "").split("."))
            names = inside[:1] if inside[0] else [each.name for each in node.names]
            found |= {each for each in names if (FOLDER / each).is_dir()}
    return found - set(home[:1])


def test_rooms_are_read_from_above_and_read_none_beside_them():
    below = {"pages": set(), "gate": {"pages"}}
    for room in ("pages", "gate", "report", "audit", "studies"):
        for path in (FOLDER / room).rglob("*.py"):
            assert rooms_of(path) <= below.get(room, {"pages", "gate"}), path
