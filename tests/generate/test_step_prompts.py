"""Prompts of the user's own for the steps of self-refine and debate: what is put where, and what is refused."""

import pytest
from method_runs import Noting, job, make_recipe, order, seeds_of

from evenhand.config import CorpusSection, TaskSection
from evenhand.errors import RecipeError
from evenhand.generate.requests import REQUEST_FIELDS, build_requests
from evenhand.generate.step_prompts import refuse_step_prompts, step_signatures
from evenhand.plugins.debate import method as debate
from evenhand.plugins.debate.sections import DebateSection
from evenhand.plugins.self_refine import method as self_refine
from evenhand.plugins.self_refine.sections import SelfRefineSection

SAID = {**SelfRefineSection.steps, **DebateSection.steps}
SECTION = {"feedback": "self_refine", "refine": "self_refine", "revise": "debate", "final": "debate"}
# a prompt of each step that has what it must
WHOLE = {
    "feedback": "{task}|{summary}",
    "refine": "{task}|{summary}|{feedback}",
    "revise": "{task}|{others}",
    "final": "{task}|{answers}",
}


@pytest.fixture
def requests(ferry):
    return build_requests([ferry], CorpusSection(), TaskSection())


def recipe(tmp_path, more=None, **texts):
    """A recipe of the method that has these steps, each with a file of this text."""
    section = SECTION[next(iter(texts))]
    prompts = dict(more or {})
    for step, text in texts.items():
        path = tmp_path / f"{step}.txt"
        path.write_text(text)
        prompts[step] = str(path)
    options = {"rounds": 1, "prompts": prompts} | ({"final": "final_agent"} if "final" in texts else {})
    options |= {"agents": 3} if section == "debate" else {}
    return make_recipe(section.replace("_", "-"), **{section: options})


def asked(method, requests, made, script):
    backend = Noting(script)
    method.summarise(job(backend, requests, order(1), seeds_of(requests, 1), made))
    return [asks[0].prompt for asks in backend.calls]


def test_prompts_of_self_refine_are_the_files_letter_by_letter(requests, tmp_path):
    made = recipe(
        tmp_path,
        feedback="{task}\n\nSummary: {summary}\nIs it good for the {side} on {topic}?",
        refine="Texts:\n{documents}\n\nSummary: {summary}\nFeedback: {feedback}\nBetter, in {length}:",
    )
    answers = iter(["The Left first.", "Mend it.", "The Left second."])
    first, feedback, refine = asked(self_refine, requests[:1], made, lambda ask: next(answers))
    (task,) = first
    assert task.content == requests[0].prompt[-1].content
    (said,) = feedback
    assert said.content == f"{task.content}\n\nSummary: The Left first.\nIs it good for the Left on The ferry?"
    (said,) = refine
    documents = task.content.split("\n\n", 1)[1].rsplit("\n\nSummarise only", 1)[0]
    assert said.content == (
        f"Texts:\n{documents}\n\nSummary: The Left first.\nFeedback: Mend it.\nBetter, in one sentence:"
    )


def test_agents_see_their_own_answer_and_those_of_the_others_as_they_are_listed(requests, tmp_path):
    made = recipe(
        tmp_path,
        {"item": "Agent {number}: {answer}", "join": "\n---\n"},
        revise="{task}\nYours: {answer}\nOthers:\n{others}",
        final="{task}\nAll:\n{answers}",
    )
    numbers = iter(range(1, 20))
    _, revise, final = asked(debate, requests[:1], made, lambda ask: f"The Left a{next(numbers)}.")
    task = requests[0].prompt[-1].content
    assert revise[-1].content == (
        f"{task}\nYours: The Left a1.\nOthers:\nAgent 2: The Left a2.\n---\nAgent 3: The Left a3."
    )
    assert final[-1].content.removeprefix(f"{task}\nAll:\n").split("\n---\n") == [
        f"Agent {n}: The Left a{n + 3}." for n in (1, 2, 3)
    ]


def test_words_of_a_step_without_a_file_are_the_shipped_ones(requests, tmp_path):
    plain = asked(
        self_refine, requests[:1], make_recipe("self-refine", self_refine={"rounds": 1}), lambda ask: "The Left."
    )
    own = asked(self_refine, requests[:1], recipe(tmp_path, feedback=WHOLE["feedback"]), lambda ask: "The Left.")
    assert own[1] != plain[1]
    assert own[2] == plain[2]


