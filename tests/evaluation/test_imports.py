import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "evaluation"


def test_evaluation_loads_no_heavy_library():
    modules = [f"evenhand.evaluation.{path.stem}" for path in FOLDER.glob("*.py")]
    heavy = ("torch", "transformers", "peft", "vllm", "matplotlib")
    code = f"import sys, {', '.join(modules)}\nprint([h for h in {heavy!r} if h in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
