"""What each operation of the group-fairness vectors is in evenhand: the code that users run, given a case's inputs."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from conformance import of_plugins
from group_samples import corpus_measures, cover_set, text_masses, token_masses

from evenhand.evaluation.audit.coverage import Covered, UnitCoverage
from evenhand.fairness.groups.evidence import SetEvidence, cover_sets
from evenhand.fairness.groups.fairpo import RunningState, contribution, slot_weights
from evenhand.fairness.groups.masses import Masses, Unscored, bart_scores, common_tokens, pack, rescale, softmax
from evenhand.fairness.groups.preparation import SentimentLabeller, SpokenTurn, segment_dialogue, word_counter
from evenhand.fairness.groups.shares import (
    TAU_GRID,
    ShareRule,
    area_by_cutoff,
    compare,
    under_represented,
    unfair,
    unfair_by_tolerance,
    unfair_error_rate,
)
from evenhand.fairness.groups.tokens import NgramTokenizer
from evenhand.fairness.groups.units import make_windows, parse_units

Given = dict[str, Any]

tokenizer = cache(NgramTokenizer)
MODES = ("released", "drop_zero", "paper")
DOMAINS = {
    "amazon": "reviews",
    "mitweet": "tweets",
    "semeval": "tweets",
    "article_bias": "articles",
    "news_stance": "claims",
}


def ngram_tokens_of(given: Given) -> Given:
    return {"tokens": tokenizer()(given["text"])}


def ngram_sample_of(given: Given) -> Given:
    common = common_tokens(map(tokenizer(), given["value_texts"])) if given.get("remove_overlap") else set()
    return matched(
        text_masses(
            given["value_texts"], given["summary"], lambda text: [t for t in tokenizer()(text) if t not in common]
        ),
        given["tau"],
    )


def ngram_pretokenized_of(given: Given) -> Given:
    return matched(token_masses(given["value_tokens"], given["summary_tokens"]), given["tau"])


def matched(masses: Masses | Unscored, tau: float) -> Given:
    if isinstance(masses, Unscored):
        return {"skipped": True}
    found = {mode: sample_of(masses, mode, tau, "ratio") for mode in MODES}
    released = found.pop("released")
    return found | {
        "skipped": False,
        "source_counts": list(masses.source),
        "target_counts": list(masses.target),
        "kept_released": released["kept"],
        **{key: released[key] for key in ("p_source", "p_target", "uer", "unfair")},
        "n_unfair_values": len(released["unfair_values"]),
    }


def sample_of(masses: Masses, mode: Any, tau: float, aim: Any) -> Given:
    shares = compare(masses.source, masses.target, mode=mode, aim=aim)
    gold = shares.gold[shares.kept].tolist()
    return {
        "kept": np.flatnonzero(shares.kept).tolist(),
        "p_gold": gold,
        "p_source": gold,
        "p_target": shares.target[shares.kept].tolist(),
        "shortfall": shares.shortfall[shares.kept].tolist(),
        "uer": float(unfair_error_rate(shares)),
        "unfair": bool(unfair(shares, tau)),
        "unfair_values": np.flatnonzero(under_represented(shares, tau)).tolist(),
        "sof": corpus_measures([masses], mode=mode, tau=tau, target=aim).sof,
    }


def ngram_corpus_of(given: Given) -> Given:
    texts = zip(given["value_texts"], given["summaries"], strict=True)
    found = corpus_measures([text_masses(t, s, tokenizer()) for t, s in texts], tau=given["tau"], mode="released")
    return {
        "bur": found.bur,
        "uer": found.uer,
        "sof": found.sof,
        "n_scored": found.n_scored,
        "n_skipped": len(found.left_out),
        "value_mean_shortfall_in_first_seen_order": sorted(found.shortfall.values()),
        "value_unfair_count": {value: n for value, n in found.n_unfair.items() if n},
    }


def softmax_of(given: Given) -> Given:
    return {"p": softmax(given["scores"], given["temperature"]).tolist()}


def bartscore_of(given: Given) -> Given:
    scores = bart_scores(given["token_logprobs_per_value"])
    return {"scores": scores.tolist(), "p": softmax(scores, given["temperature"]).tolist()}


def bertscore_of(given: Given) -> Given:
    torch = pytest.importorskip("torch")
    from evenhand.judges.measures.bert import precision

    def unit(vectors: Any) -> Any:
        return torch.nn.functional.normalize(torch.tensor(vectors, dtype=torch.float64), dim=-1)

    raw = [float(precision(unit(given["candidate_vectors"]), unit(r))) for r in given["reference_vectors_per_value"]]
    rescaled = rescale(raw, given["baseline"])
    p = softmax(rescaled, given["temperature"])
    return {"raw_precision": raw, "rescaled_precision": rescaled.tolist(), "p": p.tolist()}


def masses_of(given: Given) -> Masses:
    return Masses(tuple(given["source_mass"]), tuple(given["target_mass"]))


def group_metrics_of(given: Given) -> Given:
    target = given["target"] if isinstance(given["target"], str) else tuple(given["target"])
    return {mode: sample_of(masses_of(given), mode, given["tau"], target) for mode in MODES}


def corpus_of(given: Given) -> Given:
    found = {}
    samples = [masses_of(sample) for sample in given["samples"]]
    for mode in MODES:
        result = corpus_measures(samples, tau=given["tau"], mode=mode)
        alone = [corpus_measures([sample], tau=given["tau"], mode=mode) for sample in samples]
        found[mode] = {
            "bur": result.bur,
            "uer": result.uer,
            "sof": result.sof,
            "sof_corpus": result.sof,
            "sof_sample_mean": float(np.mean([each.sof for each in alone if each.n_scored])),
            "value_mean_shortfall": result.shortfall,
            "value_unfair_count": {value: n for value, n in result.n_unfair.items() if n},
        }
    return found


def auc_of(given: Given) -> Given:
    samples = [masses_of(sample) for sample in given["samples"]]
    found: Given = {"tau_grid": TAU_GRID.tolist()}
    table = pack(samples)
    for comparison in ("inclusive", "strict"):
        rule = ShareRule("drop", comparison)
        shares = compare(table.source, table.target, mode=rule, declared=table.declared)
        curve = np.nanmean(unfair_by_tolerance(shares), axis=1)
        found[comparison] = {"curve": curve.tolist(), "auc": corpus_measures(samples, mode=rule).auc}
    return found | {"released_cutoff_auc": area_by_cutoff(samples, tau=given["tau_for_cutoff_variant"])}


def vader_of(given: Given) -> Given:
    return vars(SentimentLabeller()(given["text"]))


def segment_of(given: Given) -> Given:
    turns = [SpokenTurn(speaker, tuple(paragraphs)) for speaker, paragraphs in given["turns"]]
    return {"segments": segment_dialogue(turns, given["max_tokens"], word_counter())}


def parse_units_of(given: Given) -> Given:
    units = parse_units(given["raw_output"], DOMAINS[given["dataset"]])
    return {"units": units if units is None else list(units), "dropped": units is None}


def chunks_of(given: Given) -> Given:
    windows = make_windows(given["documents"], given["max_words"], dedupe="sample")
    return {"chunks": list(windows.texts), "doc_index": list(windows.documents)}


def evidence_of(given: Given) -> SetEvidence:
    chunks = given["chunks_per_document"]
    windows = np.repeat(np.arange(len(chunks)), chunks).tolist()
    return SetEvidence(given["nli"], windows, given["labels"], given["unit_self_entailment"])


def coverage_of(given: Given) -> Given:
    found: Given = {}
    for mode in ("released", "paper"):
        result = cover_set(evidence_of(given), given["n_values"], mode)
        found[mode] = {
            "skipped": result.unscored is not None,
            "reason": result.unscored,
            "clusters": [list(each) for each in result.clusters],
            "n_covered_clusters": result.n_units,
            "doc_coverage": list(result.by_document),
            "overall": result.overall,
            "value_coverage": {str(k): c for k, c in enumerate(result.by_value) if c is not None},
            "value_minus_overall": list(result.difference),
            "value_count": list(result.counts),
            "ec": result.ec,
        }
    return found


def coverage_corpus_of(given: Given) -> Given:
    evidence = [evidence_of(sample) for sample in given["samples"]]
    values = tuple(map(str, range(given["n_values"])))
    covered = cover_sets(evidence, [len(values)] * len(evidence))
    figures = UnitCoverage(NamedEntailer(), "stance", values, "released").figures(
        [
            Unscored(each.unscored) if each.unscored else Covered(each, values, tuple(sample.labels))
            for each, sample in zip(covered, evidence, strict=True)
        ]
    )
    names = [(str(quantity.measure), quantity.side) for quantity in figures.quantities]
    found = {name: each for name, each in zip(names, figures.all_sets().tolist(), strict=True) if not np.isnan(each)}
    means = {value: found[name, value] for name, value in found if name == "coverage difference (vectors)"}
    # the released lists close up where a value never occurs, are filled with zeros at the end, and count values by a file's name
    n = given["n_values_in_released_script"]
    listed = [*means.values()] + [0.0] * (n - len(means))
    return {
        "default": {
            "ec": found["Equal Coverage (vectors)", None],
            "mean_difference": means,
            "cp": found["Coverage Parity (vectors)", None],
            "over_represented": int(max(means, key=means.__getitem__)),
            "under_represented": int(min(means, key=means.__getitem__)),
        },
        "released": {
            "ec_mean": found["Equal Coverage (vectors)", None],
            "n_scored": int(figures.scored.sum()),
            "released_mean_difference": listed,
            "released_cp": float(np.abs(listed).sum()) / n,
        },
    }


class NamedEntailer:
    """What the family takes an entailer's name from."""

    name = "vectors"


