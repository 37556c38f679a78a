"""Reports say what their judges are worth, and gates act on language models only where that is known."""

import io

import pytest
from calibrated import accused, make_judge, write_calibration
from rich.console import Console

from evenhand.config import Recipe
from evenhand.config.judges import JudgeOptions
from evenhand.errors import DataError
from evenhand.evaluation.gate.calibrated import refuse_llm_units, refuse_uncalibrated
from evenhand.evaluation.gate.limits import GateRequest, parse_limit
from evenhand.evaluation.pages import terminal
from evenhand.evaluation.worth import read_worth, worth_blocks
from evenhand.judges import open_judge
from evenhand.judges.likeness import vocabulary
from evenhand.text import fold

RUBRIC = {"kind": "rubric", "rubric": "coverage", "model": {"name": "tiny"}, "backend": {"backend": "scripted"}}
JUDGES = {"grade": RUBRIC, "contract": {"kind": "contract"}}


def recipe(tmp_path, *calibration):
    return Recipe.model_validate({
        "name": "t", "output": tmp_path / "run", "model": {"name": "none"}, "rounds": 0, "judges": JUDGES,
        "generate": {"backend": "scripted", "plans": {"plain": {}}}, "reward": {"judges": ["contract"]},
        "evaluation": {"judges": list(JUDGES)}, "calibration": calibration,
    })  # fmt: skip


def shown(worth):
    console = Console(file=io.StringIO(), width=100)
    console.print(terminal.fragment(tuple(worth_blocks(worth))))
    return fold(console.file.getvalue())


@pytest.fixture
def signature(tmp_path):
    options: JudgeOptions = recipe(tmp_path).judges["grade"]
    return open_judge("grade", options).signature


def test_a_page_without_a_calibration_says_so_and_what_makes_one(tmp_path, signature):
    worth = read_worth([recipe(tmp_path)], {"grade": signature, "contract": "contract|judge:contract"})
    # a judge of form needs none
    assert worth.unknown == ("grade",)
    assert "No calibration is known of grade" in shown(worth) and "evenhand judges audit SETS" in shown(worth)


def test_a_page_carries_agreement_beside_length_and_accusations(tmp_path, signature):
    judge = make_judge(signature, own=0.35, length=0.3, probes=(accused("injection", "orders raise it"),))
    known = write_calibration(tmp_path / "calibration.json", judge)
    worth = read_worth([recipe(tmp_path, known)], {"grade": signature})
    assert worth.known == {"grade": judge} and not worth.unknown
    assert "0.35" in shown(worth) and "no clear difference" in shown(worth) and "injection" in shown(worth)
    assert "sets.jsonl: 25 articles" in shown(worth)


def test_a_page_says_which_calibration_is_of_documents_of_another_kind(tmp_path, signature):
    kitchen = {f"t{n}": ["simmer garlic butter saucepan oven recipe flavour whisk knife"] for n in range(8)}
    known = write_calibration(tmp_path / "calibration.json", make_judge(signature), about=vocabulary(kitchen))
    assert "was calibrated on other documents" in shown(read_worth([recipe(tmp_path, known)], {"grade": signature}))
    write_calibration(known, make_judge(signature))
    assert "calibrated on" not in shown(read_worth([recipe(tmp_path, known)], {"grade": signature}))


def test_pages_of_judges_that_measure_neither_have_no_such_section(tmp_path):
    assert not list(worth_blocks(read_worth([recipe(tmp_path)], {"contract": "contract|judge:contract"})))
    assert not list(worth_blocks(None))


def asked(*limits):
    return GateRequest(tuple(map(parse_limit, limits)), False)


def test_a_gate_on_grades_of_an_unknown_language_model_is_refused(tmp_path, signature):
    with pytest.raises(
        DataError, match=r"mean\(grade\) < 3.*: judge 'grade' asks a language model, and no calibration"
    ):
        refuse_uncalibrated(asked("mean(grade) < 3", "rate(contract kept) < 0.9"), recipe(tmp_path))
    known = write_calibration(tmp_path / "calibration.json", make_judge(signature))
    refuse_uncalibrated(asked("mean(grade) < 3"), recipe(tmp_path, known))
    for worthless, said in (
        (make_judge(signature, own=0.1), "no agreement"),
        (make_judge(signature, is_constant=True), "constant"),
    ):
        write_calibration(known, worthless)
        with pytest.raises(DataError, match=f"mean.grade. < 3.*of its coverage its calibration says: {said}"):
            refuse_uncalibrated(asked("mean(grade) < 3"), recipe(tmp_path, known))
    # other numbers of the same page need none
    refuse_uncalibrated(asked("mean(contract) < 0.9"), recipe(tmp_path))
    # ratings correct what the judge says, so nothing of it needs to be known
    refuse_uncalibrated(asked("people_mean(grade) < 3", "worst_people_gap(grade) < -1"), recipe(tmp_path))
    refuse_uncalibrated(None, recipe(tmp_path))


def test_an_audits_gate_does_not_act_on_units_of_a_language_model():
    with pytest.raises(DataError, match="rests on units that a language model makes"):
        refuse_llm_units(asked("worst_gap(coverage) < -0.05"), is_by_model=True)
    refuse_llm_units(asked("worst_gap(shares) < -0.05"), is_by_model=True)
    refuse_llm_units(asked("worst_gap(coverage) < -0.05"), is_by_model=False)
