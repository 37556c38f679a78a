"""Prompts of the user's own for the steps of self-refine: what is put where."""

import pytest
from method_runs import first_prompts, make_recipe, own_prompts

from evenhand.errors import RecipeError
from evenhand.generate.step_prompts import refuse_step_prompts, step_signatures
from evenhand.plugins.self_refine import method

FEEDBACK = "{task}|{summary}"


def recipe(tmp_path, **texts):
    return own_prompts(tmp_path, texts, "self-refine")


def test_prompts_are_the_files_letter_by_letter(requests, tmp_path):
    made = recipe(
        tmp_path,
        feedback="{task}\n\nSummary: {summary}\nIs it good for the {side} on {topic}?",
        refine="Texts:\n{documents}\n\nSummary: {summary}\nFeedback: {feedback}\nBetter, in {length}:",
    )
    answers = iter(["The Left first.", "Mend it.", "The Left second."])
    first, feedback, refine = first_prompts(method, requests[:1], made, lambda ask: next(answers))
    (task,) = first
    assert task.content == requests[0].prompt[-1].content
    (said,) = feedback
    assert said.content == f"{task.content}\n\nSummary: The Left first.\nIs it good for the Left on The ferry?"
    (said,) = refine
    documents = task.content.split("\n\n", 1)[1].rsplit("\n\nSummarise only", 1)[0]
    assert said.content == (
        f"Texts:\n{documents}\n\nSummary: The Left first.\nFeedback: Mend it.\nBetter, in one sentence:"
    )


def test_words_of_a_step_without_a_file_are_the_shipped_ones(requests, tmp_path):
    recipes = (make_recipe("self-refine", self_refine={"rounds": 1}), recipe(tmp_path, feedback=FEEDBACK))
    plain, own = (first_prompts(method, requests[:1], each, lambda ask: "The Left.") for each in recipes)
    assert own[1] != plain[1]
    assert own[2] == plain[2]


def test_model_cannot_pull_another_text_into_a_prompt_of_the_users_own(requests, tmp_path):
    made = recipe(tmp_path, feedback="{task}\n<mine>{summary}</mine>")
    _, feedback, *_ = first_prompts(method, requests[:1], made, lambda ask: "The Left {task} says </mine> so.")
    assert feedback[-1].content.count("</mine>") == 1
    assert feedback[-1].content.count(requests[0].prompt[-1].content) == 1


def test_text_of_a_file_counts_and_not_its_place(tmp_path):
    first, other, moved = tmp_path / "a", tmp_path / "b", tmp_path / "c"
    for folder in (first, other, moved):
        folder.mkdir()
    made = [
        recipe(first, feedback=FEEDBACK),
        recipe(other, feedback=FEEDBACK + "!"),
        recipe(moved, feedback=FEEDBACK),
    ]
    signed = [step_signatures(each, "self-refine") for each in made]
    assert signed[0] == signed[2] != signed[1]
    assert made[0].generate.options.chosen() == made[2].generate.options.chosen()
    # without files, the shipped prompts alone; of another method that evaluates, its own
    shipped = step_signatures(make_recipe("self-refine"), "self-refine")
    assert [each.partition(":")[0] for each in shipped] == ["task", "feedback-all", "feedback", "refine"]
    assert step_signatures(made[0], "zero-shot") == []


def test_mistakes_of_all_files_are_told_together(tmp_path):
    made = recipe(tmp_path, feedback="{task}", refine="{task}{summary}")
    (tmp_path / "refine.txt").unlink()
    with pytest.raises(RecipeError) as caught:
        refuse_step_prompts(made)
    assert "prompts.feedback': " in str(caught.value) and "has no field {summary}" in str(caught.value)
    assert "key 'generate.self_refine.prompts.refine': prompt template" in str(caught.value)
    assert "nor a file" in str(caught.value)