def proportional_of(given: Given) -> Given:
    # no formula is printed: UER with the default values, sources by tokens and the summary by BARTScore, as audits have it
    shares = compare(given["source_mass"], softmax(given["bart_scores"], given["temperature"]))
    source, summary = shares.gold[shares.kept], shares.target[shares.kept]
    return {
        "p_source": source.tolist(),
        "p_target": summary.tolist(),
        "pr": float(unfair_error_rate(shares)),
        "pr_abs": float(np.abs(source - summary).mean()),
    }


def logps_of(given: Given, who: str) -> Any:
    """Log-probabilities of the chosen summaries and of the rejected ones."""
    torch = pytest.importorskip("torch")
    return tuple(torch.tensor(given[f"{who}_{side}_logp"], dtype=torch.float64) for side in ("chosen", "rejected"))


def weights_loss_of(given: Given) -> Given:
    policy, reference = logps_of(given, "policy"), logps_of(given, "reference")
    from evenhand.train.fairpo import PairTensors, fairpo_losses

    state = RunningState(np.array(given["state_loss"]), np.array(given["state_count"]))
    w = {
        side: slot_weights(given[f"cat_{side}"], given[f"pow_{side}"], state, side, temperature=given["temperature"])
        for side in ("chosen", "rejected")
    }
    weights = tuple(policy[0].new_tensor(each) for each in w.values())
    losses, rewards = fairpo_losses(PairTensors(policy, reference, policy), weights, given["beta"])
    return {f"w_{side}": each.tolist() for side, each in w.items()} | {
        "losses": losses.tolist(),
        "loss": float(losses.mean()),
        "reward_chosen": rewards[0].tolist(),
        "reward_rejected": rewards[1].tolist(),
    }


