"""A loop refuses a reward of judges that are not known, or are not worth more than length."""

import pytest
from calibrated import make_judge, write_calibration

from evenhand.config import Recipe
from evenhand.config.judges import RougeJudge
from evenhand.config.task import CorpusSection
from evenhand.corpora.reader import load_corpus
from evenhand.errors import RecipeError
from evenhand.judges import open_judge
from evenhand.judges.likeness import vocabulary
from evenhand.preflight import preflight

FIT = {"kind": "rouge", "measure": "recall"}


@pytest.fixture(autouse=True)
def has_rouge():
    pytest.importorskip("rouge_score")


@pytest.fixture
def signature():
    return open_judge("fit", RougeJudge.model_validate(FIT)).signature


def recipe(tmp_path, limit, calibration=(), judges=None):
    judges = judges or {"fit": FIT}
    return Recipe.model_validate({
        "name": "t", "output": tmp_path / "run", "model": {"name": "none"}, "rounds": 0, "judges": judges,
        "generate": {"backend": "scripted", "plans": {"plain": {}}}, "reward": {"judges": list(judges)},
        "evaluation": {"judges": list(judges)}, "calibration": calibration,
        "limits": {"judge": limit} if limit is not None else {},
    })  # fmt: skip


ABOVE = {"calibrated": True, "above": "length"}


def test_a_judge_that_is_above_length_may_reward(tmp_path, signature):
    known = write_calibration(tmp_path / "calibration.json", make_judge(signature, own=0.6, length=0.3))
    preflight(recipe(tmp_path, ABOVE, str(known)))
    # the folder stands for its file, and nothing is asked where there is no limit
    preflight(recipe(tmp_path, ABOVE, [str(tmp_path)]))
    preflight(recipe(tmp_path, None))


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        (
            {"own": 0.35, "length": 0.3},
            "by sets.jsonl (25 articles, 2026-11-23) its agreement with coverage within articles is 0.35 (0.25 to 0.45) and that "
            "of length 0.30: 0.05 more (-0.05 to 0.15) is not clearly above length; name another judge",
        ),
        ({"own": 0.05, "length": 0.3}, "0.05 (-0.05 to 0.15), so that no agreement could be shown"),
        ({"own": 0.6, "length": 0.3, "is_constant": True}, "it gives every summary the same score"),
    ],
)
def test_a_judge_that_is_not_above_length_is_refused_with_its_figures(tmp_path, signature, judge, said):
    known = write_calibration(tmp_path / "calibration.json", make_judge(signature, **judge))
    with pytest.raises(RecipeError) as caught:
        preflight(recipe(tmp_path, ABOVE, str(known)))
    assert "key 'limits.judge'" in str(caught.value) and said in str(caught.value)
    # what is known may reward, however little it is worth, where no more is demanded
    preflight(recipe(tmp_path, {"calibrated": True}, str(known)))


def test_a_judge_that_differs_by_anything_is_another_judge(tmp_path, signature):
    known = write_calibration(tmp_path / "calibration.json", make_judge(signature + "|more"))
    with pytest.raises(
        RecipeError, match=r"judges.fit is not in .*calibration.json. It has a judge 'fit' that differs"
    ):
        preflight(recipe(tmp_path, {"calibrated": True}, str(known)))


def test_judges_of_neither_attribute_are_not_held_to_it_but_one_must_be(tmp_path, signature):
    known = write_calibration(tmp_path / "calibration.json", make_judge(signature, own=0.6))
    preflight(recipe(tmp_path, ABOVE, str(known), {"fit": FIT, "contract": {"kind": "contract"}}))
    with pytest.raises(RecipeError, match="no judge of the reward is to measure coverage or faithfulness"):
        preflight(recipe(tmp_path, ABOVE, str(known), {"contract": {"kind": "contract"}}))


def test_a_calibration_that_cannot_be_read_is_said_at_its_key(tmp_path):
    with pytest.raises(RecipeError, match=r"key 'calibration': .*evenhand judges audit"):
        preflight(recipe(tmp_path, None, str(tmp_path / "none.json")))


