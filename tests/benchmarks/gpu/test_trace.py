"""Which kernels a step spends its time in."""

import gzip
import json

import pytest

torch = pytest.importorskip("torch")

from evenhand.benchmarks.gpu.trace import traced  # noqa: E402 - needs torch


def test_the_kernels_of_one_run_are_named_by_what_they_take(tmp_path):
    large, small = torch.ones(500, 500), torch.ones(2, 2)
    runs = []

    def step():
        runs.append(large @ large)
        torch.add(small, small)

    found = traced(step, tmp_path / "step.trace.json.gz")
    assert len(runs) == 2, "one warms up"
    spent = {each["name"]: each["ms"] for each in found["kernels"]}
    assert spent["aten::mm"] > spent["aten::add"] > 0
    assert found["kernels"][0]["name"] == "aten::mm"
    assert sum(spent.values()) == pytest.approx(found["ms"])
    assert sum(each["share"] for each in found["kernels"]) == pytest.approx(1)
    with gzip.open(tmp_path / "step.trace.json.gz", "rt") as file:
        events = [each["name"] for each in json.load(file)["traceEvents"]]
    assert events.count("aten::mm") == 1
