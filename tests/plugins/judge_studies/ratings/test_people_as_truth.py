"""Judges benchmarked against people, from the command line to the page, and people among themselves beside them."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from evenhand.cli.app import app
from evenhand.errors import EvenhandError
from evenhand.judges.benchmark import Benchmark
from evenhand.plugins.judge_studies.ratings.raters import one_rater, others_mean
from evenhand.storage import read_text


def invoked(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


@pytest.fixture
def benchmarked(documents, rows, written, tmp_path):
    """A function that runs the verb on rows, and gives the result in its folder."""

    def run(rows=rows, *options):
        out = tmp_path / "out"
        done = invoked("benchmark-judges", documents, "--ratings", written(rows), "--out", out, *options)
        if done.exception:
            raise done.exception
        return Benchmark.model_validate_json(read_text(out / "benchmark.json")), done.output

    return run


def test_the_mean_of_the_others_leaves_a_rater_out():
    cube = np.array([[[1.0, 2.0, 6.0], [4.0, np.nan, np.nan]]])
    means = others_mean(cube)
    assert means[0, 0] == pytest.approx([4.0, 3.5, 1.5])
    assert np.isnan(means[0, 1]).all()


def test_one_rater_worked_by_hand():
    # two raters, so that the mean of the others is the other one: ranks 1, 2, 3 and 2, 1, 3 give 1 - 6 * 2 / 24 for both
    pooled, within = one_rater(np.array([[[1.0, 2.0], [2.0, 1.0], [3.0, 3.0]]]), ["only"])
    assert (pooled.value, within.value) == (pytest.approx(0.5), pytest.approx(0.5))
    assert (pooled.n, within.n) == (3, 1)


def test_every_dimension_has_its_rows_and_people_stand_beside_the_judges(benchmarked, rows):
    result, output = benchmarked([*rows, *({**row, "dimension": "style", "score": 6 - row["score"]} for row in rows)])
    assert result.attributes == ("faithfulness", "style")
    assert result.n_raters == 3
    by_judge = {(row.judge, row.attribute): row for row in result.rows}
    # 1, 3 and 7 words in the order of the mean scores of both products
    assert by_judge["length", "faithfulness"].within.value == pytest.approx(1.0)
    assert by_judge["length", "style"].within.value == pytest.approx(-1.0)
    # of the first product r0 orders as the mean of the others, r1 (1, 3, 4) and r2 (1, 2, 3), do; so does everybody
    assert by_judge["one rater", "faithfulness"].within.value == pytest.approx(1.0)
    assert "(people among themselves)" in output
    assert "one rater" not in result.signatures


def test_what_people_do_not_agree_on_is_said(ferries):
    documents, scored, _ = ferries
    records = [json.loads(line) for line in read_text(scored).splitlines()]
    # each rater likes another summary
    scattered = [
        {**record, "score": (len(record["summary"]) * (1 + int(record["rater"][1]))) % 5} for record in records
    ]
    out = scored.parent / "scattered"
    for rows, is_said in ((records, False), (scattered, True)):
        scored.write_text("".join(json.dumps(row) + "\n" for row in rows))
        done = invoked("benchmark-judges", documents, "--ratings", scored, "--out", out)
        assert not done.exception, done.exception
        assert ("People do not clearly agree among themselves on aspect coverage" in done.output) is is_said


def test_the_lead_over_length_takes_the_direction_that_agrees_better(benchmarked, rows):
    result, _ = benchmarked([{**row, "score": 6 - row["score"]} for row in rows])
    leads = {row.judge: row.lead for row in result.rows}
    # 1, 1 and 3 shared words: ranks 1.5, 1.5, 3 against 3, 2, 1 give -sqrt(3) / 2; shorter first agrees perfectly
    assert leads["rouge1-recall"].value == pytest.approx(-np.sqrt(3) / 2 - 1)
    assert leads["length"] is None


def test_the_best_judge_is_a_judge_and_no_person(benchmarked):
    result, output = benchmarked()
    assert result.best("faithfulness").judge != "one rater"
    assert "Only 3 people scored" in output


def test_an_example_shows_peoples_scores_as_they_were_given(benchmarked, rows, tmp_path):
    judges = tmp_path / "judges.yaml"
    judges.write_text("judges: {shared: {kind: rouge, type: rouge1, measure: recall}}")
    turned = [{**row, "score": 6 - row["score"]} for row in rows]
    for options, scores in (([], turned), (["--scale", "5..1"], rows)):
        result, _ = benchmarked(scores, "--judges", judges, *options)
        known = [text.known for pair in result.examples for text in (pair.first, pair.second)]
        assert known and all(1 <= score <= 5 for score in known)


def test_sides_of_summaries_have_rows_of_their_own(tmp_path, written, rows):
    documents = tmp_path / "sides.jsonl"
    sides = [
        {"id": f"d{k}", "text": f"Text {k}.", "attributes": {"side": side}} for k, side in enumerate(("left", "right"))
    ]
    documents.write_text(json.dumps({"id": "x", "documents": sides}))
    names = {"few": "x/left", "many": "x/right"}
    sided = written([{**row, "id": names[row["id"]]} for row in rows])
    done = invoked("benchmark-judges", documents, "--attribute", "side", "--ratings", sided, "--out", tmp_path / "out")
    assert not done.exception, done.exception
    result = Benchmark.model_validate_json(read_text(tmp_path / "out" / "benchmark.json"))
    assert {row.side for row in result.rows if row.judge == "length"} == {"left", "right", None}


def test_the_columns_of_texts_that_the_ratings_lack_are_named(benchmarked, rows, tmp_path):
    texts = {}
    for row in rows:
        texts.setdefault(row["system"], {})[row["id"]] = row["summary"]
    options = []
    for system, of_system in texts.items():
        lines = (f'{name},"{text}",A note of several words.\n' for name, text in of_system.items())
        (tmp_path / f"{system}.csv").write_text("case,given,note\n" + "".join(lines))
        options += ["--summaries", f"{system}={tmp_path / system}.csv"]
    bare = [{key: value for key, value in row.items() if key != "summary"} for row in rows]
    whole, _ = benchmarked(rows)
    named, _ = benchmarked(bare, *options, "--summary-columns", "id=case,text=given")
    assert [row.within for row in named.rows] == [row.within for row in whole.rows]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--summary-columns", "id=case"),
            "--summary-columns is of people's ratings and does nothing without --ratings",
        ),
        (("--dimension", "faithfulness"), "--dimension is of people's ratings and does nothing without --ratings"),
        ((), "name controlled sets .* or people's ratings with --ratings FILE"),
    ],
)
def test_options_of_ratings_need_ratings(options, message, tmp_path):
    done = invoked("benchmark-judges", *options, "--out", tmp_path / "out")
    assert isinstance(done.exception, EvenhandError)
    with pytest.raises(EvenhandError, match=message):
        raise done.exception


@pytest.fixture
def ferries(tmp_path):
    """Documents, ratings and judges of eight articles of four summaries, of which longer ones have more of the documents."""
    words = "ferry cheap nurse night tax road school bus quick loud".split()
    sets, scored = [], []
    for k in range(8):
        names = words[k:] + words[:k]
        sets.append({"id": f"a{k}", "documents": [{"id": f"a{k}/1", "text": f"The {' '.join(names)}."}]})
        scored += [
            {
                "id": f"a{k}", "summary": f"The {' '.join(names[: 2 * place])}.", "rater": f"r{rater}",
                "dimension": "aspect coverage", "score": place + (rater + k) % 2,
            }
            for place in range(1, 5)
            for rater in range(3)
        ]  # fmt: skip
    paths = tmp_path / "docs.jsonl", tmp_path / "scored.jsonl", tmp_path / "judges.yaml"
    for path, records in zip(paths, (sets, scored), strict=False):
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
    paths[2].write_text("judges: {shared: {kind: rouge, type: rouge1, measure: fmeasure}}")
    return paths


NAMED = ("--dimension", "coverage=aspect coverage")


def test_an_audit_takes_people_for_what_is_known(ferries, tmp_path):
    documents, scored, judges = ferries
    options = ("--judges", judges, "--purpose", "shared=coverage", "--out", tmp_path / "out")
    done = invoked("audit-judge", documents, "--ratings", scored, *options, *NAMED)
    assert not done.exception, done.exception
    audit = json.loads(read_text(tmp_path / "out" / "calibration.json"))
    assert (audit["file"], audit["n_raters"], audit["n_articles"]) == ("scored.jsonl", 3, 8)
    # the more words of the article, the higher the score and the F1
    assert audit["judges"][0]["own"]["within"]["value"] == pytest.approx(1.0)
    # of faithfulness nobody said anything
    assert audit["judges"][0]["other"]["within"]["value"] is None
    assert "whose summaries 3 people scored" in done.output
    assert "coverage is 'aspect coverage'" in done.output


def test_a_judge_that_was_not_tried_is_named_in_the_terminal(ferries, tmp_path):
    documents, scored, judges = ferries
    judges.write_text("judges: {shared: {kind: rouge, type: rouge1, measure: fmeasure}, words: {kind: length}}")
    options = ("--judges", judges, "--purpose", "shared=coverage", "--out", tmp_path / "out")
    done = invoked("audit-judge", documents, "--ratings", scored, *options, *NAMED)
    assert not done.exception, done.exception
    assert (
        "Not tried: words (nobody said what it is to measure: --purpose words=coverage, or faithfulness)."
        in done.output
    )


def test_a_judge_is_trained_on_what_people_said(ferries, tmp_path):
    documents, scored, _ = ferries
    trained = invoked(
        "train-judge", documents, "--ratings", scored, "--purpose", "coverage", "--out", tmp_path / "judge", *NAMED
    )
    assert not trained.exception, trained.exception
    judge = json.loads(read_text(tmp_path / "judge" / "judge.json"))
    assert judge["figures"][0]["name"] == "combined"
    assert judge["figures"][0]["within"]["value"] == pytest.approx(1.0)
    # people are no judge that it has to surpass
    assert "one rater" not in {
        gap["other"] for gap in json.loads(read_text(tmp_path / "judge" / "training.json"))["gaps"]
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "no dimension is called coverage or faithfulness.* Its dimensions are aspect coverage"),
        (
            ("--dimension", "aspect coverage"),
            r"--dimension 'aspect coverage': write coverage=NAME or faithfulness=NAME",
        ),
        (("--dimension", "coverage=aspect coverag"), r"no such dimension; did you mean 'aspect coverage'"),
    ],
)
def test_a_purpose_needs_a_dimension(ferries, tmp_path, options, message):
    documents, scored, _ = ferries
    done = invoked(
        "train-judge", documents, "--ratings", scored, "--purpose", "coverage", "--out", tmp_path / "x", *options
    )
    with pytest.raises(EvenhandError, match=message):
        raise done.exception


@pytest.mark.parametrize("verb", ["audit-judge", "train-judge"])
def test_a_purpose_that_nobody_scored_is_named_with_its_dimension(ferries, tmp_path, verb):
    documents, scored, judges = ferries
    options = {
        "audit-judge": ("--judges", judges, "--purpose", "shared=faithfulness"),
        "train-judge": ("--purpose", "faithfulness"),
    }
    done = invoked(verb, documents, "--ratings", scored, *NAMED, *options[verb], "--out", tmp_path / "x")
    with pytest.raises(EvenhandError, match=r"nobody scored faithfulness; .*--dimension faithfulness=NAME"):
        raise done.exception


def test_the_headline_names_no_best_judge_where_none_clearly_agrees(ferries, tmp_path):
    documents, scored, _ = ferries
    # the longest summary is the best of one article and the worst of the next
    scattered = [
        {**record, "score": record["score"] if int(record["id"][1]) % 2 else 6 - record["score"]}
        for record in map(json.loads, read_text(scored).splitlines())
    ]
    headlines = []
    for rows in ([json.loads(line) for line in read_text(scored).splitlines()], scattered):
        scored.write_text("".join(json.dumps(row) + "\n" for row in rows))
        done = invoked("benchmark-judges", documents, "--ratings", scored, "--out", tmp_path / "out")
        assert not done.exception, done.exception
        headlines.append(done.output.replace(f"{tmp_path}", ""))
    assert "Best agreement: aspect coverage by" in headlines[0]
    assert "No judge clearly agrees with people" in headlines[1]
    assert "Best agreement" not in headlines[1]
