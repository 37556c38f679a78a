from pathlib import Path
from typing import Any

import pytest

from evenhand.errors import RecipeError
from evenhand.evaluation.report.comparison.runs import _Setting, name_runs, refuse_unlike, usual_budgets
from evenhand.evaluation.report.systems.systems import wrong_side_judges

DEBATE = "recipes/methods/debate.yaml"
ZERO_SHOT = "recipes/methods/zero-shot.yaml"
AGENTS = "generate.debate.agents=2,3"


def test_run_is_called_as_its_file_and_lies_in_the_folder():
    (run,) = name_runs([Path(ZERO_SHOT)], [], [], Path("out"))
    assert (run.label, run.recipe.output) == ("zero-shot", Path("out/runs/zero-shot"))


@pytest.mark.parametrize(
    ("sweep", "labels", "folders"),
    [
        (
            "generate.plans.greedy.top_p=0.5,0.95",
            ["zero-shot top_p 0.5", "zero-shot top_p 0.95"],
            ["zero-shot-top_p-0.5", "zero-shot-top_p-0.95"],
        ),
        ("seed=1, 2", ["zero-shot seed 1", "zero-shot seed 2"], ["zero-shot-seed-1", "zero-shot-seed-2"]),
    ],
)
def test_values_are_told_whole(sweep: str, labels: list[str], folders: list[str]):
    found = name_runs([Path(ZERO_SHOT)], [], [sweep], Path("out"))
    assert [run.label for run in found] == labels
    assert [run.recipe.output.name for run in found] == folders


def test_swept_paths_and_lists_make_folders_beside_each_other():
    sweeps = ["model.name=../up,a/b", 'corpus.sides=[left],["left", "right"]']
    found = name_runs([Path(ZERO_SHOT)], [], sweeps, Path("out"))
    assert [run.recipe.model.name for run in found] == ["../up", "../up", "a/b", "a/b"]
    assert [run.recipe.corpus.sides for run in found[:2]] == [("left",), ("left", "right")]
    assert {run.recipe.output.parent for run in found} == {Path("out/runs")}
    assert len({run.recipe.output for run in found}) == 4


@pytest.mark.needs("plugins/debate", "plugins/shuffled")
def test_sweep_leaves_out_recipes_without_the_section():
    found = name_runs([Path(ZERO_SHOT), Path(DEBATE)], [], [AGENTS], Path("out"))
    assert [run.label for run in found] == ["zero-shot", "debate agents 2", "debate agents 3"]
    assert [run.recipe.generate.debate.agents for run in found[1:]] == [2, 3]


@pytest.mark.needs("plugins/shuffled")
def test_null_is_a_value():
    found = name_runs(
        [Path(ZERO_SHOT.replace("zero-shot", "shuffled"))], [], ["generate.shuffled.rotations=2,null"], Path("out")
    )
    assert [run.label for run in found] == ["shuffled rotations 2", "shuffled rotations null"]
    assert [run.recipe.generate.shuffled.rotations for run in found] == [2, None]


@pytest.mark.needs("plugins/debate", "plugins/shuffled")
def test_sweeps_combine():
    found = name_runs([Path(DEBATE)], [], [AGENTS, "generate.debate.rounds=1,2"], Path("out"))
    assert [run.label for run in found] == [
        "debate agents 2 rounds 1", "debate agents 2 rounds 2", "debate agents 3 rounds 1", "debate agents 3 rounds 2",
    ]  # fmt: skip


@pytest.mark.needs("plugins/debate", "plugins/shuffled")
@pytest.mark.parametrize(
    ("paths", "overrides", "sweeps", "text"),
    [
        ([ZERO_SHOT], [], [AGENTS], "no recipe has the section 'generate.debate'"),
        ([DEBATE], [], ["generate.debate.agents"], "write KEY=VALUE,VALUE"),
        ([DEBATE], [], ["generate.debate.agents="], "write KEY=VALUE,VALUE"),
        ([DEBATE], [], ["generate.debate.agents=2,,3"], "write KEY=VALUE,VALUE"),
        ([DEBATE], [], ["generate.debate.agents=2,2"], "2 is there twice"),
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


@pytest.mark.needs("plugins/debate", "plugins/shuffled")
def test_runs_that_cannot_be_compared_are_refused_before_any_work():
    judge = "evaluation.judges=[rouge1_recall]"
    runs = name_runs([Path(ZERO_SHOT)], [], [], Path("out"))
    runs += name_runs([Path(DEBATE)], ["corpus.test.limit=11", judge], [], Path("out"))
    with pytest.raises(RecipeError) as caught:
        refuse_unlike(runs, [9])
    # the twelfth set has two sides
    assert "debate: 2 test requests are in this recipe or in 'zero-shot' only" in str(caught.value)
    assert "debate: the report judges are others" in str(caught.value)
    assert "no recipe asks for more than 3 candidates" in str(caught.value)


@pytest.mark.needs("plugins/debate", "plugins/shuffled")
def test_another_task_is_refused_before_any_work():
    runs = name_runs([Path(ZERO_SHOT)], [], [], Path("out"))
    runs += name_runs([Path(DEBATE)], ["task.sentences=3"], [], Path("out"))
    with pytest.raises(RecipeError, match="24 test requests have another side, other documents or another contract"):
        refuse_unlike(runs, [1])


@pytest.mark.needs("plugins/debate", "plugins/shuffled", "plugins/self_refine", "plugins/chain_of_thought")
def test_shipped_methods_can_be_compared_and_tell_the_wrong_side():
    runs = name_runs(sorted(Path("recipes/methods").glob("*.yaml")), [], [], Path("out"))
    # those of the ROUGE proxy have the same report judges, though other rewards
    refuse_unlike(runs, [1, 3])
    assert all(wrong_side_judges(run.recipe) for run in runs)


@pytest.mark.needs("plugins/debate", "plugins/shuffled")
def test_usual_budgets_hold_what_recipes_ask_for():
    runs = name_runs([Path(DEBATE)], [], ["generate.plans.sampled.candidates=2,12"], Path("out"))
    assert usual_budgets(runs) == [1, 2, 3, 9, 12, 18]


ALL_SIDES = ["task={scope: all}"]


def test_summaries_of_all_sides_may_be_asked_for_in_several_lengths():
    lengths = "task.sentences=1,3,natural"
    runs = name_runs([Path(ZERO_SHOT)], [*ALL_SIDES, "evaluation.judges=[rouge1_recall]"], [lengths], Path("out"))
    refuse_unlike(runs, [1])
    assert [(run.recipe.task.sentences, run.recipe.task.words) for run in runs] == [(1, None), (3, None), (None, None)]
    assert runs[-1].label == "zero-shot sentences natural"


def test_sweeps_of_whether_and_of_how_many_are_not_taken_for_each_other():
    assert [each.value for each in _Setting.sweep("trainer.a=1,true,0,false")] == [1, True, 0, False]
    with pytest.raises(RecipeError, match="1 is there twice"):
        _Setting.sweep("trainer.a=1,true,1")
