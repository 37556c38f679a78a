"""What a benchmark shows and writes."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from evenhand.benchmarks.measure import Extrapolated, Row, Run, Table
from evenhand.benchmarks.report import WIDTH, Breakdown, Report, bench_options, count, git_commit, machine


def row(name, seconds, **changes):
    return Row(name, tuple(Run(s, 2**20 * 50, {"tokens": 12_345, "hit rate": 0.9141}) for s in seconds), **changes)


@pytest.fixture
def report(tmp_path):
    rows = (
        row("stock TRL", [2.0], extrapolated=Extrapolated(2, 36, "pairs")),
        row("evenhand", [1.1]),
        row("limit", [1.0]),
        Row("eager", (), failure="out of memory"),
    )
    table = Table("n = 9", rows, 1, ("stock TRL", "limit"), "resident memory")
    arguments = {"model": "/home/somebody/models/tiny", "quick": True, "output": tmp_path / "deep" / "x.json"}
    made = Report("training", arguments, Console(width=WIDTH, file=io.StringIO(), highlight=False))
    made.add(table)
    made.add_breakdown(Breakdown("steps", [{"step": "generate", "seconds": 1.5}, {"step": "report", "share": 0.25}]))
    return made


def shown(report):
    return report.console.file.getvalue().replace("\u00a0", " ")


def line_of(text, name):
    return next(line.split() for line in text.splitlines() if line.strip().startswith(name))


def test_table_fits_a_hundred_columns(report):
    assert max(len(line.rstrip()) for line in shown(report).splitlines()) <= 100


def test_ratios_are_read_as_faster_and_slower(report):
    text = shown(report)
    # 36 s against 1.1 s: 32.7 times; 1.1 s against 1 s
    assert "32.7x faster" in text
    assert "1.10x slower" in text


def test_extrapolated_figures_are_marked_wherever_they_stand(report):
    text = shown(report)
    stock = line_of(text, "stock TRL")
    assert "~36.0" in stock
    assert "12,345*" in stock
    assert "extrapolated from 2 of 36 pairs; measured 2.00 s, times 18" in text
    assert "*" not in "".join(line_of(text, "evenhand"))


def test_failure_is_named_under_the_table(report):
    text = shown(report)
    assert line_of(text, "eager") == ["eager", "-"]
    assert "eager: out of memory in run 1" in text


def test_breakdown_leaves_absent_values_empty(report):
    text = shown(report)
    assert line_of(text, "generate") == ["generate", "1.50"]
    assert line_of(text, "report") == ["report", "0.250"]


def test_tables_are_written_as_they_come(report):
    found = json.loads(report.arguments["output"].read_text(encoding="utf-8"))
    assert len(found["tables"]) == len(found["breakdowns"]) == 1
    assert found["notes"] == []


def test_written_report_names_what_it_was_made_with(report):
    report.finish(["a note"])
    found = json.loads(report.arguments["output"].read_text(encoding="utf-8"))
    assert found["format"] == "evenhand-benchmark/1"
    assert found["machine"].keys() == {"processor", "cores", "memory_gib", "device", "threads", "system"}
    assert {"python", "evenhand"} <= found["versions"].keys()
    assert found["notes"] == ["a note"]
    assert "a note" in shown(report)
    assert found["tables"][0]["rows"][0]["extrapolated"]["factor"] == 18
    assert found["breakdowns"] == [
        {"title": "steps", "rows": [{"step": "generate", "seconds": 1.5}, {"step": "report", "share": 0.25}]}
    ]


def test_written_report_holds_no_folder_and_no_host(report):
    import platform

    report.finish()
    text = report.arguments["output"].read_text(encoding="utf-8")
    assert json.loads(text)["arguments"] == {"model": "tiny", "quick": True}
    assert "somebody" not in text
    assert str(Path.cwd()) not in text
    assert f'"{platform.node()}"' not in text


def test_commit_is_that_of_this_checkout():
    commit = git_commit()
    root = Path(__file__).parents[2]
    if (root / ".git").exists():
        assert commit is not None
        assert len(commit.rstrip("+")) == 40
    else:
        assert commit is None


def test_machine_has_a_processor_and_memory():
    pytest.importorskip("psutil")
    found = machine()
    assert found["processor"]
    assert found["cores"] >= 1
    assert found["memory_gib"] >= 1


def test_every_benchmark_has_the_same_options(capsys):
    about = "About judging.\n\nMore."
    options = bench_options("judging", about, [], {"repeats": 1}, sets=count(7, "sets"))
    assert (options.quick, options.repeats, options.sets) == (False, 3, 7)
    assert options.output == Path("runs/bench/judging.json")
    assert bench_options("judging", about, ["--quick"], {"repeats": 1}).repeats == 1
    with pytest.raises(SystemExit):
        bench_options("judging", about, ["--repeats", "0"], {})
    assert "write 1 or more" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        bench_options("judging", about, ["--help"], {})
    assert about in capsys.readouterr().out
