"""What each operation of the vectors is in evenhand: the code that users run, given a case's input.

A function takes the input and gives what `expect` names. A refusal of evenhand's is caught by the runner.
"""

from collections.abc import Callable
from dataclasses import asdict
from types import SimpleNamespace
from typing import Any

import numpy as np
from conformance import of_plugins
from conftest import make_candidate, make_request
from preference_groups import make_trainer

from evenhand.config import PairsSection
from evenhand.corpora.controlled import ground_truth
from evenhand.evaluation.abstractiveness import fragments, novel_ngrams
from evenhand.evaluation.report.checkpoint.ledger import duplicates
from evenhand.evaluation.report.comparison.ranking import _wins
from evenhand.generate.backend import Reply
from evenhand.generate.contract import check_output
from evenhand.judges.alignment import aggregate as align_aggregate
from evenhand.judges.alignment import chunk_sizes
from evenhand.judges.asking import samplings, until_read
from evenhand.judges.bradley_terry import order, strengths
from evenhand.judges.combine import combine_scores
from evenhand.judges.judge import JudgeInput
from evenhand.judges.rouge import rouge
from evenhand.judges.verdict_text import parse_judge
from evenhand.records import Contract, Document, DocumentSet, ScoredCandidate
from evenhand.rerank.pairs import best_of, choose_pairs, first_of_each_text
from evenhand.resampling import percentiles

Given = dict[str, Any]


def passages(source: str | list[str]) -> list[str]:
    """A source of one passage may be given as a text."""
    return [source] if isinstance(source, str) else source


def scored(rewards: list[float | None], texts: list[str] | None = None) -> list[ScoredCandidate]:
    """Candidates of one request with these rewards; without texts, texts that differ and keep the contract."""
    documents = DocumentSet(id="set", documents=(Document(id="1", text="a", attributes={"stance": "left"}),))
    request = make_request(documents)
    texts = texts or [f"The Left says {i}." for i in range(len(rewards))]
    return [
        ScoredCandidate(candidate=make_candidate(request, text, i, contract_ok=True), scores={}, reward=reward)
        for i, (reward, text) in enumerate(zip(rewards, texts, strict=True))
    ]


def ground_truth_of(given: Given) -> Given:
    counts = (given[key] for key in ("total_relevant", "relevant", "opposite", "adversarial"))
    return asdict(ground_truth(*counts))


def build_pairs_of(given: Given) -> Given:
    section = PairsSection(mode=given["mode"], k=given.get("k", 10), least_margin=given.get("margin", 0.0))
    return {"pairs": choose_pairs(scored(given["scores"], given.get("texts")), section).pairs}


def combine_scores_of(given: Given) -> Given:
    return {"value": combine_scores(given["scores"], given["method"], given.get("weights"), given.get("ranges"))}


def rerank_of(given: Given) -> Given:
    rewards = [
        combine_scores(scores, given["method"], given.get("weights"), given.get("ranges"))
        for scores in given["candidates"]
    ]
    best = best_of(scored(rewards))
    return {"best": best.candidate.index if best else None, "scores": rewards}


def dedupe_of(given: Given) -> Given:
    n_texts, n_duplicates = duplicates([given["texts"]])
    return {"keep": first_of_each_text(given["texts"]), "duplicate_rate": n_duplicates / n_texts}


def novel_ngrams_of(given: Given) -> Given:
    found = novel_ngrams(passages(given["source"]), given["summary"], given["n"])
    return {"ratios": {str(n): ratio for n, ratio in found.items()}}


def fragments_of(given: Given) -> Given:
    return asdict(fragments(passages(given["source"]), given["summary"]))


def wins_by_request(scores: list[list[float | None]]) -> np.ndarray:
    """What a ranking counts where each system has one summary a request, (requests, systems, systems)."""
    return _wins(
        [[() if score is None else ((score, 1.0),) for score in mine] for mine in zip(*scores, strict=True)], False
    )


def comparisons_of(given: Given) -> Given:
    won = wins_by_request(given["scores"])
    # evenhand's ties are half wins; without them whole wins are left
    return {"wins": (won if given.get("tie", "half") == "half" else np.floor(won)).sum(axis=0)}


def bradley_terry_of(given: Given) -> Given:
    found = strengths(given["wins"], given["prior"])
    return {"log_strengths": found, "order": order(found)}


def bt_bootstrap_of(given: Given) -> Given:
    """Bounds of the draws' fits: a ranking's own are the jackknife's, with other numbers."""
    won, prior = wins_by_request(given["scores"]), given["prior"]
    drawn = [strengths(won[rows].sum(axis=0), prior) for rows in given["resamples"]]
    low, high = percentiles(drawn, given["level"])
    return {"point": strengths(won.sum(axis=0), prior), "low": low, "high": high}