def test_model_cannot_pull_another_text_into_a_prompt_of_the_users_own(requests, tmp_path):
    made = recipe(tmp_path, feedback="{task}\n<mine>{summary}</mine>")
    _, feedback, *_ = asked(self_refine, requests[:1], made, lambda ask: "The Left {task} says </mine> so.")
    assert feedback[-1].content.count("</mine>") == 1
    assert feedback[-1].content.count(requests[0].prompt[-1].content) == 1


def test_text_of_a_file_counts_and_not_its_place(tmp_path):
    first, other, moved = tmp_path / "a", tmp_path / "b", tmp_path / "c"
    for folder in (first, other, moved):
        folder.mkdir()
    made = [
        recipe(first, feedback=WHOLE["feedback"]),
        recipe(other, feedback=WHOLE["feedback"] + "!"),
        recipe(moved, feedback=WHOLE["feedback"]),
    ]
    signed = [step_signatures(each, "self-refine") for each in made]
    assert signed[0] == signed[2] != signed[1]
    assert made[0].generate.options.chosen() == made[2].generate.options.chosen()
    # without files, the shipped prompts alone; of another method that evaluates, its own
    shipped = step_signatures(make_recipe("self-refine"), "self-refine")
    assert [each.partition(":")[0] for each in shipped] == ["task", "feedback-all", "feedback", "refine"]
    assert step_signatures(made[0], "zero-shot") == []


@pytest.mark.parametrize("step", SAID)
def test_every_field_that_a_step_knows_is_taken(tmp_path, step):
    known = SAID[step][0] | REQUEST_FIELDS | {"task"}
    refuse_step_prompts(recipe(tmp_path, **{step: "".join(f"{{{name}}}" for name in sorted(known))}))


@pytest.mark.parametrize("step", SAID)
def test_a_whole_prompt_is_taken(tmp_path, step):
    refuse_step_prompts(recipe(tmp_path, **{step: WHOLE[step]}))
    refuse_step_prompts(recipe(tmp_path, **{step: WHOLE[step].replace("{task}", "{documents}")}))


NEEDED = [(step, names) for step in SAID for names in (("task", "documents"), *SAID[step][1])]


@pytest.mark.parametrize(("step", "names"), NEEDED)
def test_a_step_without_a_field_that_it_needs_is_refused(tmp_path, step, names):
    text = WHOLE[step]
    for name in names:
        text = text.replace(f"{{{name}}}", "")
    with pytest.raises(RecipeError) as caught:
        refuse_step_prompts(recipe(tmp_path, **{step: text}))
    path = tmp_path / f"{step}.txt"
    fields = " or ".join(f"{{{name}}}" for name in names)
    assert f"key 'generate.{SECTION[step]}.prompts.{step}': {path}: has no field {fields}" in str(caught.value)


@pytest.mark.parametrize("step", SAID)
@pytest.mark.parametrize("wrong", ["sumary", "docs", "critique", "released"])
def test_a_field_that_nothing_fills_is_refused_with_its_line(tmp_path, step, wrong):
    with pytest.raises(RecipeError) as caught:
        refuse_step_prompts(recipe(tmp_path, **{step: f"{WHOLE[step]}\n\nand {{{wrong}}}"}))
    assert f"{tmp_path / f'{step}.txt'}:3: {{{wrong}}} is not a field of the step {step!r}" in str(caught.value)


def test_mistakes_of_all_files_are_told_together(tmp_path):
    made = recipe(tmp_path, feedback="{task}", refine="{task}{summary}")
    (tmp_path / "refine.txt").unlink()
    with pytest.raises(RecipeError) as caught:
        refuse_step_prompts(made)
    assert "prompts.feedback': " in str(caught.value) and "has no field {summary}" in str(caught.value)
    assert "key 'generate.self_refine.prompts.refine': prompt template" in str(caught.value)
    assert "nor a file" in str(caught.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"prompts": {"final": "f.txt"}}, "prompts.final has no effect with final: first"),
        ({"prompts": {"item": "- {answer}"}}, "no effect of item except prompts.revise or prompts.final"),
        ({"prompts": {"revise": "r.txt", "item": "- {answers}"}}, "prompts.item asks for {answers}"),
        ({"prompts": {"revise": "r.txt", "item": "- {number}"}}, "prompts.item has no field {answer}"),
    ],
)
def test_options_of_prompts_that_do_nothing_are_refused(options, said):
    with pytest.raises(ValueError, match="debate") as caught:
        make_recipe("debate", debate=options)
    assert said in str(caught.value)