def state_of(given: Given) -> Given:
    state = RunningState.start(given["n_values"])
    after = []
    for step in given["optimizer_steps"]:
        parts = [
            contribution(
                batch[f"cat_{side}"], batch[f"weight_{side}"], batch[f"policy_{side}_logp"], batch[f"{side}_len"]
            )
            for batch in step
            for side in ("chosen", "rejected")
        ]
        state = state.after(sum(parts[1:], parts[0]), given["decay"])
        after.append({"state_loss": state.loss.tolist(), "state_count": state.count.tolist()})
    return {"after_each_step": after}


def loss_of(given: Given, trainer: Any, place: slice, weights: Any = None) -> tuple[float, dict[str, float]]:
    """The trainer's loss of some of the pairs, and what it logs, of a model that gives summaries these log-probabilities."""
    torch = pytest.importorskip("torch")
    from evenhand.train.packed_forward import in_rows

    policy, reference = ([side[place] for side in logps_of(given, who)] for who in ("policy", "reference"))
    logps = torch.cat(policy)

    def model(**_: Any) -> Any:
        zeros = logps.new_zeros(len(logps))
        scores = {"log_probs": logps, "entropy": zeros, "mean_logits": zeros, "is_top1": zeros.bool()}
        return in_rows(scores, torch.arange(len(logps))[:, None], weights)

    ones = logps.new_ones((len(logps), 2)).long()
    masks = {"completion_mask": ones.clone(), "attention_mask": ones, "input_ids": ones}
    masks["completion_mask"][:, 0] = 0
    loss = trainer._compute_loss(
        model, masks | {"ref_chosen_logps": reference[0], "ref_rejected_logps": reference[1]}, False
    )
    return float(loss), {name: values[-1] for name, values in trainer._metrics["train"].items()}


