"""The generation benchmark runs and leaves its figures; how fast anything was is not tested."""

import json
import subprocess
import sys

import pytest

from evenhand.benchmarks import generation

pytest.importorskip("transformers")


def quick(tiny_model, output, backend):
    return [
        "--quick",
        "--backends",
        backend,
        "--dtypes",
        "float32",
        "--model",
        str(tiny_model),
        "--output",
        str(output),
    ]


def counts(table):
    """What each contender counted in its one run."""
    return {row["name"]: run["counts"] for row in table["rows"] for run in row["runs"]}


def test_transformers_contenders_write_as_many_tokens(tiny_model, tmp_path):
    generation.main(quick(tiny_model, tmp_path / "figures.json", "transformers"))
    figures = json.loads((tmp_path / "figures.json").read_text())
    (table,) = figures["tables"]
    rows = counts(table)
    assert list(rows) == ["evenhand", "num_return_sequences", "one call each"]
    # two candidates of four tokens; one of them is written apart, and counts twice
    assert rows["evenhand"]["written"] == rows["num_return_sequences"]["written"] == 8
    assert rows["one call each"]["written"] == 4
    assert table["rows"][2]["extrapolated"]["factor"] == 2
    # the prompt is run once for both, or once for each
    assert rows["num_return_sequences"]["prefilled"] == 2 * rows["evenhand"]["prefilled"]
    assert table["baselines"] == ["num_return_sequences", "one call each"]
    assert str(tmp_path) not in json.dumps(figures)


@pytest.mark.slow
@pytest.mark.usefixtures("quick_engines")
def test_vllm_contenders_write_as_many_tokens(tiny_model, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "evenhand.benchmarks.generation", *quick(tiny_model, tmp_path / "f.json", "vllm")],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    (table,) = json.loads((tmp_path / "f.json").read_text())["tables"]
    # two prompts, two candidates, four tokens
    written = {name: made["written"] for name, made in counts(table).items()}
    assert written == {"evenhand": 16, "LLM.generate": 16, "LLM.generate, defaults": 16}
