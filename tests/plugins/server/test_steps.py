"""Functions that ask a server keep the limit of cost, too."""

import pytest

pytest.importorskip("openai")
pytest.importorskip("aiolimiter")

from serving import Server

import evenhand
from evenhand.errors import CostLimitError


def test_limit_of_cost_holds_for_a_call(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    recipe = tmp_path / "recipe.yaml"
    with Server() as server:
        recipe.write_text(f"""
name: notebook
output: runs/notebook
model: {{name: tiny}}
generate:
  backend: openai
  server: {{base_url: "{server.base_url}", price: {{input: 1000, output: 2000}}}}
  plans: {{nucleus: {{candidates: 2, top_p: 0.9, max_tokens: 16}}}}
judges: {{contract: {{kind: contract}}}}
reward: {{judges: [contract]}}
evaluation: {{judges: [contract]}}
limits: {{cost: 4.0}}
rounds: 0
""")
        with pytest.raises(CostLimitError, match=r"of limits.cost 4 is spent"):
            evenhand.generate("sample", recipe=recipe)
        # each request is at most some .4, and about a tenth of that
        assert 3 < len(server.answered) < 40
        assert list((tmp_path / "runs").rglob("*")) == []
