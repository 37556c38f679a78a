"""People's ratings on pages: from files on disk to numbers, tables, gates, and what is refused."""

import csv
import json

import numpy as np
import pytest
from commands import invoked as invoke

from evenhand.doors import Door
from evenhand.errors import DataError, RecipeError
from evenhand.evaluation.gate.decide import gated
from evenhand.evaluation.gate.limits import GateRequest, parse_limit
from evenhand.evaluation.pages import markdown
from evenhand.evaluation.report.checkpoint.build import build_report
from evenhand.evaluation.report.checkpoint.page import page
from evenhand.evaluation.report.comparison.contents import Comparison
from evenhand.evaluation.report.named import REPORT_PAGE
from evenhand.evaluation.report.people import ratings as people_ratings
from evenhand.evaluation.report.people.ratings import RatingsFile
from evenhand.records import BestSummary
from evenhand.runfolder.phases import open_phase
from evenhand.storage import write_jsonl

N = 40
JUDGES = "judges:\n  length: {kind: length}\n"
RATERS = ("ann", "ben", "cem", "dan", "eva")


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Sets of two documents, and two systems whose summaries are as long as one to nine words; "long" writes three more."""
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    documents = [
        {
            "id": f"s{k:02}",
            "documents": [
                {"id": f"{k}{v}", "text": f"{v} words of {k}.", "attributes": {"side": v}} for v in ("a", "b")
            ],
        }
        for k in range(N)
    ]
    (tmp_path / "sets.jsonl").write_text("".join(json.dumps(each) + "\n" for each in documents))
    lengths = {f"s{k:02}": 1 + k % 9 for k in range(N)}
    for name, more in (("short", 0), ("long", 3)):
        texts = {key: f"{key} {name} " + "word " * (n + more) for key, n in lengths.items()}
        (tmp_path / f"{name}.json").write_text(json.dumps(texts))
    (tmp_path / "judges.yaml").write_text(JUDGES)
    return tmp_path


def rate(plan, out, value=lambda words: 1 + words / 4, n=None, raters=RATERS):
    """Fill in a plan: raters in turn, each with a severity, of what the value says by the number of words."""
    rows = list(csv.DictReader(plan.open()))[:n]
    for place, row in enumerate(rows):
        rater = place % len(raters)
        row |= {"rater": raters[rater], "score": value(len(row["summary"].split())) + 0.1 * rater}
    with out.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return out


def score(*options):
    return invoke(
        "score", "--documents", "sets.jsonl", "--summaries", "short.json", "--summaries", "long.json",
        "--judges", "judges.yaml", "--out", "out", *options,
    )  # fmt: skip


def planned(files, *options):
    score()
    both = "--system", "short=out/short", "--system", "long=out/long"
    invoke("human", "plan", *both, "--out", "plan.csv", "--force", *options)
    return files / "plan.csv"


def people_of(files):
    return Comparison.model_validate_json((files / "out" / "comparison.json").read_text()).people


def test_a_plan_is_rated_and_taken_back(files):
    ratings = rate(planned(files, "--count", 60), files / "ratings.csv")
    done = score("--ratings", ratings)
    people = people_of(files)
    assert (people.n_rated, people.n_raters, people.n) == (60, 5, 80)
    by_name = {(number.kind, number.system): number for number in people.numbers}
    short, long = by_name["mean", "short"], by_name["mean", "long"]
    # of 40 summaries with 2 + 1 to 9 words, of which 30 were rated, and a mean severity of 0.2
    words = 2 + np.mean([1 + k % 9 for k in range(N)])
    assert short.value == pytest.approx(1 + words / 4 + 0.2, abs=0.1)
    assert short.judge.value == pytest.approx(words)
    assert by_name["difference", "long"].value == pytest.approx(0.75, abs=0.1)
    assert short.low < short.value < short.high
    # the judge is all that people go by
    assert short.high - short.low < 0.9 * (short.alone.high - short.alone.low)
    assert short.worth > 30
    assert long.n == short.n == 30
    assert "What people would say: score" in done.output
    assert "people would say" in (files / "out" / "comparison.md").read_text()
    assert "What people would say" in (files / "out" / "details.html").read_text()
    assert f"as people would say it of long - short: {by_name['difference', 'long'].value:+.2f}" in done.output


def test_what_is_rated_is_not_drawn_again_and_draws_are_even(files):
    plan = planned(files, "--count", 50)
    rows = list(csv.DictReader(plan.open()))
    assert sum("short" in row["summary"] for row in rows) == 25
    assert sum("short" in row["summary"] for row in rows[:20]) == 10
    rate(plan, files / "ratings.csv")
    rest = planned(files, "--ratings", files / "ratings.csv")
    others = {row["summary"] for row in csv.DictReader(rest.open())}
    assert len(others) == 30
    assert others.isdisjoint(row["summary"] for row in rows)
    rate(rest, files / "rest.csv")
    (files / "all.csv").write_text(
        (files / "ratings.csv").read_text() + (files / "rest.csv").read_text().partition("\n")[2]
    )
    with pytest.raises(DataError, match="every summary is rated already"):
        planned(files, "--ratings", files / "all.csv")


def test_a_table_that_people_may_have_filled_in_is_not_replaced(files):
    ratings = rate(planned(files), files / "ratings.csv")
    filled = ratings.read_bytes()
    again = ("human", "plan", "--system", "short=out/short", "--out", ratings)
    with pytest.raises(DataError, match=r"already exists; .*add --force.*People's scores may be in it"):
        invoke(*again)
    assert ratings.read_bytes() == filled
    invoke(*again, "--force")
    assert ratings.read_bytes() != filled


def test_ratings_of_one_system_say_nothing_of_the_other(files):
    plan = planned(files)
    rows = [line for line in plan.read_text().splitlines(keepends=True) if " long " not in line]
    plan.write_text("".join(rows))
    score("--ratings", rate(plan, files / "ratings.csv"))
    reasons = {(number.kind, number.system): (number.value, number.reason) for number in people_of(files).numbers}
    assert reasons["mean", "short"][0] is not None
    assert reasons["mean", "long"] == reasons["difference", "long"] == (None, "0 rated of long")


def test_systems_that_other_people_rated_are_not_compared(files):
    ratings = rate(planned(files), files / "ratings.csv", raters=("ann", "ben"))
    rows = list(csv.DictReader(ratings.open()))
    # of each system by one of them
    rows = [row | {"rater": "ann" if " long " in row["summary"] else "ben"} for row in rows]
    with ratings.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    score("--ratings", ratings)
    reasons = {(number.kind, number.system): number.reason for number in people_of(files).numbers}
    assert reasons["difference", "long"] == "nobody rated both long and short"
    assert reasons["mean", "long"] == reasons["mean", "short"] == ""


def test_few_ratings_say_nothing(files):
    score("--ratings", rate(planned(files), files / "ratings.csv", n=30))
    assert {number.reason for number in people_of(files).numbers if number.kind == "mean"} == {
        "15 rated sets, 20 are needed"
    }
    assert all(number.value is None for number in people_of(files).numbers if number.kind == "mean")


def test_ratings_of_long_summaries_alone_say_nothing(files):
    plan = planned(files)
    head, *rows = plan.read_text().splitlines(keepends=True)
    plan.write_text(head + "".join(sorted(rows, key=lambda row: -row.count(" word"))[:56]))
    score("--ratings", rate(plan, files / "ratings.csv"))
    reasons = {(number.kind, number.system): number.reason for number in people_of(files).numbers}
    assert (
        reasons["mean", "long"] in {"rated ones are not like the others", "0 rated of long"}
        or reasons["mean", "long"] == ""
    )
    assert reasons["mean", "short"] == "rated ones are not like the others"


def test_few_raters_and_raters_who_say_one_thing_are_named(files):
    plan = planned(files)
    score("--ratings", rate(plan, files / "ratings.csv", raters=("ann", "ben")))
    notes = " ".join(people_of(files).notes)
    assert "Only 2 people scored" in notes
    assert "what these raters would say of all summaries, not of what other people would" in notes
    score("--ratings", rate(plan, files / "ratings.csv", value=lambda words: 3))
    assert "One score for all summaries" in " ".join(people_of(files).notes)
    (files / "equal.csv").write_text(
        "id,summary,score\n" + "".join(f"{row['id']},{row['summary']},3\n" for row in csv.DictReader(plan.open()))
    )
    score("--ratings", files / "equal.csv")
    assert {number.reason for number in people_of(files).numbers} == {"all rated ones have one score"}


def test_reversed_scales_stay_the_raters_own(files):
    ratings = rate(planned(files), files / "ratings.csv", value=lambda words: 5 - words / 4)
    score("--ratings", ratings, "--scale", "6..1")
    mean = next(number for number in people_of(files).numbers if number.system == "short")
    assert 2 < mean.value < 5


def test_what_is_wrong_is_refused_in_a_sentence(files):
    ratings = rate(planned(files), files / "ratings.csv")
    with pytest.raises(RecipeError, match="--dimension is of people's ratings and does nothing without --ratings"):
        score("--dimension", "faithfulness")
    with pytest.raises(DataError, match=r"ratings\.csv:2: the score of 'score' is .*, off its scale 8\.\.9"):
        score("--ratings", ratings, "--scale", "8..9")
    (files / "other.csv").write_text("id,summary,score\n" + "".join(f"s{k:02},another text,3\n" for k in range(N)))
    with pytest.raises(DataError, match="none of its 40 rated texts is a summary of short, long"):
        score("--ratings", files / "other.csv")
    (files / "ids.csv").write_text("id,summary,score\nx1,a text,3\nx2,a text,3\n")
    with pytest.raises(DataError, match="no document set has the id 'x1'"):
        score("--ratings", files / "ids.csv")
    (files / "wide.csv").write_text("id,summary,dimension,score\ns00,a text,fluency,3\ns00,a text,coverage,3\n")
    with pytest.raises(DataError, match="has scores of 'fluency', 'coverage'; say which: --dimension"):
        score("--ratings", files / "wide.csv")


def test_wrong_ratings_are_refused_before_a_judge_is_asked(files):
    (files / "ids.csv").write_text("id,summary,score\nx1,a text,3\n")
    with pytest.raises(DataError, match="no document set has the id 'x1'"):
        score("--ratings", files / "ids.csv")
    (files / "other.csv").write_text("id,summary,score\n" + "".join(f"s{k:02},another text,3\n" for k in range(N)))
    with pytest.raises(DataError, match="none of its 40 rated texts is a summary of short, long"):
        score("--ratings", files / "other.csv")
    assert not (files / "out").exists()


def test_without_the_plugin_ratings_are_refused(files, monkeypatch):
    monkeypatch.setattr(people_ratings, "READERS", Door("no-ratings", "reader of ratings", callable))
    score()
    (files / "ratings.csv").write_text("id,summary,score\ns00,a text,3\n")
    with pytest.raises(RecipeError, match="--ratings: nothing here reads files of ratings"):
        score("--ratings", files / "ratings.csv")


@pytest.fixture
def rated_report(make_run, tmp_path):
    """A run of 30 sets and two sides, whose left summaries people find two better; and its report with their ratings."""
    run = make_run()
    scores = {
        f"s{k:02}/{side}": [(0.1 * j, 0.1 * (k % 5) + 0.05 * j) for j in range(3)]
        for k in range(30)
        for side in ("left", "right")
    }
    text = lambda request, index: {"text": f"{request} says {index}."}  # noqa: E731
    run.write("evaluation/base", scores, candidate=text)
    run.write("evaluation/round-00", scores, candidate=text)
    rows = ["id,summary,rater,score"]
    for phase in ("evaluation/base", "evaluation/round-00"):
        folder = open_phase(run.recipe, phase).folder
        best = [
            BestSummary(
                request_id=name, set_id=name[:3], side=name[4:], text=f"{name} says 2. {phase[-2:]}", candidate_id=None,
                reward=0.2, scores={"overlap": each[2][1]}, n_candidates=3,
            )
            for name, each in scores.items()
        ]  # fmt: skip
        write_jsonl(folder / "best.jsonl", best)
        rows += [
            f"{each.request_id},{each.text},r{place // 2 % 6},{3 + 2 * (each.side == 'left') + (place + len(phase)) * 3 % 5 / 4}"
            for place, each in enumerate(best)
            if place % 7
        ]
    (tmp_path / "ratings.csv").write_text("\n".join(rows))
    return build_report(run.recipe, None, RatingsFile(tmp_path / "ratings.csv"))


def test_a_report_has_gaps_of_sides_and_only_systems_of_one_summary(rated_report):
    people = rated_report.people
    assert {number.system for number in people.numbers} == {"rerank", "DPO+RR"}
    overlap = [number for number in people.numbers if number.measure == "overlap"]
    gaps = {(number.system, number.side): number for number in overlap if number.kind == "gap"}
    assert gaps["rerank", "left"].value == pytest.approx(1, abs=0.15)
    assert gaps["rerank", "left"].value == pytest.approx(-gaps["rerank", "right"].value)
    assert gaps["rerank", "left"].judge.value == pytest.approx(0)
    difference = next(number for number in people.numbers if number.kind == "difference")
    assert difference.pair == "DPO+RR - rerank"
    assert difference.low < 0 < difference.high
    raw = next(each for each in rated_report.differences if each.pair == difference.pair and each.side is None)
    assert difference.judge.value == raw.value
    assert {each.reason for each in people.numbers if each.measure == "fit"} == {
        "no score of rerank, left",
        "no score of DPO+RR, left",
    }
    text = markdown.render(page(rated_report))
    assert "a side less all sides" in text


def test_gates_name_what_people_would_say(rated_report):
    limits = [
        "worst_people_gap(overlap) < -0.5", "people_gap(overlap, left) < 0.5", "people_mean(overlap) > 9",
        "people_difference(overlap) < -2", "people_difference(overlap) < 0", "mean(overlap) < 0",
    ]  # fmt: skip
    request = GateRequest(tuple(map(parse_limit, limits)))
    gate = gated(rated_report, REPORT_PAGE, request).gate
    assert [row.outcome for row in gate.rows] == ["breach", "passed", "passed", "passed", "cannot tell", "passed"]
    number = next(each for each in rated_report.people.numbers if each.kind == "gap" and each.side == "right")
    # wider than the page's, for six limits and two sides
    assert gate.rows[0].low < number.low
    assert gate.rows[2].number == "people_mean(overlap, DPO+RR)"
