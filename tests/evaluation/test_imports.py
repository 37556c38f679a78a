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
