"""The table of judges."""

import math
from typing import get_args

import pytest
from conformance import of_plugins

from evenhand.config.fairness import EqualCoverageJudge, ValueSharesJudge
from evenhand.config.judges import (
    JUDGE_SECTIONS,
    AlignmentJudge,
    ConsensusJudge,
    RougeJudge,
    RubricJudge,
    RuleJudge,
)
from evenhand.judges import JUDGES, open_judge, open_judges
from evenhand.judges.shared import SharedModels

OPTIONS = {
    "rubric": RubricJudge.model_validate({"kind": "rubric", "rubric": "coverage", "model": {"name": "org/model"}}),
    "alignment": AlignmentJudge(kind="alignment", model="org/model"),
    "rouge": RougeJudge(kind="rouge"),
    "length": RuleJudge(kind="length"),
    "contract": RuleJudge(kind="contract"),
    "consensus": ConsensusJudge(kind="consensus"),
    "value-shares": ValueSharesJudge.model_validate({"kind": "value-shares", "matcher": {"kind": "words"}}),
    "equal-coverage": EqualCoverageJudge.model_validate(
        {"kind": "equal-coverage", "entailer": {"kind": "nli", "model": "org/model"}}
    ),
    **of_plugins("JUDGES"),
}


def test_every_kind_that_a_recipe_may_name_has_an_opener():
    assert set(JUDGES) == set(JUDGE_SECTIONS) >= set(OPTIONS)


@pytest.mark.parametrize("kind", OPTIONS)
def test_opening_and_closing_a_judge_loads_nothing(kind):
    # there is no model of that name
    judge = open_judge("mine", OPTIONS[kind])
    judge.close()
    judge.close()
    assert (judge.name, judge.signature.split("|")[1]) == ("mine", f"judge:{kind}")
    assert judge.low < judge.high


@pytest.mark.parametrize("kind", OPTIONS)
def test_a_recipe_says_the_scale_that_the_judge_has(kind):
    judge = open_judge("mine", OPTIONS[kind])
    assert OPTIONS[kind].scale == ((judge.low, judge.high) if math.isfinite(judge.high - judge.low) else None)


@pytest.mark.parametrize("changes", [{"mode": "binary"}, {"mode": "ternary"}, {"mode": "simple"}])
def test_the_scale_of_a_rubric_is_that_of_its_mode(changes):
    options = OPTIONS["rubric"].model_copy(update=changes)
    judge = open_judge("mine", options)
    assert options.scale == (judge.low, judge.high)


def test_a_regression_of_alignscore_has_no_scale():
    options = AlignmentJudge(kind="alignment", aligner="alignscore", model="checkpoint", mode="reg_sp")
    assert (options.scale, options.model_copy(update={"mode": "bin_sp"}).scale) == (None, (0.0, 1.0))


def test_name_in_the_recipe_is_no_part_of_the_signature():
    assert open_judge("a", OPTIONS["rubric"]).signature == open_judge("b", OPTIONS["rubric"]).signature


def test_rubrics_on_one_model_share_it():
    faithfulness = OPTIONS["rubric"].model_copy(update={"rubric": "faithfulness"})
    first, second = open_judges({"coverage": OPTIONS["rubric"], "faithfulness": faithfulness})
    assert first.loads == second.loads != ""
    assert first.signature != second.signature


def test_revisions_of_aligners_are_held_apart():
    models = SharedModels()
    judges = [
        open_judge("judge", AlignmentJudge(kind="alignment", aligner=aligner, model="org/m", revision=revision), models)
        for aligner in ("nli", "encoder")
        for revision in (None, "v2")
    ]
    assert len({judge.loads for judge in judges}) == 4


@pytest.mark.parametrize("kind", ["length", "contract"])
def test_text_that_a_rule_does_not_read_is_refused(kind):
    with pytest.raises(ValueError, match="no effect of against except with a judge that reads the text"):
        RuleJudge(kind=kind, against="opposing")


@pytest.mark.parametrize(
    "kind", [kind for kind, options in OPTIONS.items() if "revision" in type(options).model_fields]
)
def test_revision_of_a_model_is_part_of_the_signature_and_of_what_is_loaded(kind):
    options = OPTIONS[kind].model_copy(update={"model": "org/model"})
    plain = open_judge("judge", options)
    pinned = open_judge("judge", options.model_copy(update={"revision": "v2"}))
    assert "|model:org/model@v2|" in pinned.signature
    assert plain.signature == pinned.signature.replace("@v2", "")
    assert plain.loads != pinned.loads


def test_against_of_judges_and_recipes_agree():
    from evenhand.config.needs import Against

    sections = (RougeJudge, EqualCoverageJudge, ConsensusJudge)
    texts, documents, candidates = (section.model_fields["against"].annotation for section in sections)
    # no choices: what the opinion graph, judges that compare two by two, and functions are given
    others = ("source_and_candidates", "request")
    assert get_args(Against) == (*get_args(texts), *get_args(documents), "sources", *get_args(candidates), *others)


def test_measures_on_one_encoder_share_it_with_other_judges():
    judges = open_judges(
        {
            "coverage": EqualCoverageJudge(kind="equal-coverage"),
            "fit": AlignmentJudge(kind="alignment"),
        }
    )
    assert len({judge.loads for judge in judges}) == 1
