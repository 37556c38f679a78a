"""What each operation of the group-fairness vectors is in evenhand: the code that users run, given a case's inputs."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from evenhand.fairness.groups.bounds import greedy_equal_coverage
from evenhand.fairness.groups.corpus import group_fairness
from evenhand.fairness.groups.coverage import coverage, coverage_fairness
from evenhand.fairness.groups.evidence import SetEvidence, cover_set, entailments_of
from evenhand.fairness.groups.fairpo import (
    CANDIDATES,
    PairLogps,
    RunningState,
    contribution,
    dpo_losses,
    fair_pairs,
    fairpo_losses,
    perturb,
    slot_weights,
)
from evenhand.fairness.groups.masses import (
    Masses,
    Unscored,
    bart_scores,
    bert_precision,
    ngram_masses,
    rescale,
    softmax,
    text_masses,
)
from evenhand.fairness.groups.preparation import SentimentLabeller, SpokenTurn, segment_dialogue, word_counter
from evenhand.fairness.groups.shares import (
    TAU_GRID,
    Rule,
    compare,
    proportional_representation,
    second_order_fairness,
    under_represented,
    unfair,
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
    overlap = given.get("remove_overlap", False)
    return matched(
        text_masses(given["value_texts"], given["summary"], tokenizer(), remove_overlap=overlap), given["tau"]
    )


def ngram_pretokenized_of(given: Given) -> Given:
    return matched(ngram_masses(given["value_tokens"], given["summary_tokens"]), given["tau"])


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
        "sof": float(second_order_fairness(shares)),
    }


def ngram_corpus_of(given: Given) -> Given:
    texts = zip(given["value_texts"], given["summaries"], strict=True)
    found = group_fairness((text_masses(t, s, tokenizer()) for t, s in texts), tau=given["tau"], mode="released")
    means = [row.mean_shortfall for row in found.by_value if row.n_samples]
    return {
        "bur": found.bur,
        "uer": found.uer,
        "sof": found.sof,
        "n_scored": found.n_scored,
        "n_skipped": sum(found.left_out.values()),
        "value_mean_shortfall_in_first_seen_order": sorted(means),
        "value_unfair_count": {row.value: row.n_unfair for row in found.by_value if row.n_unfair},
    }


def softmax_of(given: Given) -> Given:
    return {"p": softmax(given["scores"], given["temperature"]).tolist()}


def bartscore_of(given: Given) -> Given:
    scores = bart_scores(given["token_logprobs_per_value"])
    return {"scores": scores.tolist(), "p": softmax(scores, given["temperature"]).tolist()}


def bertscore_of(given: Given) -> Given:
    raw = [bert_precision(given["candidate_vectors"], r) for r in given["reference_vectors_per_value"]]
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
    for mode in MODES:
        result = group_fairness(map(masses_of, given["samples"]), tau=given["tau"], mode=mode)
        found[mode] = {
            "bur": result.bur,
            "uer": result.uer,
            "sof": result.sof,
            "sof_corpus": result.sof,
            "sof_sample_mean": result.sof_sample_mean,
            "value_mean_shortfall": {row.value: row.mean_shortfall for row in result.by_value if row.n_samples},
            "value_unfair_count": {row.value: row.n_unfair for row in result.by_value if row.n_unfair},
        }
    return found


def auc_of(given: Given) -> Given:
    samples = [masses_of(sample) for sample in given["samples"]]
    found: Given = {"tau_grid": TAU_GRID.tolist()}
    for comparison in ("inclusive", "strict"):
        result = group_fairness(samples, mode=Rule("drop", comparison))
        found[comparison] = {"curve": list(result.curve), "auc": result.auc}
    by_cutoff = group_fairness(samples, tau=given["tau_for_cutoff_variant"], auc="released_cutoff")
    return found | {"released_cutoff_auc": by_cutoff.auc}


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
    entailments, _ = entailments_of([evidence_of(sample) for sample in given["samples"]])
    table = coverage(entailments, given["n_values"])
    ours = coverage_fairness([table])
    n = given["n_values_in_released_script"]
    released = coverage_fairness([table], n_values=n)
    # the released lists close up where a value never occurs, and are filled with zeros at the end
    shifted = [mean for mean in released.mean_difference if mean is not None]
    return {
        "default": {
            "ec": ours.ec,
            "mean_difference": {str(k): mean for k, mean in enumerate(ours.mean_difference) if mean is not None},
            "cp": ours.cp,
            "over_represented": ours.over_represented,
            "under_represented": ours.under_represented,
        },
        "released": {
            "ec_mean": released.ec,
            "n_scored": released.n_scored,
            "released_mean_difference": shifted + [0.0] * (n - len(shifted)),
            "released_cp": released.cp,
        },
    }


def proportional_of(given: Given) -> Given:
    found = proportional_representation(given["source_mass"], given["bart_scores"], temperature=given["temperature"])
    return {"p_source": list(found.p_source), "p_target": list(found.p_target), "pr": found.pr, "pr_abs": found.pr_abs}


def greedy_of(given: Given) -> Given:
    found = {}
    for bound in ("lower", "upper"):
        result = greedy_equal_coverage(given["coverage"], given["labels"], given["max_sentences"], bound)
        found[bound] = {"selected": list(result.selected), "trace": list(result.trace), "ec": result.last}
    return found


def perturb_of(given: Given) -> Given:
    labels, differences = given["labels"], given["value_minus_overall"]
    found = perturb(labels, differences, np.random.default_rng(0), rate=given["rate"])
    over, under = found.minus_over, found.minus_under
    assert over and under
    return {
        "n_removed": found.n_removed,
        "minus_over": {"value": over.value, "counts_after": over.counts(labels, len(differences))},
        "minus_under": {"value": under.value, "counts_after": under.counts(labels, len(differences))},
        "same_value": over.value == under.value,
        "sets_differ": set(over.documents) != set(under.documents),
    }


def pairs_of(given: Given) -> Given:
    candidates = [[pair["candidates"][name] for name in CANDIDATES] for pair in given["pairs"]]
    found = fair_pairs(
        [[c["ec"] for c in each] for each in candidates],
        [[c["value_minus_overall"] for c in each] for each in candidates],
        [pair["value_count"] for pair in given["pairs"]],
    )
    result = {}
    for row, place in enumerate(found.sets):
        record: Given = {"margin_weight": float(found.margin_weight[row])}
        sides = (("chosen", found.chosen, found.chosen_slots), ("rejected", found.rejected, found.rejected_slots))
        for side, candidate, slots in sides:
            record |= {
                side: CANDIDATES[candidate[row]],
                f"cat_{side}": slots.flags[row].astype(float).tolist(),
                f"weight_{side}": slots.weight[row].tolist(),
                f"num_{side}": found.counts[row].tolist(),
                f"pow_{side}": slots.power[row].tolist(),
            }
        result[given["pairs"][place]["id"]] = record
    return result


def logps_of(given: Given) -> PairLogps:
    keys = ("policy_chosen_logp", "policy_rejected_logp", "reference_chosen_logp", "reference_rejected_logp")
    return PairLogps(*(given[key] for key in keys))


def weights_loss_of(given: Given) -> Given:
    state = RunningState(np.array(given["state_loss"]), np.array(given["state_count"]))
    w = {
        side: slot_weights(given[f"cat_{side}"], given[f"pow_{side}"], state, side, temperature=given["temperature"])
        for side in ("chosen", "rejected")
    }
    found = fairpo_losses(logps_of(given), w["chosen"], w["rejected"], beta=given["beta"])
    return {f"w_{side}": each.tolist() for side, each in w.items()} | {
        "losses": found.losses.tolist(),
        "loss": found.mean,
        "reward_chosen": found.reward_chosen.tolist(),
        "reward_rejected": found.reward_rejected.tolist(),
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


def dpo_of(given: Given) -> Given:
    found = dpo_losses(logps_of(given), beta=given["beta"])
    return {
        "losses": found.losses.tolist(),
        "reward_chosen": found.reward_chosen.tolist(),
        "reward_rejected": found.reward_rejected.tolist(),
    }


def margin_weighted_of(given: Given) -> Given:
    weighted = dpo_losses(logps_of(given), beta=given["beta"], margin_weight=given["margin_weight"])
    return {
        "losses_before_weighting": dpo_losses(logps_of(given), beta=given["beta"]).losses.tolist(),
        "loss": weighted.mean,
    }


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
    "greedy_bounds": greedy_of,
    "fairpo_perturb": perturb_of,
    "fairpo_pairs": pairs_of,
    "fairpo_weights_loss": weights_loss_of,
    "fairpo_state": state_of,
    "dpo_loss": dpo_of,
    "margin_weighted_dpo": margin_weighted_of,
}