def parse_judge_of(given: Given) -> Given:
    return {"score": parse_judge(given["reply"], given["min"], given["max"], given.get("integer_only", False))}


def judge_fallback_of(given: Given) -> Given:
    """A judge that is given these replies, one after the other."""
    low, high = given["min"], given["max"]
    asker = SimpleNamespace(prompt=lambda _: (), seed=lambda *_: 0)
    attempts = samplings(min(given["max_attempts"], len(given["replies"])), 8)
    asked = JudgeInput("c", "r", text="A summary.", contract_ok=True, reference="A source.")
    rounds = until_read(asker, [asked], attempts, lambda _, replies: parse_judge(replies[-1], low, high))
    try:
        next(rounds)
        for reply in given["replies"]:
            rounds.send([Reply(reply, "stop")])
    except StopIteration as ended:
        (verdict,) = ended.value
    failed = verdict.score is None
    score = low if failed and given["on_fail"] == "min" else verdict.score
    return {"score": score, "attempts": verdict.attempts, "failed": failed}


def align_aggregate_of(given: Given) -> Given:
    return {"score": align_aggregate(given["matrix"])}


def align_chunks_of(given: Given) -> Given:
    per_chunk, sizes = chunk_sizes(given["words"], given["sentences"])
    return {"sentences_per_chunk": per_chunk, "chunks": sizes}


def rouge_of(given: Given) -> Given:
    return rouge(given["document"], given["summary"])


def check_output_of(given: Given) -> Given:
    own, other = ("The Left", "The Right") if given["stance"] == "left" else ("The Right", "The Left")
    contract = Contract(opening=own, other_openings=(other,), sentences=1)
    return asdict(check_output(contract, given["text"]))


def dpo_loss_of(given: Given, tiny_model: Any, tmp_path: Any, _: None) -> Given:
    """The trainer of evenhand's users on one pair, with a policy that has the given log-probabilities."""
    import torch

    trainer = make_trainer("shared-prefix", tiny_model, tmp_path, beta=given["beta"])
    trainer.precompute_ref_logps = True
    trainer.model.train()

    def policy(**_: Any) -> Any:
        logps = torch.tensor([[given["policy_chosen"]], [given["policy_rejected"]]], dtype=torch.float64)
        zeros = torch.zeros_like(logps)
        return SimpleNamespace(log_probs=logps, entropy=zeros, mean_logits=zeros, is_top1=zeros.bool())

    batch = {
        # a prompt and a summary of one token each, chosen before rejected
        "input_ids": torch.tensor([[1, 2], [1, 3]]),
        "attention_mask": torch.ones(2, 2, dtype=torch.long),
        "completion_mask": torch.tensor([[0, 1], [0, 1]]),
        "ref_chosen_logps": torch.tensor([given["reference_chosen"]], dtype=torch.float64),
        "ref_rejected_logps": torch.tensor([given["reference_rejected"]], dtype=torch.float64),
    }
    loss = trainer.compute_loss(policy, batch)
    logged = {name: values[-1] for name, values in trainer._metrics["train"].items()}
    return {
        "loss": float(loss),
        "margin": logged["rewards/margins"],
        "chosen_reward": logged["rewards/chosen"],
        "rejected_reward": logged["rewards/rejected"],
    }


OPERATIONS: dict[str, Callable[..., Given]] = {
    "ground_truth": ground_truth_of,
    "build_pairs": build_pairs_of,
    "combine_scores": combine_scores_of,
    "rerank": rerank_of,
    "dedupe": dedupe_of,
    "novel_ngrams": novel_ngrams_of,
    "fragments": fragments_of,
    "comparisons": comparisons_of,
    "bradley_terry": bradley_terry_of,
    "bt_bootstrap": bt_bootstrap_of,
    "parse_judge": parse_judge_of,
    "judge_fallback": judge_fallback_of,
    "align_aggregate": align_aggregate_of,
    "align_chunks": align_chunks_of,
    "rouge": rouge_of,
    "check_output": check_output_of,
    "dpo_loss": dpo_loss_of,
    **of_plugins("OPERATIONS"),
}
# operation -> fixtures that its function takes after the input
FIXTURES: dict[str, tuple[str, ...]] = {"dpo_loss": ("tiny_model", "tmp_path", "fresh_accelerate")}


def plain(value: Any) -> Any:
    """The value with arrays and tuples as lists, and numpy's numbers as Python's."""
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value
