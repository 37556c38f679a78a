"""Sections of fairness measures: options without effect are refused, and so is a reward that asks for unfairness."""

import pytest

from evenhand.config import Recipe
from evenhand.config.fairness import EntailerSection, MatcherSection, ValueSharesJudge

UER = {"kind": "value-shares", "matcher": {"kind": "words"}}
BASE = {
    "name": "study", "output": "runs/study", "model": {"name": "m"}, "generate": {"plans": {"plain": {}}},
    "evaluation": {"judges": ["fit"]},
}  # fmt: skip


def recipe(reward, scope="all", **judges):
    values = {"judges": {"fit": {"kind": "rouge"}, **judges}, "reward": reward, "task": {"scope": scope}}
    return Recipe.model_validate({**BASE, **values})


@pytest.mark.parametrize(
    ("section", "options", "match"),
    [
        (
            MatcherSection,
            {"kind": "ngram", "model": "m"},
            "no effect of model except with kind: bertscore or bartscore",
        ),
        (MatcherSection, {"kind": "words", "temperature": 1}, "no effect of temperature"),
        (MatcherSection, {"kind": "words", "stop_words": "english"}, "no effect of stop_words"),
        (MatcherSection, {"kind": "bartscore", "layer": 3}, "no effect of layer except with kind: bertscore"),
        (MatcherSection, {"kind": "bertscore", "tokens": "words", "stop_words": "english"}, "no effect of stop_words"),
        (MatcherSection, {"kind": "bertscore", "model": "m"}, "write baseline and layer for model 'm'"),
        (EntailerSection, {"kind": "words", "model": "m"}, "no effect of model except with kind: nli or encoder"),
        (EntailerSection, {"domain": "tweets"}, "no effect of domain except with units: llm"),
        (EntailerSection, {"units": "llm"}, "units: llm needs splitter"),
        (EntailerSection, {"units": "llm", "splitter": {"model": {"name": "m"}, "most_reply_tokens": 4096}}, "no room"),
        (ValueSharesJudge, {"kind": "value-shares", "tau": 0.5}, "no effect of tau except with measure: bur"),
        (ValueSharesJudge, {"kind": "value-shares", "target": {"left": 1}}, "name at least 2"),
        (
            ValueSharesJudge,
            {"kind": "value-shares", "target": {"left": 0, "right": 0}},
            "one of them with a weight above",
        ),
        (ValueSharesJudge, {"kind": "value-shares", "target": {"left": -1, "right": 1}}, "greater than or equal to 0"),
    ],
)
def test_option_that_nothing_reads_is_refused(section, options, match):
    with pytest.raises(ValueError, match=match):
        section.model_validate(options)


def test_models_are_the_published_ones_unless_named():
    assert MatcherSection(kind="bertscore").model_name == "FacebookAI/roberta-large"
    assert MatcherSection(kind="bartscore").model_name == "facebook/bart-large-cnn"
    assert MatcherSection(kind="bertscore", model="m", layer=2, baseline=0).model_name == "m"
    assert EntailerSection(kind="nli").model_name == "FacebookAI/roberta-large-mnli"
    assert (EntailerSection(kind="words").model_name, MatcherSection().model_name) == ("", "")


def test_section_written_out_whole_is_read_again():
    for section in (MatcherSection(kind="bertscore"), EntailerSection(kind="nli")):
        assert type(section).model_validate(section.model_dump(mode="json")) == section


@pytest.mark.parametrize("reward", [{"judges": ["fit", "uer"]}, {"judges": ["uer"], "combine": "z_mean"}])
def test_unfairness_without_weights_is_refused(reward):
    with pytest.raises(
        ValueError, match=r"'uer', where lower is fairer.*write combine: weighted or z_mean, and a weight below 0"
    ):
        recipe(reward, uer=UER)


def test_weights_above_0_for_unfairness_are_refused_together():
    weights = {"fit": 1, "uer": 0.5, "gaps": 2}
    with pytest.raises(ValueError, match=r"uer: 0\.5, gaps: 2, where lower is fairer"):
        recipe(
            {"judges": ["fit", "uer", "gaps"], "combine": "weighted", "weights": weights},
            uer=UER, gaps={"kind": "equal-coverage"},
        )  # fmt: skip


def test_unfairness_below_0_is_a_reward():
    reward = {"judges": ["fit", "uer"], "combine": "z_mean", "weights": {"fit": 1, "uer": -1}}
    assert recipe(reward, uer=UER).reward.weights["uer"] == -1


def test_weight_of_0_asks_for_nothing_and_is_the_baseline_of_a_study():
    reward = {"judges": ["fit", "uer"], "combine": "z_mean", "weights": {"fit": 1, "uer": 0}}
    assert recipe(reward, uer=UER).reward.weights["uer"] == 0


def test_judges_of_all_sides_are_refused_where_one_is_asked_for_all_together():
    reward = {"judges": ["fit", "uer", "gaps"], "combine": "weighted", "weights": {"fit": 1, "uer": -1, "gaps": -1}}
    judges = {"uer": UER, "gaps": {"kind": "equal-coverage"}}
    with pytest.raises(ValueError, match=r"judges\.uer of kind value-shares .* judges\.gaps of kind equal-coverage"):
        recipe(reward, "side", **judges)
    assert recipe(reward, "all", **judges).task.scope == "all"
