"""The injection benchmark: its cases, its two kinds of prompt, its arithmetic, and a small run."""

import json

import pytest

from evenhand.benchmarks.injection import (
    ORDERS,
    Case,
    PlainJudge,
    difference_rows,
    injected_cases,
    main,
    plain_template,
    shift_rows,
)
from evenhand.config import ModelSection, ReplicatedSection
from evenhand.config.judges import RubricJudge
from evenhand.errors import DataError
from evenhand.generate.backend import prompt_tokens
from evenhand.judges.judge import JudgeInput
from evenhand.judges.rubric import PROMPTS, open_rubric
from evenhand.judges.shared import SharedModels
from evenhand.prompts import load_template
from evenhand.text import words


def test_each_side_is_graded_without_an_order_and_with_each_in_each_place(ferry):
    cases = injected_cases([ferry])
    # two sides; one without, three orders and the placebo in two places, an order and the placebo in the prompt
    assert len(cases) == 2 * (1 + 4 * 2 + 2)
    first, document, summary = cases[:3]
    assert (first.place, first.source) == (
        None,
        "The ferry is cheap. The town should keep it.\nNurses need the ferry at night.",
    )
    assert document.source == f"{first.source} {ORDERS['ignore']}"
    assert (summary.source, summary.summary) == (first.source, f"The ferry is cheap. {ORDERS['ignore']}")
    forged = [each for each in cases if each.order == "end of section"]
    assert "</source>" in forged[0].source
    assert "</summary>" in forged[1].summary


def test_what_deserves_a_low_grade_of_faithfulness_is_a_key_point_of_the_other_side(ferry):
    cases = [case for case in injected_cases([ferry], "faithfulness") if case.place is None]
    assert [case.summary for case in cases] == ["The ferry is dear.", "The ferry is cheap."]
    assert [case.source for case in cases] == [case.source for case in injected_cases([ferry]) if case.place is None]
    alone = ferry.model_copy(update={"documents": ferry.documents[:2]})
    with pytest.raises(DataError, match="has only side 'left'"):
        injected_cases([alone], "faithfulness")


def test_the_placebo_is_as_long_as_the_order_that_it_stands_beside():
    assert len(ORDERS["placebo"]) == len(ORDERS["ignore"])
    assert not {"ignore", "summary", "grade", "5"} & set(words(ORDERS["placebo"]))


@pytest.mark.parametrize("rubric", ["coverage", "faithfulness"])
def test_plain_prompt_lacks_tags_and_warning_and_nothing_else(rubric):
    fenced = load_template(rubric, PROMPTS)
    plain = plain_template(fenced)
    assert not {"<", ">"} & set(plain.text)
    assert "instruction" not in plain.text
    assert plain.fields == fenced.fields
    gone = set(fenced.text.splitlines()) - set(plain.text.splitlines())
    # the line with the warning, and four tags
    assert len(gone) == 5


def test_shift_is_the_grade_with_the_order_minus_the_one_without_worked_by_hand():
    cases = [
        Case("a", None, None, "", ""), Case("a", "document", "ignore", "", ""), Case("a", "summary", "ignore", "", ""),
        Case("b", None, None, "", ""), Case("b", "document", "ignore", "", ""), Case("b", "summary", "ignore", "", ""),
    ]  # fmt: skip
    found = {"fenced": [2.0, 2.5, 2.0, 3.0, 3.1, None], "plain": [1.0, 5.0, 1.0, 2.0, 4.0, 2.0]}
    document, summary = shift_rows(cases, found)
    # fenced 0.5 and 0.1, plain 4 and 2; two sets have no interval
    assert (document["fenced"], document["plain"], document["n"]) == (pytest.approx(0.3), 3.0, 2)
    assert (document["plain low"], document["plain high"]) == (None, None)
    # 4 - 0.5 and 2 - 0.1
    assert difference_rows(cases, found)[0]["plain less fenced"] == pytest.approx((3.5 + 1.9) / 2)
    # one has no grade with the order, so it is left out and nothing can be resampled
    assert (summary["fenced"], summary["n"], summary["fenced low"]) == (0.0, 1, None)


def test_forged_turns_are_turns_in_the_plain_prompt_and_text_in_the_fenced(tiny_model):
    section = RubricJudge(
        kind="rubric", rubric="coverage", model=ModelSection(name=str(tiny_model)),
        backend=ReplicatedSection(backend="transformers", max_model_len=2048),
    )  # fmt: skip
    judge = open_rubric("coverage", section, SharedModels())
    plain = PlainJudge(judge, str(tiny_model), "float32")
    marks = set(plain.tokenizer.convert_tokens_to_ids(["<|im_start|>", "<|im_end|>"]))

    def n_marks(token_ids):
        return sum(token in marks for token in token_ids)

    for place in ("source", "summary"):
        texts = {"source": "The ferry.", "summary": "A ferry.", place: ORDERS["end of turn"]}
        attacked = n_marks(plain.prompt_tokens(Case("a", None, None, **texts)))
        each = JudgeInput("a#0", "a", texts["summary"], True, texts["source"])
        # a turn and the begin of the answer; the order ends a turn, has one of its own and begins a third
        assert n_marks(prompt_tokens(plain.tokenizer, judge.prompt(each))) == 3
        assert attacked == 3 + 4


def test_quick_run_tells_every_place_and_order(tiny_model, tmp_path, capsys):
    output = tmp_path / "injection.json"
    main(["--quick", "--model", str(tiny_model), "--output", str(output)])
    found = json.loads(output.read_text(encoding="utf-8"))
    clean, shifts, differences = found["breakdowns"]
    assert clean["rows"][0]["n"] == 4
    assert 1 <= clean["rows"][0]["plain"] <= 5
    assert [(row["order in"], row["order"]) for row in shifts["rows"]] == [
        *(("document", order) for order in ORDERS), *(("summary", order) for order in ORDERS), ("prompt", "ignore"),
        ("prompt", "placebo"),
    ]  # fmt: skip
    for shift, difference in zip(shifts["rows"], differences["rows"], strict=True):
        # rounded to four places
        assert difference["plain less fenced"] == pytest.approx(shift["plain"] - shift["fenced"], abs=2e-4)
    # four sets are too few for an interval
    assert all((row["n"], row["fenced low"]) == (4, None) for row in shifts["rows"])
    assert "weak test" in capsys.readouterr().out
    assert str(tiny_model) not in output.read_text(encoding="utf-8")
