"""A line through the scores of other judges."""

import json
import math
from contextlib import closing

import pytest
from pydantic import TypeAdapter

from evenhand.config.judges import JudgeOptions
from evenhand.config.recipe_file import load_judges
from evenhand.errors import DataError, UnfitModelError
from evenhand.judges import JUDGES, JudgeInput, open_judge, open_judges
from evenhand.judges.batch import judge_together
from evenhand.judges.cache import VerdictCache
from evenhand.judges.judge import Verdict
from evenhand.plugins.judge_studies.combination import Combination, CombinedJudge
from evenhand.plugins.judge_studies.combined import counts

pytest.importorskip("rouge_score")
OPTIONS = {"kind": "rouge", "type": "rouge1", "measure": "precision"}
SIGNATURE = "rouge1-precision|judge:rouge|against:source|stemmer:no|package:0.1.2|v:3"


def saved(**changes):
    """0.5 + 0.2 * (precision - 0.5) / 0.25 - 0.1 * (log-words - 0) / 1."""

    def feature(name, coefficient, mean, scale, low, high):
        return {"name": name, "coefficient": coefficient, "mean": mean, "scale": scale, "least": low, "most": high}

    return {
        "format": "evenhand-combined-judge/3",
        "purpose": "faithfulness",
        "intercept": 0.5,
        "features": [feature("precision", 0.2, 0.5, 0.25, 0.0, 0.9), feature("log-words", -0.1, 0.0, 1.0, 0.0, 3.0)],
        "members": [{"name": "precision", "options": OPTIONS, "signature": SIGNATURE}],
        "penalty": 0.1,
        "trained_on": {
            "file": "f",
            "digest": "0",
            "topics": 5,
            "articles": 5,
            "summaries": 9,
            "left_out": 0,
            "seen": ["0"],
        },
        "figures": [],
        "made_with": "0",
    } | changes


@pytest.fixture
def judge_file(tmp_path):
    def write(**changes):
        path = tmp_path / "judge.json"
        path.write_text(json.dumps(saved(**changes)))
        return path

    return write


def opened(path):
    return open_judge("mine", CombinedJudge(kind="combined", file=path))


def said(judge, *texts, reference="the ferry is cheap"):
    return judge.score([JudgeInput(text, "r", text, True, reference) for text in texts])


def test_the_line_worked_by_hand(judge_file):
    half, all_of_it = said(opened(judge_file()), "ferry costs", "the ferry")
    # both of 2 words; of "ferry costs" one is in the source, and all of "the ferry" are
    assert half.score == pytest.approx(0.5 - 0.1 * math.log(2), abs=1e-6)
    assert all_of_it.score == pytest.approx(0.5 + 0.4 - 0.1 * math.log(2), abs=1e-6)
    assert json.loads(half.raw) == {"scores": {"precision": 0.5}}
    # a precision of 1 is above all that it was fitted to
    assert json.loads(all_of_it.raw) == {"scores": {"precision": 1.0}, "beyond_training": ["precision"]}


def test_claims_are_counted_over_sentences():
    # "The ferry is cheap," and "and the nurses need it" of the first sentence, and the second whole
    found = counts("The ferry is cheap, and the nurses need it. It is loud.", "a b")
    assert found == {"log-words": math.log(12), "log-source-words": math.log(2), "log-claims": math.log(3)}
    assert set(counts("", "").values()) == {0.0}


def test_shares_are_cut_off_at_0_and_1(judge_file):
    judge = opened(judge_file(intercept=2.0))
    assert [each.score for each in said(judge, "ferry costs")] == [1.0]
    assert [each.score for each in said(opened(judge_file(intercept=-2.0)), "ferry costs")] == [0.0]
    assert (judge.low, judge.high, judge.against) == (0.0, 1.0, "source")


def test_what_a_judge_leaves_unscored_is_unscored_and_stops_no_other(judge_file):
    none, one = said(opened(judge_file()), "\u0444\u0436\u044f", "ferry costs")
    assert (none.score, none.unscored) == (None, "precision: no words that ROUGE reads (a-z, 0-9)")
    assert one.score is not None


def test_what_its_judges_said_comes_from_the_cache_and_goes_there(judge_file, tmp_path):
    source, texts = "the ferry is cheap", ("ferry costs", "the ferry")
    inputs = [JudgeInput(text, "r", text, True, source) for text in texts]

    def judged(file, **changes):
        return judge_together(
            [opened(judge_file(**changes))], inputs, lambda _, items: items, cache_file=tmp_path / file
        )

    def scores_in(judgements):
        return [json.loads(each.raw)["scores"]["precision"] for each in judgements]

    # "ferry" of "ferry costs" is in the source: half of its words; a score of .25 can come from the cache alone
    with closing(VerdictCache(tmp_path / "old")) as cache:
        cache.keep(SIGNATURE, {(source, "ferry costs"): Verdict(0.25)})
    assert scores_in(judged("old")) == [0.25, 1.0]
    first = judged("new")
    assert first == judged("new") and scores_in(first) == [0.5, 1.0]
    with closing(VerdictCache(tmp_path / "new")) as cache:
        assert {key[1]: verdict.score for key, verdict in cache.find(SIGNATURE, [(source, t) for t in texts]).items()} == {
            "ferry costs": 0.5, "the ferry": 1.0,
        }  # fmt: skip
    # asked alone it gives the very same
    assert [each.score for each in first] == [each.score for each in opened(judge_file()).score(inputs)]


