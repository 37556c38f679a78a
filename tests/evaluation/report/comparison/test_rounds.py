from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from method_runs import make_recipe

from evenhand.config.recipe import LimitsSection
from evenhand.evaluation.report.comparison.build import compare_runs
from evenhand.evaluation.report.comparison.entries import NamedRecipe, read_entries
from evenhand.evaluation.report.comparison.rounds import has_rounds, round_entries
from evenhand.generate.stage import generate
from evenhand.judges.stage import judge
from evenhand.records import Candidate
from evenhand.rerank.stage import rerank, score_group
from evenhand.runfolder.files import with_groups, with_judgements
from evenhand.runfolder.phases import CANDIDATES, phases
from evenhand.storage import iter_jsonl
from evenhand.text.digests import digest

pytestmark = pytest.mark.usefixtures("own_cache")


def finished(tmp_path: Any, method: str, **options: Any) -> Any:
    limits = LimitsSection(**options.pop("limits", {}))
    recipe = make_recipe(method, output=str(tmp_path / method), **options).model_copy(update={"limits": limits})
    (phase,) = phases(recipe)
    for stage in (generate, judge, rerank):
        stage(phase)
    (entry,) = read_entries([NamedRecipe(method, recipe)])
    return entry


def of_round(entry: Any) -> list[Any]:
    """The candidates of an entry with their scores, in the order of the requests."""
    folder, finals = entry.folder, list(iter_jsonl(entry.folder / CANDIDATES, Candidate))
    if entry.round is None:
        return [scored for _, group in with_groups(folder) for scored in group.candidates]
    ids = {digest([each.id, entry.round]) for each in finals}
    phase = replace(entry.output.phase, name=f"{entry.output.phase.name}/rounds")
    return [
        scored
        for request, candidates, judgements in with_judgements(folder / "rounds")
        for scored in score_group(phase, request, [c for c in candidates if c.id in ids], judgements, {}).candidates
    ]


def texts(entry: Any) -> list[str]:
    return [scored.candidate.text for scored in of_round(entry)]


def scores(entry: Any) -> list[float | None]:
    found = [scored.scores["overlap"] for scored in of_round(entry)]
    # what the entry says is what lies on the disk
    column = entry.output.column("overlap")
    assert sorted(found) == sorted(column[~np.isnan(column)].tolist())
    return found


@pytest.mark.parametrize(
    ("method", "options", "rounds"),
    [
        pytest.param(
            "self-refine", {"self_refine": {"rounds": 2}}, [0, 1, 2], marks=pytest.mark.needs("plugins/self_refine")
        ),
        pytest.param(
            "debate", {"debate": {"agents": 2, "rounds": 2}}, [0, 1, 2], marks=pytest.mark.needs("plugins/debate")
        ),
        pytest.param(
            "debate",
            {"debate": {"agents": 2, "rounds": 1, "final": "final_agent"}},
            [0, 1, 2],
            marks=pytest.mark.needs("plugins/debate"),
        ),
        pytest.param(
            "debate",
            {"debate": {"agents": 2, "rounds": 1, "final": "judge"}},
            [0, 1],
            marks=pytest.mark.needs("plugins/debate"),
        ),
        pytest.param("shuffled", {}, [0, 1], marks=pytest.mark.needs("plugins/shuffled")),
        # round 0 lists points, round 2 criticises: neither gives a candidate
        pytest.param("chain-of-thought", {}, [1, 3], marks=pytest.mark.needs("plugins/chain_of_thought")),
        # round 0 summarises parts
        pytest.param("hierarchical", {}, [1], marks=pytest.mark.needs("plugins/hierarchical")),
    ],
)
def test_last_round_is_the_run_itself(tmp_path: Any, method: str, options: Any, rounds: list[int]):
    entry = finished(tmp_path, method, **options)
    found = round_entries(entry)
    assert [each.round for each in found] == rounds
    assert texts(found[-1]) == texts(entry)
    assert scores(found[-1]) == scores(entry)
    assert found[-1].cost.calls == entry.cost.calls
    assert found[-1].cost.tokens == pytest.approx(entry.cost.tokens)


@pytest.mark.needs("plugins/self_refine")
def test_round_0_is_zero_shot(tmp_path: Any):
    refined = round_entries(finished(tmp_path, "self-refine"))
    assert texts(refined[0]) == texts(finished(tmp_path, "zero-shot"))
    assert texts(refined[0]) != texts(refined[1])


@pytest.mark.needs("plugins/debate")
def test_earlier_round_is_what_a_shorter_run_ends_with(tmp_path: Any):
    longer = round_entries(finished(tmp_path, "debate", debate={"agents": 2, "rounds": 2}))
    shorter = finished(tmp_path / "short", "debate", debate={"agents": 2, "rounds": 1})
    assert texts(longer[1]) == texts(shorter)
    assert scores(longer[1]) == scores(shorter)


def test_method_that_asks_once_has_no_rounds(tmp_path: Any):
    assert not has_rounds(finished(tmp_path, "zero-shot"))


@pytest.mark.needs("plugins/self_refine")
def test_run_without_any_candidate_stays_one_entry(tmp_path: Any):
    entry = finished(tmp_path, "self-refine", max_model_len=30, limits={"failed": 1.0})
    assert round_entries(entry) == [entry]


@pytest.mark.needs("plugins/debate")
def test_debate_of_all_agents_costs_what_all_of_them_say(tmp_path: Any):
    entry = finished(tmp_path, "debate", debate={"agents": 2, "rounds": 1, "final": "judge"})
    # one candidate of the two takes both agents' two answers
    assert entry.cost.calls == 4


@pytest.mark.needs("plugins/self_refine")
def test_comparison_by_round_is_written(tmp_path: Any):
    entry = finished(tmp_path, "self-refine", self_refine={"rounds": 1})
    found = compare_runs([NamedRecipe("refine", entry.recipe)], tmp_path / "out", [1], by_round=True)
    assert [e.label for e in found.entries] == ["refine round 0", "refine round 1"]
    page = (tmp_path / "out" / "details.html").read_text()
    assert "Rounds" in page
    assert "refine round 1" in (tmp_path / "out" / "comparison.md").read_text()
    assert (tmp_path / "out" / "comparison.json").is_file()
