"""Stock GRPOTrainer of TRL, rewarded over HTTP by a judge of evenhand."""

import pytest
from served_recipes import listening, recipe_of

import evenhand
from evenhand.plugins.serve.rewards import evenhand_reward

STEPS, N_GENERATIONS = 20, 16
# a summary's share of words that its side's documents have begins below .1; four seeds added .30 to .92, and other summaries'
# scores 0 at most
LEAST_RISE = 0.2

pytestmark = pytest.mark.slow


@pytest.fixture
def judge(tmp_path, monkeypatch):
    """A server whose reward is ROUGE's precision."""
    judges = {"grounded": {"kind": "rouge", "type": "rouge1", "measure": "precision"}}
    sections = {"judges": judges, "reward": {"judges": ["grounded"]}, "evaluation": {"judges": ["grounded"]}}
    with listening(recipe_of(tmp_path, corpus={"attribute": "stance"}, **sections), workers=1) as address:
        monkeypatch.setenv("EVENHAND_SERVE_URL", address)
        yield


@pytest.fixture
def rise(judge, tiny_model, fresh_accelerate, tmp_path):
    """What training by a reward function adds to the judge's mean reward, last five steps against first five."""
    torch, trl = pytest.importorskip("torch"), pytest.importorskip("trl")
    transformers, datasets = pytest.importorskip("transformers"), pytest.importorskip("datasets")
    given = evenhand.load_documents("sample", "stance")[0].model_dump(mode="json")["documents"]
    rows = [
        {"prompt": [{"role": "user", "content": f"Summarise the {side}."}], "documents": given, "side": side}
        for side in ("left", "right")
    ]
    options = trl.GRPOConfig(
        output_dir=str(tmp_path / "trained"), max_steps=STEPS, learning_rate=0.01, lr_scheduler_type="constant", seed=0,
        per_device_train_batch_size=len(rows) * N_GENERATIONS, num_generations=N_GENERATIONS, max_completion_length=8,
        gradient_checkpointing=False, use_cpu=True, bf16=False, logging_steps=1, save_strategy="no", report_to="none",
        disable_tqdm=True,
    )  # fmt: skip

    def train(reward):
        trainer = trl.GRPOTrainer(
            model=transformers.AutoModelForCausalLM.from_pretrained(tiny_model, dtype=torch.float32),
            processing_class=transformers.AutoTokenizer.from_pretrained(tiny_model),
            reward_funcs=reward,
            args=options,
            train_dataset=datasets.Dataset.from_list(rows),
        )
        trainer.train()
        logged = f"rewards/{reward.__name__}/mean"
        means = [row[logged] for row in trainer.state.log_history if logged in row]
        assert len(means) == STEPS
        return (sum(means[-5:]) - sum(means[:5])) / 5

    return train


def test_twenty_steps_raise_the_judge(rise):
    assert rise(evenhand_reward) > LEAST_RISE


def test_scores_of_other_summaries_do_not_raise_it(rise):
    def shifted(completions, **columns):
        first, *others = evenhand_reward(completions, **columns)
        return [*others, first]

    assert rise(shifted) < LEAST_RISE
