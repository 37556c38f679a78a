"""The table of judges."""

import math
import subprocess
import sys
from typing import get_args

import pytest

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
from evenhand.plugins.extract.sections import ExtractJudge
from evenhand.plugins.opinions.sections import ContrastJudge, OpinionGraphJudge
from evenhand.plugins.released.sections import (
    BertScoreJudge,
    BleurtJudge,
    FineSurEJudge,
    MiniCheckJudge,
    SummacJudge,
    UniEvalJudge,
)

OPTIONS = {
    "rubric": RubricJudge.model_validate({"kind": "rubric", "rubric": "coverage", "model": {"name": "org/model"}}),
    "finesure": FineSurEJudge.model_validate({"kind": "finesure", "model": {"name": "org/model"}}),
    "extract": ExtractJudge.model_validate(
        {"kind": "extract", "model": {"name": "org/model"}, "encoder": "org/encoder", "nli": "org/nli"}
    ),
    "alignment": AlignmentJudge(kind="alignment", model="org/model"),
    "bertscore": BertScoreJudge(kind="bertscore", model="org/model"),
    "summac": SummacJudge(kind="summac", model="org/model"),
    "unieval": UniEvalJudge(kind="unieval", model="org/model"),
    "minicheck": MiniCheckJudge(kind="minicheck", model="org/model"),
    "bleurt": BleurtJudge(kind="bleurt", model="org/model"),
    "rouge": RougeJudge(kind="rouge"),
    "length": RuleJudge(kind="length"),
    "contract": RuleJudge(kind="contract"),
    "consensus": ConsensusJudge(kind="consensus"),
    "value-shares": ValueSharesJudge.model_validate({"kind": "value-shares", "matcher": {"kind": "words"}}),
    "equal-coverage": EqualCoverageJudge.model_validate(
        {"kind": "equal-coverage", "entailer": {"kind": "nli", "model": "org/model"}}
    ),
    "opinion-graph": OpinionGraphJudge(kind="opinion-graph"),
    "contrast": ContrastJudge.model_validate({"kind": "contrast", "entailer": {"model": "org/model"}}),
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


def test_judges_that_read_one_classifier_or_encoder_hold_it_once():
    nli = {
        "alignment": AlignmentJudge(kind="alignment", aligner="nli", model="org/nli"),
        "summac": SummacJudge(kind="summac", model="org/nli"),
    }
    models = SharedModels()
    alignment, summac, extract, encoder = (
        open_judge(name, options, models)
        for name, options in {
            **nli, "extract": OPTIONS["extract"], "encoder": AlignmentJudge(kind="alignment", model="org/encoder"),
        }.items()
    )  # fmt: skip
    similarity, entailment = extract._extractors[1:3]
    assert alignment.loads == summac.loads == entailment._model.loads
    assert encoder.loads == similarity._model.loads
    other = SummacJudge(kind="summac", model="org/nli", label="yes")
    assert open_judge("other", other, models).loads != summac.loads


def test_revisions_of_aligners_are_held_apart():
    models = SharedModels()
    judges = [
        open_judge("judge", AlignmentJudge(kind="alignment", aligner=aligner, model="org/m", revision=revision), models)
        for aligner in ("nli", "encoder")
        for revision in (None, "v2")
    ]
    assert len({judge.loads for judge in judges}) == 4
    section = OPTIONS["extract"].model_copy(
        update={"nli": "org/m", "nli_revision": "v2", "encoder": "org/m", "encoder_revision": "v2"}
    )
    similarity, entailment = open_judge("judge", section, models)._extractors[1:3]
    assert (entailment._model.loads, similarity._model.loads) == (judges[1].loads, judges[3].loads)


@pytest.mark.parametrize("kind", ["length", "contract"])
def test_text_that_a_rule_does_not_read_is_refused(kind):
    with pytest.raises(ValueError, match="no effect of against except with a judge that reads the text"):
        RuleJudge(kind=kind, against="opposing")


@pytest.mark.parametrize("kind", ["alignment", "bertscore", "summac", "unieval", "minicheck", "bleurt"])
def test_revision_of_a_model_is_part_of_the_signature_and_of_what_is_loaded(kind):
    options = OPTIONS[kind].model_copy(update={"model": "org/model"})
    plain = open_judge("judge", options)
    pinned = open_judge("judge", options.model_copy(update={"revision": "v2"}))
    assert "|model:org/model@v2|" in pinned.signature
    assert plain.signature == pinned.signature.replace("@v2", "")
    assert plain.loads != pinned.loads


def test_no_heavy_library_is_imported_with_the_folder():
    code = (
        "import sys, evenhand.judges.stage; print(sorted({'torch', 'transformers', 'vllm', 'nltk'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_against_of_judges_and_recipes_agree():
    from evenhand.config.needs import Against

    sections = (RougeJudge, OpinionGraphJudge, ConsensusJudge)
    texts, documents, candidates = (section.model_fields["against"].annotation for section in sections)
    # "sources" and "request" are no choices: they are what the opinion graph and functions are given
    assert get_args(Against) == (*get_args(texts), *get_args(documents), "sources", *get_args(candidates), "request")


def test_measures_on_one_encoder_share_it_with_other_judges():
    judges = open_judges(
        {
            "coverage": EqualCoverageJudge(kind="equal-coverage"),
            "contrast": ContrastJudge(kind="contrast"),
            "fit": AlignmentJudge(kind="alignment"),
        }
    )
    assert len({judge.loads for judge in judges}) == 1
