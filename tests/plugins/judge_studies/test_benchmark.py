"""The benchmark of judges on invented sets: numbers, table, page."""

import io
import sys
from pathlib import Path

import pytest
from rich.console import Console

from evenhand.config.judges import RougeJudge, RuleJudge
from evenhand.errors import DataError
from evenhand.evaluation.pages import terminal
from evenhand.evaluation.pages.blocks import tables
from evenhand.evaluation.pages.cells import NumberCell
from evenhand.judges import open_judges
from evenhand.judges.benchmark import Benchmark
from evenhand.plugins.judge_studies.benchmark import benchmark, benchmark_judges
from evenhand.plugins.judge_studies.benchmark_page import page
from evenhand.plugins.judge_studies.scoring import BASELINES, judge_sets
from evenhand.storage import read_text, write_jsonl
from evenhand.text import fold


@pytest.fixture
def found(sets):
    judgements = judge_sets(open_judges({"length": BASELINES["length"]}), sets)
    # one summary is left unscored
    gone = judgements[4].model_copy(update={"score": None, "unscored": "tired"})
    return benchmark(sets, [*judgements[:4], gone], file="<sets>.jsonl", digest="0" * 16)


def shown(renderable):
    console = Console(file=io.StringIO(), width=80)
    console.print(renderable)
    return console.file.getvalue()


def test_rows_are_every_side_and_all_for_both_attributes(found):
    assert [(row.attribute, row.side) for row in found.rows] == [
        (attribute, side) for attribute in ("coverage", "faithfulness") for side in ("left", "right", None)
    ]


def test_agreement_of_the_length_worked_by_hand(found):
    left, right, whole = found.rows[:3]
    # 3, 5, 1 words for coverage 1, 1/2, 0: two of three pairs are right; ranks 2, 3, 1 against 3, 2, 1 give 1 - 6 * 2 / 24
    assert left.winrate_within.value == pytest.approx(2 / 3)
    assert left.within.value == pytest.approx(0.5)
    # the other article has lost one of its two summaries
    assert (right.winrate_within.value, right.left_out, right.winrate_within.n) == (None, 1, 0)
    assert (whole.articles, whole.summaries, whole.left_out, whole.winrate_within.n) == (2, 5, 1, 1)
    # its faithfulness is undefined as well, and it is left out once
    assert found.rows[5].left_out == 1


def test_sets_of_a_single_topic_have_no_interval(found):
    assert {row.winrate_within.low for row in found.rows} == {None}


def test_unscored_summaries_are_counted_by_reason_and_side(found):
    assert [(u.judge, u.side, u.reason, u.count) for u in found.unscored] == [("length", "right", "tired", 1)]


def test_sets_without_topic_are_topics_of_their_own(sets):
    apart = [
        each.model_copy(
            update={"topic": "", "id": f"{each.id}{k}", "passages": tuple(f"{text} {k}" for text in each.passages)}
        )
        for k in range(4)
        for each in sets
    ]
    judgements = judge_sets(open_judges({"length": BASELINES["length"]}), apart)
    whole = benchmark(apart, judgements, file="f", digest="0").rows[2]
    together = [each.model_copy(update={"topic": "one"}) for each in apart]
    assert whole.winrate_within.low is not None
    assert benchmark(together, judgements, file="f", digest="0").rows[2].winrate_within.low is None
    alike = [each.model_copy(update={"passages": sets[0].passages}) for each in apart]
    assert benchmark(alike, judgements, file="f", digest="0").rows[2].winrate_within.low is None


@pytest.mark.parametrize(
    ("topics", "unknown", "told"),
    [
        (("a", "b"), 0, "by the jackknife over topics."),
        (("a", ""), 1, "by the jackknife over topics (1 article of unknown topic by themselves)."),
        (("", ""), 2, "by the jackknife over articles (topics unknown; give --evidence)."),
    ],
)
def test_what_intervals_are_over_is_told(sets, topics, unknown, told):
    named = [each.model_copy(update={"topic": topic}) for each, topic in zip(sets, topics, strict=True)]
    judgements = judge_sets(open_judges({"length": BASELINES["length"]}), named)
    found = benchmark(named, judgements, file="f", digest="0")
    assert found.topics_unknown == unknown
    assert told in fold(shown(terminal.render(page(found), whole=True)))


