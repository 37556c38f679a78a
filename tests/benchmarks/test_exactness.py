"""The table of exactness: kernels that are right are as near to the truth as each candidate alone, and one that is not shows."""

import json

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("trl")

from evenhand.benchmarks.exactness import main  # noqa: E402
from evenhand.benchmarks.packed_exactness import ALONE, KERNELS, errors, packed, plain  # noqa: E402


def test_windows_and_bounded_scores_are_exact_by_every_kernel():
    transformers = pytest.importorskip("transformers")
    if not transformers.Gemma2ForCausalLM._supports_sdpa:
        pytest.skip("this transformers has no sdpa for the family")
    found = errors("gemma2")
    assert set(found) == {ALONE, *KERNELS}
    for logps, gradient in found.values():
        assert logps < 1e-4
        assert gradient < 1e-4


def test_a_kernel_that_sees_one_key_too_many_shows():
    def wrong(*arguments, window, **options):
        return plain(*arguments, window=window and window + 1, **options)

    right, found = packed("mistral", "cut"), packed("mistral", "cut", wrong)
    assert (found.logps - right.logps).abs().max() > 1e-3


def test_a_quick_run_has_one_family_in_both_tables(tmp_path):
    output = tmp_path / "exactness.json"
    main(["--quick", "--output", str(output)])
    tables = json.loads(output.read_text(encoding="utf-8"))["breakdowns"]
    assert [[row[""] for row in table["rows"]] for table in tables] == [["llama"], ["llama"]]
    assert all(float(row[kernel]) < 1e-4 for table in tables for row in table["rows"] for kernel in KERNELS)
