"""Six honest clients beside two hostile ones: none gets a wrong answer. EVENHAND_SOAK_SECONDS=600 makes it ten minutes."""

import json
import os

import pytest

pytest.importorskip("psutil")
pytest.importorskip("starlette")

from evenhand.benchmarks.hostile import main

pytestmark = pytest.mark.slow


def test_honest_clients_are_answered_beside_hostile_ones(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    main(
        [
            "--seconds",
            os.environ.get("EVENHAND_SOAK_SECONDS", "16"),
            "--parts",
            "6",
            "--output",
            str(tmp_path / "found.json"),
        ]
    )
    (table,) = json.loads((tmp_path / "found.json").read_text())["breakdowns"]
    assert "; 0 wrong answers" in table["title"]
    memory = [row["MiB"] for row in table["rows"] if row.get("hostile") == "here"]
    assert memory[-1] - memory[0] < 100, memory
