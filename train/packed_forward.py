"""A causal language model that takes packed sequences and answers in TRL's rows.

`add_packed_forward` goes on top of TRL's `add_fused_lm_head`. TRL's head computes what it computes for any batch, but for
the scored positions of the packed sequence only, each once, however many pairs a candidate is in.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MethodType
from typing import Any

import torch
from torch.utils.checkpoint import checkpoint
from trl.trainer import utils

# fields of TRL's FusedCausalLMOutput that hold one value for each scored token
FIELDS = ("log_probs", "entropy", "mean_logits", "is_top1", "log_sum_sq_probs")
# what describes TRL's rows, and pairs for FairPO's loss, and not the packed sequence
NOT_OF_THE_SEQUENCE = ("input_ids", "attention_mask", "inputs_embeds", "labels", "slots")
# vocabulary columns that TRL's head takes at a time. Its own choice is for GPUs: on a CPU such a tile leaves the caches
CPU_TILE = 2048


def add_packed_forward(model: Any, *, equal: bool, again: bool) -> None:
    """Let `model(passes=..., rows=..., fused_lm_head=True)` run packed sequences.

    Args:
        model: a causal language model of transformers with TRL's fused head, without adapter wrapper.
        equal: its weights are gathered from all processes at each pass, so that all must run equally many.
        again: several passes are run again one by one on the way back, so that the memory is that of one.
    """
    fused = model.forward

    def forward(
        self: Any, *args: Any, passes: Any = None, rows: Any = None, weights: Any = None, **options: Any
    ) -> Any:
        if passes is None:
            return fused(*args, **options)
        model_options = {name: value for name, value in options.items() if name not in NOT_OF_THE_SEQUENCE}
        run = partial(_run_pass, self, fused, options=model_options)
        return in_rows(_run_passes(run, passes, equal=equal, again=again), rows, weights)

    model.forward = MethodType(forward, model)
    model.runs_packed = True


def _run_passes(
    run: Callable[[Mapping[str, Any]], tuple[Any, ...]],
    passes: Sequence[Mapping[str, Any]],
    *,
    equal: bool,
    again: bool,
) -> dict[str, torch.Tensor]:
    """The fields for all scored tokens, (tokens,)."""
    n_passes = len(passes)
    if equal:
        maximum = torch.tensor(n_passes, device=passes[0]["input_ids"].device)
        torch.distributed.all_reduce(maximum, torch.distributed.ReduceOp.MAX)
        n_passes = int(maximum)
    runs = [*passes, *[passes[0]] * (n_passes - len(passes))]
    if n_passes > 1 and again:
        results = [checkpoint(run, tensors, use_reentrant=False) for tensors in runs]
    else:
        results = [run(tensors) for tensors in runs]
    scores = {
        name: torch.cat([result[place].flatten() for result in results[: len(passes)]])
        for place, name in enumerate(FIELDS)
        if results[0][place] is not None
    }
    for result in results[len(passes) :]:
        # run for the other processes' sake; part of the graph, so that its way back is run as well
        scores["log_probs"] = scores["log_probs"] + 0 * result[0].sum()
    return scores


def _run_pass(model: Any, fused: Any, tensors: Mapping[str, Any], options: dict[str, Any]) -> tuple[Any, ...]:
    """The fields for one pass. The backbone hands on the scored positions only: the head makes no logits for others."""

    def pick(_module: Any, _arguments: Any, output: Any) -> Any:
        output.last_hidden_state = taken_alike(output.last_hidden_state[0], tensors["scored"])[None]
        return output

    usual = utils._CHUNKED_LOGPROB_CHUNK_SIZE
    with model.base_model.register_forward_hook(pick):
        try:
            if tensors["input_ids"].device.type == "cpu":
                utils._CHUNKED_LOGPROB_CHUNK_SIZE = CPU_TILE
            result = fused(
                input_ids=tensors["input_ids"],
                position_ids=tensors["position_ids"],
                shift_labels=tensors["targets"],
                shared_prefix=tensors["layout"],
                **options,
            )
        finally:
            utils._CHUNKED_LOGPROB_CHUNK_SIZE = usual
    return tuple(getattr(result, name) for name in FIELDS)


def taken_alike(values: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """`values[places]`, whose gradients have the same bits each time.

    Places come more than once: a prompt's last token for each candidate, a candidate for each of its pairs. On the CPU threads
    add up the gradients of a place in the order in which they come to it, unless `index_select` took it; on CUDA it is the
    other way round.
    """
    if values.device.type != "cpu":
        return values[places]
    return values.index_select(0, places.flatten()).reshape(*places.shape, *values.shape[1:])


def in_rows(scores: dict[str, torch.Tensor], rows: torch.Tensor, weights: torch.Tensor | None) -> Any:
    """TRL's output: each field dealt out to (rows, longest), 0 at padding."""
    dealt = {name: taken_alike(torch.cat([values, values.new_zeros(1)]), rows) for name, values in scores.items()}
    squares = dealt.setdefault("log_sum_sq_probs", dealt["log_probs"].detach())
    if weights is not None:
        # TRL multiplies a pair's loss by exp(mean over tokens of log_probs - log_sum_sq_probs) of both of its summaries
        chosen = rows[: len(weights)] < len(scores["log_probs"])
        factor = torch.zeros_like(squares)
        factor[: len(weights)] = weights.log()[:, None] * chosen
        dealt["log_sum_sq_probs"] = squares - factor
    return utils.FusedCausalLMOutput(**dealt)
