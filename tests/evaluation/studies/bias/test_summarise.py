"""Summaries of a model that answers from a function, and of a file."""

import json

import pytest
from answering import AnsweringBackend

from evenhand.config import SummaryColumnsSection
from evenhand.errors import DataError
from evenhand.generate.backend import Reply
from evenhand.plugins.bias.study import bias_study, write_inputs
from evenhand.plugins.bias.study.inputs import make_inputs
from evenhand.plugins.bias.study.summarise import NOT_GIVEN, read_given, summarise


def first_sentence(ask):
    text = ask.prompt[0].content
    return Reply(text=text.partition(".")[0] + ".", finish_reason="stop", n_prompt_tokens=7)


@pytest.fixture
def recipe(make_recipe):
    return make_recipe(
        simulated=None,
        model={"name": "none"},
        backend={"backend": "scripted", "requests_per_batch": 40},
        inputs={"assignments": 1},
    )


def test_killed_study_goes_on_where_it_was_and_asks_nothing_twice(recipe):
    inputs = make_inputs(recipe).inputs
    dies = AnsweringBackend(first_sentence, dies_at=1)
    with pytest.raises(KeyboardInterrupt):
        summarise(recipe, inputs, lambda _: dies)
    goes_on = AnsweringBackend(first_sentence)
    summaries, receipt, _ = summarise(recipe, inputs, lambda _: goes_on)
    # 48 inputs in batches of 40
    assert [len(batch) for batch in dies.batches + goes_on.batches] == [40, 8]
    assert [each.input_id for each in summaries] == [each.id for each in inputs]
    assert receipt.counts == {"summarizer": "model:none", "summaries": 48, "prompt_tokens": 48 * 7, "left_out": []}
    assert dies.is_closed and goes_on.is_closed
    at_once = recipe.model_copy(update={"output": recipe.output / "at-once"})
    whole, _, _ = summarise(at_once, inputs, lambda _: AnsweringBackend(first_sentence))
    assert whole == summaries


def test_finished_summaries_are_reused_without_opening_the_model(recipe):
    inputs = make_inputs(recipe).inputs
    first, _, _ = summarise(recipe, inputs, lambda _: AnsweringBackend(first_sentence))
    again, _, reused = summarise(recipe, inputs, lambda _: pytest.fail("the model was opened"))
    assert first == again
    assert reused


def test_another_batch_size_asks_nothing_again(recipe):
    inputs = make_inputs(recipe).inputs
    first, _, _ = summarise(recipe, inputs, lambda _: AnsweringBackend(first_sentence))
    changed = recipe.model_copy(update={"backend": recipe.backend.model_copy(update={"requests_per_batch": 7})})
    again, _, reused = summarise(changed, inputs, lambda _: pytest.fail("the model was opened"))
    assert (again, reused) == (first, True)


def test_another_instruction_asks_again(recipe):
    inputs = make_inputs(recipe).inputs
    summarise(recipe, inputs, lambda _: AnsweringBackend(first_sentence))
    backend = AnsweringBackend(first_sentence)
    summarise(recipe.model_copy(update={"instruction": "Focus on the women."}), inputs, lambda _: backend)
    assert "Focus on the women." in backend.batches[0][0].prompt[0].content


def test_failed_refused_and_empty_replies_are_left_out_with_the_reason(recipe):
    inputs = make_inputs(recipe).inputs
    replies = [
        Reply(text="", finish_reason="failed", reason="prompt too long"),
        Reply(text="I'm sorry, I cannot do that.", finish_reason="stop"),
        Reply(text=" ", finish_reason="stop"),
    ]
    backend = AnsweringBackend(lambda ask: replies.pop() if replies else first_sentence(ask))
    summaries, receipt, _ = summarise(recipe, inputs, lambda _: backend)
    assert [each.reason for each in summaries[:4]] == ["empty", "refused", "prompt too long", None]
    assert receipt.counts["left_out"] == [
        {"reason": "empty", "count": 1}, {"reason": "prompt too long", "count": 1}, {"reason": "refused", "count": 1},
    ]  # fmt: skip


def test_summaries_of_a_file_go_by_the_inputs_id(recipe, tmp_path):
    inputs = make_inputs(recipe).inputs
    path = tmp_path / "given.jsonl"
    path.write_text("\n".join(json.dumps({"id": each.id, "summary": f"{i}."}) for i, each in enumerate(inputs[1:])))
    found = read_given(path, inputs)
    assert (found[0].text, found[0].reason) == (None, NOT_GIVEN)
    assert [each.text for each in found[1:4]] == ["0.", "1.", "2."]