def dpo_of(given: Given, trainer_of: Callable[..., Any]) -> Given:
    trainer = trainer_of(beta=given["beta"])
    found = [loss_of(given, trainer, slice(row, row + 1)) for row in range(len(given["policy_chosen_logp"]))]
    return {
        "losses": [loss for loss, _ in found],
        "reward_chosen": [logged["rewards/chosen"] for _, logged in found],
        "reward_rejected": [logged["rewards/rejected"] for _, logged in found],
    }


def margin_weighted_of(given: Given, trainer_of: Callable[..., Any]) -> Given:
    weights = logps_of(given, "policy")[0].new_tensor(given["margin_weight"])
    weighted = loss_of(given, trainer_of(beta=given["beta"], use_weighting=True), slice(None), weights)
    return {"losses_before_weighting": dpo_of(given, trainer_of)["losses"], "loss": weighted[0]}


# what an operation takes besides a case's inputs
FIXTURES = {"dpo_loss": ("trainer_of",), "margin_weighted_dpo": ("trainer_of",)}

OPERATIONS: dict[str, Callable[[Given], Any]] = {
    "ngram_tokens": ngram_tokens_of,
    "ngram_sample": ngram_sample_of,
    "ngram_pretokenized": ngram_pretokenized_of,
    "ngram_corpus": ngram_corpus_of,
    "softmax_distribution": softmax_of,
    "bartscore_distribution": bartscore_of,
    "bertscore_distribution": bertscore_of,
    "group_metrics": group_metrics_of,
    "corpus_group_metrics": corpus_of,
    "auc": auc_of,
    "vader_label": vader_of,
    "segment_dialogue": segment_of,
    "parse_units": parse_units_of,
    "chunks": chunks_of,
    "coverage": coverage_of,
    "coverage_corpus": coverage_corpus_of,
    "proportional_representation": proportional_of,
    **of_plugins("OPERATIONS"),
    "fairpo_weights_loss": weights_loss_of,
    "fairpo_state": state_of,
    "dpo_loss": dpo_of,
    "margin_weighted_dpo": margin_weighted_of,
    **of_plugins("GROUP_OPERATIONS"),
}
