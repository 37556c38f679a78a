from pathlib import Path
from typing import Any

import pytest

from evenhand.errors import RecipeError
from evenhand.evaluation.study.runs import name_runs, refuse_unlike

DEBATE = "recipes/methods/debate.yaml"
ZERO_SHOT = "recipes/methods/zero-shot.yaml"
AGENTS = "generate.debate.agents=2,3"


def test_run_is_called_as_its_file_and_lies_in_the_folder():
    (run,) = name_runs([Path(ZERO_SHOT)], [], [], Path("out"))
    assert (run.label, run.recipe.output) == ("zero-shot", Path("out/runs/zero-shot"))


def test_without_a_folder_runs_lie_where_recipes_say():
    found = name_runs([Path(ZERO_SHOT), Path(DEBATE)], [], [AGENTS], None)
    assert [str(run.recipe.output) for run in found] == [
        "runs/methods/zero-shot", "runs/methods/debate-agents-2", "runs/methods/debate-agents-3",
    ]  # fmt: skip


def test_sweep_leaves_out_recipes_without_the_section():
    found = name_runs([Path(ZERO_SHOT), Path(DEBATE)], [], [AGENTS], Path("out"))
    assert [run.label for run in found] == ["zero-shot", "debate agents 2", "debate agents 3"]
    assert [run.recipe.generate.debate.agents for run in found[1:]] == [2, 3]


def test_sweeps_combine():
    found = name_runs([Path(DEBATE)], [], [AGENTS, "generate.debate.rounds=1,2"], Path("out"))
    assert [run.label for run in found] == [
        "debate agents 2 rounds 1", "debate agents 2 rounds 2", "debate agents 3 rounds 1", "debate agents 3 rounds 2",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("paths", "overrides", "sweeps", "text"),
    [
        ([ZERO_SHOT], [], [AGENTS], "no recipe has the section 'generate.debate'"),
        ([DEBATE], [], ["generate.debate.agents"], "write KEY=VALUE,VALUE"),
        ([DEBATE], [], ["generate.debate.agents=2,"], "write KEY=VALUE,VALUE"),
        ([DEBATE], [], ["generate.debate.agents=2,x"], "needs a whole number"),
        ([DEBATE], ["seed=none"], [], "seed"),
        ([ZERO_SHOT, ZERO_SHOT], [], [], "two runs are called 'zero-shot'"),
        (["no.yaml"], [], [], "no.yaml"),
    ],
)
def test_mistakes_are_told(paths: list[str], overrides: list[str], sweeps: list[str], text: str):
    with pytest.raises(RecipeError, match=text):
        name_runs([Path(path) for path in paths], overrides, sweeps, Path("out"))


def test_mistakes_are_told_together(tmp_path: Any):
    with pytest.raises(RecipeError) as caught:
        name_runs([tmp_path / "a.yaml", tmp_path / "b.yaml"], [], [], Path("out"))
    assert "a.yaml" in str(caught.value)
    assert "b.yaml" in str(caught.value)


def test_runs_that_cannot_be_compared_are_refused_before_any_work():
    judge = "evaluation.judges=[rouge1_recall]"
    runs = name_runs([Path(ZERO_SHOT)], [], [], Path("out"))
    runs += name_runs([Path(DEBATE)], ["corpus.test.limit=4", judge], [], Path("out"))
    with pytest.raises(RecipeError) as caught:
        refuse_unlike(runs, [9])
    # the fifth set has two sides
    assert "debate: 2 test requests are in this recipe or in 'zero-shot' only" in str(caught.value)
    assert "debate: the report judges are others" in str(caught.value)
    assert "no recipe asks for more than 3 candidates" in str(caught.value)


def test_shipped_methods_can_be_compared():
    folder = Path("recipes/methods")
    # those of the ROUGE proxy have the same report judges, though other rewards
    refuse_unlike(name_runs(sorted(folder.glob("*.yaml")), [], [], Path("out")), [1, 3])