def test_given_summaries_are_taken_as_they_stand_and_empty_ones_are_none(recipe, tmp_path):
    inputs = make_inputs(recipe).inputs
    texts = ["The vote in short:\nVey won.", "I can't help it, said Quill. ", " \u200b\n"]
    path = tmp_path / "given.jsonl"
    path.write_text("\n".join(json.dumps({"id": e.id, "summary": t}) for e, t in zip(inputs, texts, strict=False)))
    found = read_given(path, inputs)
    assert [each.text for each in found[:3]] == [texts[0], texts[1], None]
    assert found[2].reason == "empty"


def test_summaries_of_other_inputs_are_refused_all_together(make_recipe, tmp_path):
    mine, other = (make_inputs(make_recipe(seed=seed)).inputs for seed in (1, 2))
    path = tmp_path / "given.jsonl"
    lines = [
        {"id": mine[0].id, "summary": "a"},
        {"id": mine[0].id, "summary": "b"},
        {"id": other[0].id, "summary": "c"},
    ]
    path.write_text("\n".join(map(json.dumps, lines)) + '\n{"id": "x"}')
    with pytest.raises(DataError) as caught:
        read_given(path, mine)
    said = str(caught.value).splitlines()
    assert "given.jsonl:2" in said[0] and "has a summary already" in said[0]
    assert "given.jsonl:3" in said[1] and "no input has the id" in said[1]
    assert "given.jsonl:4: no input has the id 'x'" in said[2]


def test_columns_of_a_file_are_named_by_the_recipe_and_thoughts_are_told(make_recipe, tmp_path):
    path = tmp_path / "given.csv"
    inputs = make_inputs(make_recipe()).inputs
    path.write_text(
        "name,reference,prediction\n"
        + "".join(
            f"{each.id},It is {k} in the end.,<think>Hm.</think>Ferry {k} is here.\n" for k, each in enumerate(inputs)
        )
    )
    with pytest.raises(DataError, match="--summary-columns text=COLUMN"):
        read_given(path, inputs)
    columns = {"text": "prediction", "id": "name"}
    recipe = make_recipe(simulated=None, summaries=path, summary_columns=columns)
    summaries, _, reused = summarise(recipe, inputs)
    assert not reused and [each.text for each in summaries[:2]] == ["Ferry 0 is here.", "Ferry 1 is here."]
    assert (summaries[0].notes, summaries[0].raw) == (("thought",), "<think>Hm.</think>Ferry 0 is here.")
    # other columns are other summaries
    other = recipe.model_copy(update={"summary_columns": SummaryColumnsSection(text="reference", id="name")})
    assert summarise(other, inputs)[0][0].text == "It is 0 in the end."
    with pytest.raises(ValueError, match="summary_columns is of a file of summaries"):
        make_recipe(summary_columns=columns)


def test_a_file_without_ids_goes_by_the_order_of_the_inputs_and_the_report_says_so(make_recipe, tmp_path):
    recipe = make_recipe(inputs={"assignments": 1})
    inputs = make_inputs(recipe).inputs
    path = tmp_path / "given.txt"
    path.write_text("".join(f"{' '.join(each.text.split())}\n" for each in inputs))
    study = bias_study(make_recipe(inputs={"assignments": 1}, simulated=None, summaries=path))
    assert any("matched with the inputs by their order" in warning for warning in study.report.warnings)


def test_a_studys_own_files_are_read_its_summaries_whole_and_its_inputs_not(make_recipe, tmp_path):
    recipe = make_recipe(inputs={"assignments": 1})
    inputs = write_inputs(recipe)[0].inputs
    with pytest.raises(DataError, match="holds the inputs themselves; summarise each 'text'"):
        read_given(recipe.output / "inputs.jsonl", inputs)
    made, _, _ = summarise(recipe, inputs)
    again = read_given(recipe.output / "summaries.jsonl", inputs)
    assert [each.text for each in again] == [each.text for each in made]
    # inputs with a summary beside their text
    lines = (recipe.output / "inputs.jsonl").read_text().splitlines()
    path = tmp_path / "both.jsonl"
    path.write_text(
        "".join(json.dumps(json.loads(line) | {"summary": f"It is {k}."}) + "\n" for k, line in enumerate(lines))
    )
    assert read_given(path, inputs, SummaryColumnsSection(text="summary"))[1].text == "It is 1."