def test_a_calibration_of_another_purpose_is_none_of_this_one(tmp_path, signature):
    known = write_calibration(tmp_path / "calibration.json", make_judge(signature, own=0.6, purpose="faithfulness"))
    with pytest.raises(RecipeError, match="has it as a judge of faithfulness, and here it is to measure coverage"):
        preflight(recipe(tmp_path, ABOVE, str(known)))


def test_every_file_that_has_a_judge_must_say_that_it_is_above(tmp_path, signature):
    good = write_calibration(tmp_path / "good.json", make_judge(signature, own=0.6))
    bad = write_calibration(tmp_path / "bad.json", make_judge(signature, own=0.35))
    with pytest.raises(RecipeError, match="not clearly above length"):
        preflight(recipe(tmp_path, ABOVE, [str(good), str(bad)]))


def test_a_reward_does_not_push_against_what_is_above_length(tmp_path, signature):
    known = write_calibration(tmp_path / "calibration.json", make_judge(signature, own=0.6))
    made = recipe(tmp_path, ABOVE, str(known))
    reward = made.reward.model_copy(update={"combine": "z_mean", "weights": {"fit": -1.0}})
    with pytest.raises(RecipeError, match="its weight -1 rewards what it scores low"):
        preflight(made.model_copy(update={"reward": reward}))


@pytest.mark.needs("plugins/judge_studies")
def test_a_judge_that_cannot_be_opened_is_said_at_its_own_key(tmp_path, signature):
    known = write_calibration(tmp_path / "calibration.json", make_judge(signature))
    absent = {"trained": {"kind": "combined", "file": str(tmp_path / "none.json")}}
    with pytest.raises(RecipeError) as caught:
        preflight(recipe(tmp_path, ABOVE, str(known), absent))
    assert "none.json: cannot be read" in str(caught.value) and "limits.judge" not in str(caught.value)


def test_limits_without_a_calibration_are_refused_by_the_recipe(tmp_path):
    with pytest.raises(ValueError, match=r"no calibration is named; write calibration: FOLDER/calibration\.json"):
        recipe(tmp_path, ABOVE)
    with pytest.raises(ValueError, match="write calibrated: true, or leave above out"):
        recipe(tmp_path, {"calibrated": False, "above": "length"}, "c.json")


def about(by_topic):
    return vocabulary({topic: [text] for topic, text in by_topic.items()})


def sample_topics():
    return {
        f"{each.id} {value}": "\n".join(d.text for d in each.documents if d.attributes["stance"] == value)
        for each in load_corpus(CorpusSection())
        for value in ("left", "right")
    }


def warnings_of(caplog, tmp_path, signature, words):
    known = write_calibration(tmp_path / "calibration.json", make_judge(signature), about=words)
    caplog.clear()
    with caplog.at_level("WARNING", logger="evenhand"):
        preflight(recipe(tmp_path, None, str(known)))
    records = (each for each in caplog.records if each.name.startswith("evenhand"))
    return [each.getMessage() for each in records if "calibrated on other documents" in each.getMessage()]


def test_a_calibration_on_documents_of_another_kind_is_named(tmp_path, signature, caplog):
    kitchen = {
        f"t{n}": f"simmer garlic butter saucepan oven recipe flavour whisk knife batch{chr(97 + n)}" for n in range(8)
    }
    (said,) = warnings_of(caplog, tmp_path, signature, about(kitchen))
    assert "sets.jsonl has 0 % of the words of a typical document set here" in said and "judges audit" in said


@pytest.mark.parametrize(
    "words", [sample_topics(), {}, dict(list(sample_topics().items())[:4])], ids=["like", "unknown", "few"]
)
def test_calibrations_on_like_documents_or_on_too_few_to_say_are_not(tmp_path, signature, caplog, words):
    assert not warnings_of(caplog, tmp_path, signature, about(words))