def test_table_tells_numbers_counts_and_reasons(found):
    text = shown(terminal.render(page(found), whole=True))
    told = fold(text)
    assert "coverage" in told
    assert "faithfulness" in told
    assert "2 articles, 5 summaries" in told
    assert "ties count half" in told
    assert "length tired right 1" in told
    # the first page has a row for each judge, on one line
    short = shown(terminal.render(page(found))).splitlines()
    assert [line.split()[0] for line in short[-len(found.signatures) :]] == list(found.signatures)


def test_page_has_every_side_and_statistic(found):
    made = {each.name: each for each in tables(page(found).body)}
    for attribute in ("coverage", "faithfulness"):
        assert [group.heading for group in made[attribute].groups] == ["all", "left", "right"]
    rows = [row for row in found.rows if row.attribute == "coverage"]
    shown = [
        cell.value
        for row in made["coverage"].rows
        for cell in row.cells
        if isinstance(cell, NumberCell) and not cell.unit
    ]
    names = ("pooled", "within", "winrate_within", "winrate_pooled")
    # the only judge is length, which has no lead over itself
    expected = [*(str(getattr(row, name).value) for row in rows for name in names), *["None"] * len(rows)]
    assert sorted(map(str, shown)) == sorted(expected)


def test_files_hold_what_is_returned_and_repeat_byte_by_byte(sets, tmp_path):
    write_jsonl(tmp_path / "sets.jsonl", sets)
    found = benchmark_judges(tmp_path / "sets.jsonl", {}, tmp_path / "a")
    assert Benchmark.model_validate_json(read_text(tmp_path / "a" / "benchmark.json")) == found
    assert list(found.signatures) == list(BASELINES)
    assert len(read_text(tmp_path / "a" / "judgements.jsonl").splitlines()) == 5 * len(BASELINES)
    benchmark_judges(tmp_path / "sets.jsonl", {}, tmp_path / "b")
    for name in ("benchmark.json", "benchmark.md", "index.html", "judgements.jsonl"):
        assert read_text(tmp_path / "a" / name) == read_text(tmp_path / "b" / name)


def test_a_benchmark_of_something_else_is_named_before_it_is_replaced(sets, tmp_path):
    for name, mine in (("all", sets), ("one", sets[:1])):
        write_jsonl(tmp_path / f"{name}.jsonl", mine)
    said = []
    for name in ("all", "all", "one"):
        benchmark_judges(tmp_path / f"{name}.jsonl", {}, tmp_path / "out", say=said.append)
    folder = tmp_path / "out"
    assert said == [f"{folder} holds the benchmark of length and ROUGE on all.jsonl; it will be replaced."]


def test_a_judge_that_has_nothing_to_look_at_is_not_tried_and_named(sets, tmp_path):
    write_jsonl(tmp_path / "sets.jsonl", sets)
    judges = {"opens": RuleJudge(kind="contract"), "points": RougeJudge(kind="rouge", against="key_points")}
    found = benchmark_judges(tmp_path / "sets.jsonl", judges, tmp_path / "out")
    assert list(found.not_tried) == ["opens"]
    assert "not tried: opens, because controlled summaries have no output contract" in shown(
        terminal.render(page(found), whole=True)
    )
    assert "opens" not in found.signatures
    # the second article has no listed key points
    assert [(u.judge, u.side, u.count) for u in found.unscored] == [("points", "right", 2)]


def test_the_bundled_sets_need_no_library_for_the_length(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "rouge_score", None)
    found = benchmark_judges(Path("sample"), {}, tmp_path / "out")
    assert set(found.signatures) == {"length"}
    assert len(found.not_tried) == len(BASELINES) - 1
    assert {reason.rpartition(": ")[2] for reason in found.not_tried.values()} == {"pip install 'evenhand[judges]'"}


def test_an_absent_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"none\.jsonl: cannot be read"):
        benchmark_judges(tmp_path / "none.jsonl", {}, tmp_path / "out")


def test_released_file_gives_the_published_numbers_from_file_to_result(polisum, tmp_path):
    # docs/papers.md#ri-values: ROUGE-L recall and length, coverage: pooled, by article, winrate
    found = benchmark_judges(polisum / "controlled_dev.json", {}, tmp_path, evidence=polisum / "evidence_dev.json")
    rows = {row.judge: row for row in found.rows if row.attribute == "coverage"}
    for judge, expected in {"rougeL-recall": (0.403, 0.387, 0.665), "length": (0.435, 0.294, 0.631)}.items():
        row = rows[judge]
        values = (row.pooled.value, row.within.value, row.winrate_within.value)
        assert values == pytest.approx(expected, abs=6e-4)
        assert row.pooled.low < row.pooled.value < row.pooled.high
