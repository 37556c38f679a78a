"""`evenhand judges train`: a judge that combines others, from controlled sets to a recipe."""

import json
from pathlib import Path

import numpy as np
import pytest

from evenhand.config.judges import RougeJudge, RuleJudge
from evenhand.corpora.controlled import read_controlled
from evenhand.errors import DataError, RecipeError
from evenhand.judges import open_judge, open_judges
from evenhand.plugins.judge_studies import run as audit
from evenhand.plugins.judge_studies.benchmark import benchmark_judges
from evenhand.plugins.judge_studies.combination import CombinedJudge
from evenhand.plugins.judge_studies.scoring import SEEN, judge_sets
from evenhand.plugins.judge_studies.study import JudgeStudy
from evenhand.plugins.judge_studies.train_judge import TRAINED_JUDGE, TrainingRequest, train_judge
from evenhand.plugins.judge_studies.training import COMBINED, features, gaps
from evenhand.plugins.judge_studies.training_page import page
from evenhand.records import Judgement
from evenhand.storage import read_json, write_jsonl

pytest.importorskip("rouge_score")
MEAN = {"overlap": RougeJudge(kind="rouge", type="average", measure="fmeasure")}


@pytest.fixture(scope="module")
def sample():
    return read_controlled(Path("sample"))


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A judge of coverage from the bundled sets, and its folder."""
    folder = tmp_path_factory.mktemp("trained")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVENHAND_CACHE", str(folder / "cache"))
        request = TrainingRequest("coverage", MEAN, {"rougeL-precision": "up", "rouge2-recall": "down"})
        return train_judge(Path("sample"), request, folder), folder


def test_the_saved_judge_says_what_was_fitted(trained, sample):
    found, folder = trained
    judges = open_judges({"mine": CombinedJudge(kind="combined", file=folder / "judge.json")})
    said = judge_sets(judges, sample)
    truths = [truth.coverage for each in sample for truth in each.truths]
    # an intercept makes residuals of what it was fitted to cancel out, but for what is cut off and rounded
    assert np.mean([each.score for each in said]) == pytest.approx(np.mean(truths), abs=0.01)
    assert {each.unscored for each in said} == {None}
    assert "beyond_training" not in "".join(each.raw or "" for each in said)
    assert found.judge.trained_on.topics == 8
    assert found.judge.trained_on.summaries == len(truths) == len(said)


def test_signs_are_held_and_every_feature_is_in_the_file(trained):
    found, folder = trained
    saved = json.loads((folder / "judge.json").read_text())
    by_name = {each["name"]: each for each in saved["features"]}
    assert list(by_name)[:2] == ["overlap", "rouge1-recall"]
    assert list(by_name)[-3:] == ["log-words", "log-source-words", "log-claims"]
    assert by_name["rougeL-precision"]["coefficient"] >= 0 and by_name["rougeL-precision"]["sign"] == "up"
    # coverage goes up with it, so that held down it is gone
    assert (by_name["rouge2-recall"]["coefficient"], by_name["rouge2-recall"]["sign"]) == (0, "down")
    assert [each["name"] for each in saved["members"]] == list(by_name)[:-3]
    assert saved["figures"][0]["name"] == COMBINED and saved["figures"][1]["name"] == "length"
    assert saved["figures"][0]["pooled"]["value"] > saved["figures"][1]["pooled"]["value"]
    assert found.judge.model_dump(mode="json") == saved


def test_the_page_says_what_is_gained(trained):
    found, folder = trained
    text = (folder / "training.md").read_text()
    assert "Trained judge of coverage" in text and "unseen topics" in text
    assert "held at 0 or below" in text
    assert {each.other for each in found.gaps} == {"length", "rouge2-recall", "overlap"}
    # ROUGE-2's recall orders these summaries as well by itself, since they were written in the words of their sources
    assert [each.other for each in found.gaps if each.is_above] == ["length"]
    assert "No clear gain over rouge2-recall, overlap" in text
    assert (folder / "index.html").exists() and (folder / "tables" / "gain.csv").exists()


def test_articles_without_a_topic_are_a_warning(trained):
    found, _ = trained
    assert not any("unknown" in warning for warning in page(found).warnings)
    untold = found.benchmark.model_copy(update={"topics_unknown": 3})
    (said,) = [each for each in page(found.model_copy(update={"benchmark": untold})).warnings if "unknown" in each]
    assert said.startswith("The topic of 3 articles is unknown") and "the agreement is too high" in said


def judgement(judge, each, place, score):
    return Judgement(
        candidate_id=f"{each.id}#{place}",
        request_id=each.id,
        judge=judge,
        signature=judge,
        score=score,
        unscored=None if score is not None else "tired",
    )


def test_summaries_without_a_score_or_a_truth_are_left_out(sample):
    said = [judgement("a", each, place, 0.5) for each in sample for place in range(len(each.summaries))]
    said[0] = judgement("a", sample[0], 0, None)
    table = features(JudgeStudy(sample, said), "coverage")
    assert (table.left_out, len(table.rows)) == (1, len(said) - 1)
    assert (sample[0].id, 0) not in table.places
    first = sample[0].summaries[1].text
    assert table.rows[0].tolist()[:3] == [0.5, np.log(len(first.split())), np.log(len(sample[0].source.split()))]
    # two sentences of one claim each
    assert table.rows[0, 3] == np.log(2)


def test_too_few_topics_are_refused(sample):
    few = sample[:8]
    said = [judgement("a", each, place, 0.5) for each in few for place in range(len(each.summaries))]
    with pytest.raises(DataError, match=r"^4 topics have summaries .* at least 5"):
        features(JudgeStudy(few, said), "coverage")


@pytest.mark.parametrize("topic", ["told", "another", ""])
def test_equal_documents_under_a_second_topic_are_never_unseen(sample, topic):
    """Each article twice: the line that did not see the first must not have seen the second, whatever its topic is called."""
    twice = [
        each.model_copy(
            update={"id": f"{each.id} again", "topic": each.topic if topic == "told" else topic and f"{topic} {place}"}
        )
        for place, each in enumerate(sample)
    ]
    sets = [*sample, *twice]
    said = [
        judgement("a", each, place, ((place * 7 + number) % 5) / 5)
        for number, each in enumerate(sets)
        for place in range(len(each.summaries))
    ]
    table = features(JudgeStudy(sets, said), "coverage")
    assert set(table.topics) == {each.topic for each in sample}
    half = len(table.topics) // 2
    assert table.topics[:half] == table.topics[half:]


def test_a_judge_is_compared_with_another_as_that_agrees_best(sample):
    """One that says the truth, one that says its contrary, and one that the draws of topics cannot tell from the first."""
    said = []
    for each in sample:
        for place, truth in enumerate(each.truths):
            known = truth.coverage + 0.3 * ((place * 7) % 5)
            said += [
                judgement(name, each, place, value)
                for name, value in ((COMBINED, truth.coverage), ("contrary", -truth.coverage), ("noisy", known))
            ]
    contrary, noisy = gaps(JudgeStudy(sample, said), "coverage", ["contrary", "noisy"])
    assert contrary.is_reversed and not contrary.is_above
    assert (contrary.pooled.value, contrary.pooled.low, contrary.pooled.high) == pytest.approx((0, 0, 0), abs=1e-12)
    assert noisy.is_above and not noisy.is_reversed
    assert noisy.pooled.low < noisy.pooled.value < noisy.pooled.high


@pytest.mark.parametrize(
    ("judges", "message"),
    [
        ({"combined": RougeJudge(kind="rouge")}, "'combined' has a name that is taken"),
        ({"log-words": RougeJudge(kind="rouge")}, "'log-words' has a name that is taken"),
        ({"a": RougeJudge(kind="rouge", against="key_points")}, "'a' compares the summary with key_points"),
        ({"a": RuleJudge(kind="length")}, "counts words, which are a feature already"),
        ({"a": RuleJudge(kind="contract")}, "no output contract"),
        ({"a": CombinedJudge(kind="combined", file="judge.json")}, "combines others itself"),
    ],
)
def test_judges_that_cannot_be_features_are_refused_before_any_work(judges, message, tmp_path):
    with pytest.raises(RecipeError, match=message):
        train_judge(tmp_path / "none.jsonl", TrainingRequest("coverage", judges), tmp_path)


def test_a_judge_of_something_else_is_named_before_it_is_replaced(trained, sample):
    _, folder = trained
    key = TRAINED_JUDGE.key(read_json(folder / TRAINED_JUDGE.json))
    assert key[0] == "coverage" and TRAINED_JUDGE.replaced(folder, key) == ""
    said = TRAINED_JUDGE.replaced(folder, ("faithfulness", *key[1:]))
    assert said.startswith(f"{folder} holds the judge of coverage by length, ")
    assert said.endswith(", trained on sample; it will be replaced.")


def test_a_sign_of_no_feature_and_too_few_topics_are_refused_before_a_judge_is_asked(tmp_path, sample):
    request = TrainingRequest("coverage", {}, {"rouge1-recal": "up"})
    with pytest.raises(RecipeError, match="'rouge1-recal' is not a feature; did you mean 'rouge1-recall'"):
        train_judge(Path("sample"), request, tmp_path / "out")
    write_jsonl(tmp_path / "few.jsonl", sample[:8])
    with pytest.raises(DataError, match=r"^4 topics have summaries with a known coverage, but .* at least 5"):
        train_judge(tmp_path / "few.jsonl", TrainingRequest("coverage", {}), tmp_path / "out")
    # where their verdicts would lie
    assert not (tmp_path / "cache").exists()


def test_a_trained_judge_is_opened_like_any_other(trained):
    _, folder = trained
    judge = open_judge("mine", CombinedJudge(kind="combined", file=folder / "judge.json"))
    assert judge.signature.startswith("coverage|judge:combined|file:")


@pytest.mark.slow
def test_a_trained_judge_is_not_measured_on_what_it_knows_by_heart(sample, tmp_path):
    write_jsonl(tmp_path / "known.jsonl", sample[:10])
    write_jsonl(tmp_path / "all.jsonl", sample)
    train_judge(tmp_path / "known.jsonl", TrainingRequest("coverage", MEAN), tmp_path / "trained")
    judges = {"mine": CombinedJudge(kind="combined", file=tmp_path / "trained" / "judge.json")} | MEAN

    # five topics of two articles are known, and three are not
    request = audit.AuditRequest(tmp_path / "all.jsonl", judges, purposes={"overlap": "coverage"})
    work = audit.prepare(request)
    assert "300 judgements, without 10 articles that it was trained on" in audit.plan_lines(work)[1]
    found = {each.judge: each for each in audit.audit_judges(work, tmp_path / "audit").judges}
    mine, other = found["mine"], found["overlap"]
    assert (mine.n_seen, mine.n_summaries, mine.unscored, mine.own.within.n) == (10, 36, 0, 6)
    # length is over the same articles
    assert (mine.length.within.n, other.own.within.n, other.n_seen) == (6, 16, 0)

    measured = benchmark_judges(tmp_path / "all.jsonl", judges, tmp_path / "benchmark")
    assert {(each.judge, each.reason, each.count) for each in measured.unscored} == {("mine", SEEN, 30)}
    known = audit.AuditRequest(tmp_path / "known.jsonl", judges, purposes={"overlap": "coverage"})
    assert list(audit.prepare(known).not_tried) == ["mine"]
    assert list(benchmark_judges(tmp_path / "known.jsonl", judges, tmp_path / "again").not_tried) == ["mine"]


def test_the_other_side_of_a_topic_has_been_seen_and_so_has_an_article_under_another_name(sample):
    left, right = sample[:2]
    renamed = left.model_copy(update={"id": "x", "topic": "another", "side": None})
    assert left.marks & right.marks and left.marks & renamed.marks and not right.marks & renamed.marks
    assert not left.marks & sample[2].marks
