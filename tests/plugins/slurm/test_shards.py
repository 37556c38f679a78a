"""Shards that a job script would do again are refused before anything is queued."""

import pytest
from method_runs import make_recipe

from evenhand.errors import RecipeError
from evenhand.generate.stage import generate
from evenhand.judges.stage import judge_shard
from evenhand.loop import plan, work_in
from evenhand.plugins.slurm.slurm import Nodes, jobs
from evenhand.runfolder.phases import open_phase
from evenhand.runfolder.shards import Shard


def test_shards_that_judged_candidates_which_are_drawn_anew_are_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    own = open_phase(make_recipe("zero-shot", tmp_path / "run"), "evaluation/base")
    # of which the candidates alone depend, and not how they are judged
    section = own.recipe.generate
    plans = {name: each.model_copy(update={"temperature": 0.3}) for name, each in section.plans.items()}
    changed = section.model_copy(update={"plans": plans})
    other = own.recipe.model_copy(update={"generate": changed})
    with work_in(own.recipe):
        generate(own)
    shard = Shard(0, 2)
    with work_in(own.recipe, shard):
        assert judge_shard(own, shard)

    def queued(recipe):
        return jobs(recipe, [row.step for row in plan(recipe) if not row.is_done], Nodes(2), 2)

    assert queued(own.recipe)
    with pytest.raises(RecipeError, match=r"judge: .*shard 0/2 .*its recipe differs in generate\.plans"):
        queued(other)
