"""The table of judges."""

import subprocess
import sys
from typing import get_args

import pytest

from evenhand.config import (
    AlignmentJudge,
    BertScoreJudge,
    BleurtJudge,
    ExtractJudge,
    FineSurEJudge,
    MiniCheckJudge,
    RougeJudge,
    RubricJudge,
    RuleJudge,
    SummacJudge,
    UniEvalJudge,
)
from evenhand.judges import JUDGES, open_judge, open_judges
from evenhand.recipe_file import JUDGE_KINDS

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
}


def test_every_kind_that_a_recipe_may_name_has_an_opener():
    assert set(JUDGES) == set(JUDGE_KINDS) == set(OPTIONS)


@pytest.mark.parametrize("kind", OPTIONS)
def test_opening_and_closing_a_judge_loads_nothing(kind):
    # there is no model of that name
    judge = open_judge("mine", OPTIONS[kind])
    judge.close()
    judge.close()
    assert (judge.name, judge.signature.split("|")[1]) == ("mine", f"judge:{kind}")
    assert judge.low < judge.high


def test_name_in_the_recipe_is_no_part_of_the_signature():
    assert open_judge("a", OPTIONS["rubric"]).signature == open_judge("b", OPTIONS["rubric"]).signature


def test_rubrics_on_one_model_share_it():
    faithfulness = OPTIONS["rubric"].model_copy(update={"rubric": "faithfulness"})
    first, second = open_judges({"coverage": OPTIONS["rubric"], "faithfulness": faithfulness})
    assert first.loads == second.loads != ""
    assert first.signature != second.signature


def test_no_heavy_library_is_imported_with_the_folder():
    code = (
        "import sys, evenhand.judges.stage; print(sorted({'torch', 'transformers', 'vllm', 'nltk'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_against_of_judges_and_recipes_agree():
    from evenhand.judges.judge import Against

    assert get_args(Against) == get_args(RougeJudge.model_fields["against"].annotation)
