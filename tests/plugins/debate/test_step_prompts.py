"""Prompts of the user's own for the steps of debate: what is put where, and what is refused."""

import pytest
from method_runs import first_prompts, make_recipe, own_prompts

from evenhand.config import CorpusSection, TaskSection
from evenhand.generate.requests import build_requests
from evenhand.plugins.debate import method


def test_agents_see_their_own_answer_and_those_of_the_others_as_they_are_listed(ferry, tmp_path):
    requests = build_requests([ferry], CorpusSection(), TaskSection())
    texts = {"revise": "{task}\nYours: {answer}\nOthers:\n{others}", "final": "{task}\nAll:\n{answers}"}
    more = {"item": "Agent {number}: {answer}", "join": "\n---\n"}
    made = own_prompts(tmp_path, texts, "debate", more, agents=3, final="final_agent")
    numbers = iter(range(1, 20))
    _, revise, final = first_prompts(method, requests[:1], made, lambda ask: f"The Left a{next(numbers)}.")
    task = requests[0].prompt[-1].content
    assert revise[-1].content == (
        f"{task}\nYours: The Left a1.\nOthers:\nAgent 2: The Left a2.\n---\nAgent 3: The Left a3."
    )
    assert final[-1].content.removeprefix(f"{task}\nAll:\n").split("\n---\n") == [
        f"Agent {n}: The Left a{n + 3}." for n in (1, 2, 3)
    ]


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
