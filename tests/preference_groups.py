"""Small groups of candidates as token ids, and the same pairs as TRL's rows."""

from dataclasses import replace
from typing import Any

from evenhand.generate.backend import prompt_tokens, tokens_digest
from evenhand.records import Message, PairFairness, PreferencePair
from evenhand.train.examples import TokenPair
from evenhand.train.groups import TokenGroup, build_groups


def tokens(n: int, start: int) -> list[int]:
    """n token ids of the tiny model's vocabulary, none of them special."""
    return [10 + (start * 37 + i * 11) % 700 for i in range(n)]


def make_rows() -> list[TokenPair]:
    """Three prompts of different lengths; four, three and two candidates, one of them a single token; eight pairs."""
    prompts = [tokens(41, 1), tokens(17, 2), tokens(60, 3)]
    candidates = [
        [tokens(n, 10 + i) for i, n in enumerate((9, 1, 14, 6))],
        [tokens(n, 20 + i) for i, n in enumerate((5, 5, 12))],
        [tokens(n, 30 + i) for i, n in enumerate((7, 8))],
    ]
    pairs = [[(0, 1), (0, 2), (3, 1), (2, 1)], [(0, 1), (2, 0), (2, 1)], [(1, 0)]]
    return [
        TokenPair("left", prompts[g], candidates[g][c], candidates[g][r]) for g in range(3) for c, r in pairs[g]
    ]  # fmt: skip


def make_alike_rows() -> list[TokenPair]:
    """`make_rows` behind a beginning of 40 tokens that the three prompts share, and of 80 that two of them do."""
    rows = make_rows()
    lengths = {41: 80, 17: 40, 60: 80}
    return [
        replace(row, prompt_ids=tokens(lengths[len(row.prompt_ids)], 4) + row.prompt_ids) for row in rows
    ]  # fmt: skip


def make_groups() -> list[TokenGroup]:
    """`make_rows` as groups."""
    return build_groups(make_rows())


def make_fairness(number: int) -> PairFairness:
    """Slots of a pair, a different mix for each number: two values, each over-, under-represented, or neither."""
    deviations = [0.1 * (number % 5 - 2), 0.07 * (number % 3 - 1)], [0.05 * (number % 4 - 1), 0.2 * (number % 2)]
    weights = [tuple(max(sign * c, 0.0) for c in side for sign in (1, -1)) for side in deviations]
    powers = [tuple((0.5 + number % 3) if weight else 0.0 for weight in side) for side in weights]
    return PairFairness(
        values=("left", "right"), diff=1.0, num=(3, 3, 2, 2),
        weight_chosen=weights[0], weight_rejected=weights[1], pow_chosen=powers[0], pow_rejected=powers[1],
    )  # fmt: skip


def make_trainer(kind: str, model: Any, folder: Any, rows: list[TokenPair] | None = None, **options: Any) -> Any:
    """A trainer of these rows on the CPU: "pairwise" for stock TRL, "shared-prefix" for ours.

    The adapter begins away from zero, so that policy and reference differ.
    """
    import datasets
    import peft
    import torch
    import trl
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from evenhand.train.attention import use_packed_attention
    from evenhand.train.fairpo import fairness_callback
    from evenhand.train.packing import PackingCollator
    from evenhand.train.shared_prefix import shared_prefix_trainer
    from evenhand.train.trainer import tokenised_trainer

    rows = rows or make_rows()
    fairness, together = options.pop("fairness", None), options.pop("together", False)
    max_tokens, reference_logps = options.pop("max_tokens", 4096), options.pop("reference_logps", None)
    lora = {"r": 4, "target_modules": ["q_proj", "v_proj"], "init_lora_weights": False} | options.pop("lora", {})
    tokenizer = AutoTokenizer.from_pretrained(model)
    arguments = trl.DPOConfig(
        **{
            "output_dir": str(folder), "max_steps": 3, "per_device_train_batch_size": 2, "learning_rate": 1e-2,
            "logging_steps": 1, "seed": 7, "use_cpu": True, "bf16": False, "gradient_checkpointing": False,
            "save_strategy": "no", "report_to": "none", "disable_tqdm": True, "max_length": None,
        } | options,
    )  # fmt: skip
    loaded = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
    parts: dict[str, Any] = {
        "model": loaded,
        "args": arguments,
        "processing_class": tokenizer,
        "peft_config": peft.LoraConfig(task_type="CAUSAL_LM", **lora),
    }
    if kind == "pairwise":
        return tokenised_trainer()(train_dataset=datasets.Dataset.from_list([row.columns for row in rows]), **parts)
    use_packed_attention(loaded)
    return shared_prefix_trainer()(
        train_dataset=datasets.Dataset.from_list(
            [group.columns for group in build_groups(rows, slots=fairness is not None)]
        ),
        data_collator=PackingCollator(tokenizer.pad_token_id, max_tokens),
        reference_logps=reference_logps,
        fairness=fairness,
        together=together,
        callbacks=[fairness_callback(fairness)] if fairness else [],
        **parts,
    )


def make_fair_pairs(tokenizer: Any, n: int = 8) -> list[PreferencePair]:
    """`make_ranked_pairs` with the slots of `make_fairness`."""
    pairs = make_ranked_pairs(tokenizer, n)
    return [pair.model_copy(update={"fairness": make_fairness(i)}) for i, pair in enumerate(pairs)]


def make_ranked_pairs(tokenizer: Any, n: int = 8) -> list[PreferencePair]:
    """Requests of two to four candidates each, and all of their pairs: 1, 3, 6, 1, ... to a request."""
    texts = (
        "The Left wants the ferry kept.",
        "Ferries float.",
        "The Left says nurses need the ferry at night.",
        "The Right wants a bridge that pays for itself.",
        "The Left calls the ferry cheap.",
        "It is about taxes, mostly.",
    )
    pairs = []
    for i in range(n):
        prompt = (Message(role="user", content=f"Summarise what is said about ferry {'and bridge ' * i}number {i}."),)
        ranked = [texts[(i + place) % 6] for place in range(2 + i % 3)]
        for better in range(len(ranked)):
            for worse in range(better + 1, len(ranked)):
                pairs.append(
                    PreferencePair(
                        prompt=prompt,
                        chosen=(Message(role="assistant", content=ranked[better]),),
                        rejected=(Message(role="assistant", content=ranked[worse]),),
                        request_id=f"ferry-{i}/left",
                        set_id=f"ferry-{i}",
                        side=("left", "right")[i % 2],
                        chosen_id=f"{i}-{better}",
                        rejected_id=f"{i}-{worse}",
                        chosen_reward=float(worse),
                        rejected_reward=float(better),
                        margin=float(worse - better),
                        prompt_digest=tokens_digest(prompt_tokens(tokenizer, prompt)),
                    )
                )
    return pairs
