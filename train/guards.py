"""What a finished training's own log says against it, though its loss fell.

DPO is content with margins, and there are three ways to margins that make no better summaries: the chosen summaries may become
less likely, only less fast than the rejected ones (Razin et al. 2024, arXiv:2410.08847; Pal et al. 2024, arXiv:2402.13228);
longer or shorter ones may win because of their length (Park et al. 2024, arXiv:2403.19159); a few pairs may carry a mean that
most pairs have no part in.
"""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

# logged steps that a training needs to be judged by: a quarter of them are then two
LEAST_STEPS = 8
# share of its own log-probability that the chosen summary may lose: at a tenth, a text of perplexity 8 has one of 10
MOST_FALL = 0.1
# how many times longer one summary of a pair may be than the other, on average; pairs of one length are at 1, and the default of
# pairs.most_length_ratio lets single pairs reach more
MOST_LENGTH_RATIO = 1.2
# accuracy below which the order of the pairs was hardly learnt: at 0.5 half of them stand the wrong way round
LEAST_ACCURACY = 0.55
# growth of the mean margin, in nats times beta, from which it should show in the accuracy
GROWN = 0.1


def guard(record: Mapping[str, Any]) -> list[str]:
    """The warnings of a training.

    Args:
        record: what training.json holds; without what a warning needs, that warning is left out.
    """
    history = [row for row in record.get("log_history", []) if "loss" in row]
    warning_lists = [_length(record.get("counts", {}).get("mean_tokens", {})), _best(record.get("evaluation", {}))]
    if len(history) >= LEAST_STEPS:
        quarter = len(history) // 4
        first, last = history[:quarter], history[-quarter:]
        warning_lists += [_fall(last, record.get("beta")), _gap(first, last)]
    return [warning for warnings in warning_lists for warning in warnings]


def _fall(last: Sequence[Mapping[str, Any]], beta: float | None) -> Iterator[str]:
    """The chosen summaries became less likely than they were to the reference."""
    rewards, logps = _mean(last, "rewards/chosen"), _mean(last, "logps/chosen")
    if rewards is None or logps is None or not beta:
        return
    moved = rewards / beta
    before = logps - moved
    if moved < MOST_FALL * before:
        yield (
            f"the log-probability of the chosen summaries fell from {before:.1f} to {logps:.1f} nats (mean of the last quarter, "
            f"by {moved / before:.0%}; more than {MOST_FALL:.0%} is far): training made them less likely, too. Lower "
            "trainer.learning_rate, raise trainer.beta, or add an sft term to trainer.loss_type"
        )


def _length(mean_tokens: Mapping[str, float]) -> Iterator[str]:
    """Chosen summaries differ in length from the others that were generated."""
    chosen, rejected = mean_tokens.get("chosen"), mean_tokens.get("rejected")
    if not chosen or not rejected:
        return
    if max(chosen / rejected, rejected / chosen) > MOST_LENGTH_RATIO:
        yield (
            f"chosen summaries have {chosen:.1f} tokens on average and rejected ones {rejected:.1f}, a ratio of "
            f"{chosen / rejected:.3f} (above {MOST_LENGTH_RATIO:.3f} or below {1 / MOST_LENGTH_RATIO:.3f} is far): the model may "
            "learn length instead of what the reward means. Lower pairs.most_length_ratio, or look at what the judges say of "
            "length"
        )


def _best(evaluation: Mapping[str, Any]) -> Iterator[str]:
    """The best step was asked for, and none was evaluated, or none to a number."""
    if evaluation.get("best_step", 0) is None:
        yield (
            "no step was evaluated, or none to a number, so the adapter is that of the last one: lower trainer.eval_delay, or "
            "look at the evaluations of training.json"
        )


def _gap(first: Sequence[Mapping[str, Any]], last: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Margins grew, and the pairs are not better ordered."""
    before, margin = _mean(first, "rewards/margins"), _mean(last, "rewards/margins")
    accuracy = _mean(last, "rewards/accuracies")
    if before is None or margin is None or accuracy is None:
        return
    if margin - before > GROWN and accuracy < LEAST_ACCURACY:
        yield (
            f"the mean reward margin grew from {before:.2f} to {margin:.2f} (first and last quarter), but only "
            f"{accuracy:.0%} of the pairs are in the right order (less than {LEAST_ACCURACY:.0%} is near chance): a "
            f"few pairs carry the mean. Look "
            "at the pairs of largest margin, or raise pairs.least_margin"
        )


def _mean(rows: Sequence[Mapping[str, Any]], name: str) -> float | None:
    values = [row[name] for row in rows if row.get(name) is not None]
    return fmean(values) if values else None