def test_a_judge_that_is_not_the_one_of_the_training_is_refused(judge_file):
    members = [{"name": "precision", "options": OPTIONS, "signature": SIGNATURE.replace("v:3", "v:0")}]
    path = judge_file(members=members)
    with pytest.raises(UnfitModelError, match=r"'precision' was .*v:0 and is .*v:3\. Train it again with") as refused:
        opened(path)
    assert refused.value.exit_code == 2
    # and preflight's check of the file says the same
    check, *_ = JUDGES["combined"].checks("mine", CombinedJudge(kind="combined", file=path))
    assert check.key == "file"
    with pytest.raises(UnfitModelError, match="Train it again"):
        check.run()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "evenhand-combined-judge", "version": 2}, "trains it again: is a trained judge of another version"),
        ({"format": "other"}, "calls itself 'other', not 'evenhand-combined-judge/3'"),
        ({"members": []}, "'members': "),
        ({"features": []}, r"its features are \[\], but its judges \['precision'\]"),
        ({"more": 1}, "'more': is not a key"),
        ({"intercept": None}, "'intercept': "),
        ({"members": [{"name": "precision", "options": OPTIONS | {"type": "rouge9"}, "signature": ""}]}, "'precision' is wrong"),
        ({"members": [{"name": "precision", "options": {"kind": "consensus"}, "signature": ""}]}, "'precision' is wrong"),
        ({"members": [{"name": "precision", "options": {"kind": "combined", "file": "x"}, "signature": ""}]}, "is wrong"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_trained_judge_is_refused_with_its_name(judge_file, changes, message):
    path = judge_file(**changes)
    with pytest.raises(DataError, match=message) as refused:
        opened(path)
    assert str(path) in str(refused.value)


def test_a_file_that_is_not_there_is_a_mistake_in_the_recipe_and_breaks_nothing_else(tmp_path):
    options = CombinedJudge(kind="combined", file=tmp_path / "none.json")
    assert (options.libraries, options.models, options.language_models, options.bases) == ((), {}, {}, [])
    assert options.purpose is None
    (check,) = JUDGES["combined"].checks("mine", options)
    with pytest.raises(DataError, match=r"none\.json"):
        check.run()


def test_signature_is_the_files_content(judge_file):
    first = opened(judge_file()).signature
    assert opened(judge_file()).signature == first
    assert opened(judge_file(intercept=0.6)).signature != first
    assert first.startswith("faithfulness|judge:combined|file:")


ENCODER = {"kind": "alignment", "model": "org/encoder"}
NLI = {"kind": "alignment", "aligner": "nli", "model": "org/nli"}
ASKING = {"kind": "rubric", "rubric": "coverage", "model": {"name": "org/writer"}}


@pytest.fixture
def on_models(judge_file):
    """A file of judges on models that are not there."""

    def write(**options):
        members, features = [], []
        for name, section in options.items():
            judge = open_judge(name, TypeAdapter(JudgeOptions).validate_python(section))
            members.append({"name": name, "options": section, "signature": judge.signature})
            features.append({"name": name, "coefficient": 1.0, "mean": 0.0, "scale": 1.0, "least": 0.0, "most": 1.0})
        return judge_file(members=members, features=features)

    return write


def test_it_answers_for_the_judges_in_its_file(on_models):
    options = CombinedJudge(kind="combined", file=on_models(near=ENCODER, entailed=NLI, graded=ASKING))
    assert options.purpose == "faithfulness"
    assert options.models == {"file.near.model": "org/encoder", "file.entailed.model": "org/nli"}
    assert options.libraries == ("sentence_transformers", "torch", "transformers")
    assert options.language_models["file.graded"].model.name == "org/writer"
    assert options.bases == ["the model org/encoder", "the model org/nli", "the model org/writer"]
    assert [each.below for each in JUDGES["combined"].readers(options)] == ["file.entailed.model"]
    keys = [check.key for check in JUDGES["combined"].checks("mine", options)]
    assert keys == ["file", "file.graded.template"]


def test_on_one_model_it_is_asked_beside_others_on_it_and_on_several_by_itself(on_models):
    path = on_models(near=ENCODER)
    recall = load_judges_of({"mine": {"kind": "combined", "file": str(path)}, "near": ENCODER}, path.parent)
    mine, near = open_judges(recall)
    assert mine.loads == near.loads != ""
    several = opened(on_models(near=ENCODER, entailed=NLI))
    assert several.loads not in ("", near.loads)
    several.close()
    several.close()
    assert opened(on_models(rouge=OPTIONS)).loads == ""


def load_judges_of(sections, folder):
    path = folder / "judges.yaml"
    path.write_text(json.dumps({"judges": sections}))
    return load_judges(path)


def test_records_of_features_need_their_judges():
    assert Combination.model_validate(saved()).members[0].name == "precision"
    twice = saved()["features"][:1] * 2
    with pytest.raises(ValueError, match="its features are"):
        Combination.model_validate(saved(features=twice))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"sign": "down"}, "precision was held to go down, but its coefficient is 0.2"),
        ({"least": 1.0}, "the least of precision is 1, above its most, 0.9"),
    ],
)
def test_a_line_that_breaks_its_own_word_is_refused(judge_file, changes, said):
    first, *others = saved()["features"]
    with pytest.raises(DataError, match=said):
        opened(judge_file(features=[first | changes, *others]))
