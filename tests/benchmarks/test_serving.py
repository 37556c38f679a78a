"""The serving benchmark on a tiny model: real servers, every way asked."""

import json
import sys

import pytest

pytest.importorskip("vllm")
pytest.importorskip("openai")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from evenhand.benchmarks.serving import asked_of, main, serving
from evenhand.errors import DataError

pytestmark = pytest.mark.slow


def test_every_way_is_asked_and_memory_looked_at(tiny_model, tmp_path):
    output = tmp_path / "serving.json"
    main(["--quick", "--model", str(tiny_model), "--dtype", "float32", "--output", str(output)])
    waits, clients = json.loads(output.read_text(encoding="utf-8"))["breakdowns"]
    assert [row[""] for row in waits["rows"]] == [
        f"{n} documents, {way}, k = {k}" for n in (4, 5) for k in (1, 2) for way in ("evenhand", "server")
    ]
    assert all(row["p95 s"] >= row["p50 s"] > 0 for row in waits["rows"])
    assert all(row["evenhand/s"] > 0 and row["MiB"] > 20 for row in clients["rows"])


def test_no_two_requests_begin_alike():
    first, later = (asked_of(3, serial, 4).documents[0].text for serial in (0, 1))
    assert first.split()[2:] == later.split()[2:], "the same set of the sample"
    assert first.split()[1] != later.split()[1]


def test_documents_of_the_next_sets_follow_until_there_are_enough():
    # the last set has four, after which comes the first one
    texts = [each.text.partition(". ")[2] for each in asked_of(31, 0, 14).documents]
    assert len(set(texts)) == 14
    assert texts[4:8] == [each.text.partition(". ")[2] for each in asked_of(0, 1, 4).documents]


def test_a_server_that_ends_says_why(tmp_path):
    command = [sys.executable, "-c", "raise SystemExit('no such model')"]
    nobody = "http://127.0.0.1:1/health"
    with pytest.raises(DataError, match="no such model"), serving(command, {}, tmp_path / "log", nobody):
        pass
