"""The public face: what it is, what importing it costs, and that subpackages of the same names do not hide it."""

import subprocess
import sys
from pathlib import Path

import pytest

import evenhand

FACE = {
    "audit",
    "compare",
    "generate",
    "judge",
    "load_documents",
    "load_recipe",
    "open_run",
    "pairs",
    "rerank",
    "run",
    "__version__",
}
ROOT = Path(evenhand.__file__).parents[1]


def in_a_fresh_python(code: str) -> str:
    """What the code prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
    )
    assert not done.returncode, done.stderr
    return done.stdout.strip()


def test_the_face_is_pinned():
    assert set(evenhand.__all__) == FACE
    assert {name for name in dir(evenhand) if not name.startswith("__")} == FACE - {"__version__"}
    assert all(callable(getattr(evenhand, name)) and getattr(evenhand, name).__doc__ for name in FACE - {"__version__"})


def test_using_it_loads_no_heavy_library():
    code = "import sys, evenhand; evenhand.load_documents('sample', 'stance'); evenhand.generate; print(sorted({*sys.modules}"
    assert in_a_fresh_python(code + "& {'torch', 'pandas', 'transformers', 'datasets', 'vllm'}))") == "[]"


@pytest.mark.parametrize(
    "lines",
    [
        "from evenhand import generate, rerank; from evenhand.generate.stage import make_batch",
        "from evenhand.generate.stage import make_batch; from evenhand import generate, rerank",
        "import evenhand.generate.stage; from evenhand.rerank.stage import score_group; from evenhand import generate, rerank",
        "import evenhand.generate.method as method; from evenhand import generate, rerank",
        "import evenhand; evenhand.generate; import evenhand.generate.stage as stage; from evenhand import generate, rerank",
        "import importlib, evenhand; importlib.import_module('evenhand.generate'); from evenhand import generate, rerank",
    ],
)
def test_functions_and_subpackages_of_the_same_name_come_in_any_order(lines):
    code = (
        f"{lines}; import evenhand, inspect\n"
        "import evenhand.generate.stage as stage, evenhand.rerank.pairs\n"
        "assert inspect.isfunction(generate) and evenhand.generate is generate and evenhand.rerank is rerank\n"
        "assert generate.__name__ == 'generate' and 'documents' in inspect.signature(generate).parameters\n"
        "assert evenhand.generate.stage is stage and evenhand.rerank.pairs.choose_pairs\n"
        "print('fine')"
    )
    assert in_a_fresh_python(code) == "fine"
