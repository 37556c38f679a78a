"""Shared-prefix DPO: TRL's DPOTrainer, whose model runs each prompt once for all of its candidates.

The seam is the model's forward. `DPOTrainer._compute_loss` calls policy and reference with whatever is in the batch and
reads the log-probabilities of one row for each chosen and rejected summary. Our batch (`packing`) has packed sequences
besides; `packed_forward` runs those and deals the results out to TRL's rows. Losses, metrics, logging, checkpoints and
callbacks stay TRL's.
"""

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..config import UNWEIGHTED
from ..errors import RecipeError
from ..extras import need
from .adapter_switch import switch_by_flag
from .best import BestAdapter
from .fairpo import FairPO, PairTensors, fairpo_losses
from .groups import COLUMNS, families, packed_length
from .options import refuse_passes
from .shares import ALONE, Share, gathering_unequal, n_pairs, share_out, weight_of

# what it is mixed into is imported when a trainer is made
_Trainer: Any = object


# numbers of a batch that are no input of the model
EXACT = ("weights", "ref_chosen_logps", "ref_rejected_logps")


class Unrounded(_Trainer):  # type: ignore[misc]
    """Transformers' trainer, whose losses have their numbers as they were computed."""

    def _prepare_inputs(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        # with DeepSpeed it gives every number the model's type: bfloat16 has log-probabilities of -200 to half a nat
        exact = {name: inputs[name].to(self.args.device) for name in EXACT if name in inputs}
        return {**super()._prepare_inputs(inputs), **exact}


def shared_prefix_trainer() -> "type[SharedPrefix]":
    """TRL's DPOTrainer with `SharedPrefix` mixed in."""
    return type("GroupDPOTrainer", (SharedPrefix, need("trl", "training").DPOTrainer), {})


class Packed(Unrounded):
    """Transformers' trainer, whose batches have packed sequences."""

    def _add_packed_forward(self, model: Any) -> dict[str, Any]:
        """Let a model take the batches; what `attention_check.settle_attention` says of its kernel."""
        from .attention_check import settle_attention
        from .packed_forward import add_packed_forward

        record = settle_attention(model, self.accelerator)
        # ZeRO-3 gives up a weight between its use and the way back, which running a pass again does not bear
        add_packed_forward(model, equal=self.is_fsdp_enabled or self._is_zero3, again=not self._is_zero3)
        return record

    @property
    def _is_zero3(self) -> bool:
        plugin = self.args.deepspeed_plugin
        return plugin is not None and plugin.zero_stage == 3

    def training_step(self, model: Any, inputs: Any, *further: Any) -> Any:
        """TRL's; afterwards the masks of the batch are let go, which transformers keeps until the optimiser's step."""
        loss = super().training_step(model, inputs, *further)
        for tensors in inputs["passes"]:
            tensors["layout"].memo.clear()
        return loss

    def floating_point_ops(self, inputs: Any) -> Any:
        """transformers' estimate, for the tokens that run through the model."""
        return super().floating_point_ops({self.model.main_input_name: inputs["attention_mask"]})


class SharedPrefix(BestAdapter, Packed):
    """What differs from DPOTrainer.

    The model must attend within packed sequences (`attention.use_packed_attention`), the data collator must be a
    `PackingCollator`, and the rows have the columns of `Group`.
    """

    train_dataset: Any
    eval_dataset: Any

    def __init__(
        self,
        *,
        reference_logps: Callable[[Any, Any], Any] | None = None,
        fairness: FairPO | None = None,
        together: bool = False,
        **options: Any,
    ) -> None:
        """See `DPOTrainer`.

        Args:
            reference_logps: takes this trainer and the rows, gives the rows with their reference log-probabilities; needed
                with `precompute_ref_log_probs`.
            fairness: weighs the two summaries of each pair; the rows must have slots, and its callback must be among the options.
            together: requests whose prompts begin alike share steps and micro-batches.
            options: the arguments of DPOTrainer.

        Raises:
            RecipeError: pairs have weights and the loss cannot have them, or the gradients of several passes would be lost.
            ModelError: no attention of the model is right on this device.
        """
        self._reference_logps = reference_logps
        self._fairness = fairness
        self._together = together
        # what training.json says of the kernel that attends
        self.attention: dict[str, Any] = {}
        # of each coming micro-batch
        self._shares: deque[Share] = deque()
        # of a micro-batch of all processes in the evaluation that runs: mean number of pairs, mean weight
        self._evaluated: tuple[float, float] | None = None
        super().__init__(**options)
        if fairness is not None:
            # FairPO's loss needs them as TRL's does, so they are made first and come with the batch
            self.precompute_ref_logps = True
        self._use_packed_forward()
        self._refuse_passes_in_a_row()
        # the loss is the mean over the pairs of a step, however they are spread over micro-batches and processes
        self.model_accepts_loss_kwargs = True
        # the same for transformers from 5.19 on
        self.loss_is_scaled_for_ga = True
        datasets = filter(None, (self.train_dataset, self.eval_dataset))
        if any(weight != 1 for rows in datasets for weights in rows["weights"] for weight in weights):
            refuse_weights(self.loss_types)
            # its factor of each pair's loss is computed from log_sum_sq_probs, through which weights come in
            self.use_weighting = True

    def _use_packed_forward(self) -> None:
        adapted = self.accelerator.unwrap_model(self.model)
        model = adapted.get_base_model()
        if not getattr(model, "runs_packed", False):
            self.attention = self._add_packed_forward(model)
            switch_by_flag(adapted)

    def _refuse_passes_in_a_row(self) -> None:
        reentrant = (self.args.gradient_checkpointing_kwargs or {}).get("use_reentrant")
        shared = self._is_spread or self.accelerator.num_processes > 1
        if shared and self.args.gradient_checkpointing and reentrant:
            largest = self._get_train_sampler().most_tokens(math.ceil(self.args.num_train_epochs))
            refuse_passes(largest, self.data_collator.max_tokens, is_zero3=self._is_zero3)

    def _prepare_dataset(self, dataset: Any, *_: Any) -> Any:
        return dataset

    def _set_signature_columns_if_needed(self) -> None:
        self._signature_columns = [*COLUMNS, "ref_chosen_logps", "ref_rejected_logps"]

    def _precompute_ref_logps(self, dataset: Any, *_: Any) -> Any:
        self._use_packed_forward()
        return dataset if self._is_spread else self._with_reference_logps(dataset)

    def _with_reference_logps(self, dataset: Any) -> Any:
        assert self._reference_logps is not None, "rows without reference log-probabilities, and nothing to make them"
        return self._reference_logps(self, dataset)

    def _prepare_for_training(self, max_steps: int, train_dataloader: Any, resume_from_checkpoint: Any) -> Any:
        model, loader = super()._prepare_for_training(max_steps, train_dataloader, resume_from_checkpoint)
        if self._is_spread and self.args.precompute_ref_log_probs:
            # not before: an adapter to start from is filled in after DPOTrainer is made, and FSDP's weights are on one process
            self.train_dataset = self._with_reference_logps(self.train_dataset)
            if self.eval_dataset is not None:
                self.eval_dataset = self._with_reference_logps(self.eval_dataset)
            loader = self.get_train_dataloader()
        return model, loader

    @property
    def _is_spread(self) -> bool:
        return bool(self.is_deepspeed_enabled or self.is_fsdp_enabled)

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        sizes = self.args.train_batch_size, self.args.gradient_accumulation_steps
        return self._sampler(train_dataset or self.train_dataset, sizes, lambda: int(self.state.epoch or 0))

    def _get_eval_sampler(self, eval_dataset: Any) -> Any:
        return self._sampler(eval_dataset, (self.args.eval_batch_size, 1), lambda: 0)

    def _sampler(self, rows: Any, sizes: tuple[int, int], epoch: Callable[[], int]) -> Any:
        """Micro-batches of these rows; `sizes` are rows in one and micro-batches in a step, of a process."""
        from .sampler import RequestSampler

        arguments, (size, steps) = self.args, sizes
        processes = max(1, arguments.world_size)
        lengths = [packed_length(*row) for row in zip(rows["prompt_ids"], rows["candidate_ids"], strict=True)]
        return RequestSampler(
            lengths,
            (size * steps * processes, processes, steps),
            arguments.process_index,
            arguments.seed if arguments.data_seed is None else arguments.data_seed,
            epoch,
            families(list(rows["prompt_ids"])) if self._together else None,
        )

    def _get_num_items_in_batch(self, batch_samples: Sequence[Mapping[str, Any]], device: Any) -> Any:
        """The weight of all pairs of the step, over all processes."""
        shares, weight = share_out(batch_samples, self.accelerator, device)
        mean = sum(share.pairs for share in shares) / len(shares)
        self._shares = deque(share._replace(pairs=share.pairs / mean) for share in shares)
        return weight

    def evaluation_loop(self, dataloader: Any, *arguments: Any, **options: Any) -> Any:
        """TRL's; its numbers are means over all pairs, however they are spread over micro-batches and processes."""
        rows, n = dataloader.dataset["weights"], len(dataloader)
        self._evaluated = sum(map(len, rows)) / n, sum(map(sum, rows)) / n
        try:
            return super().evaluation_loop(dataloader, *arguments, **options)
        finally:
            self._evaluated = None

    def prediction_step(self, model: Any, inputs: Any, *arguments: Any, **options: Any) -> Any:
        """TRL's."""
        if self._evaluated:
            shares, _ = share_out([inputs], self.accelerator, self.args.device)
            self._shares = deque(share._replace(pairs=share.pairs / self._evaluated[0]) for share in shares)
        return super().prediction_step(model, inputs, *arguments, **options)

    def compute_loss(
        self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """TRL's loss, a mean over the micro-batch's pairs, as its share in the mean over the step's, or the evaluation's.

        Losses that sort the pairs (aot, aot_unpaired) or average tokens (sft) do so within the micro-batch, as in TRL.
        """
        counts = self._share.of_each
        if self._evaluated:
            num_items_in_batch = self._evaluated[1]
        loss = super().compute_loss(model, inputs, return_outputs)
        if return_outputs:
            return loss
        if num_items_in_batch is None:
            return loss * (n_pairs(inputs) / weight_of(inputs))
        # gradients are averaged over the processes
        return loss * (counts * n_pairs(inputs) * self.accelerator.num_processes / num_items_in_batch)

    @property
    def _share(self) -> Share:
        """Of the micro-batch that is next, or under way."""
        return self._shares[0] if self._shares else ALONE

    def _compute_loss(self, model: Any, inputs: Any, return_outputs: bool) -> Any:
        metrics = self._metrics["train" if self.model.training else "eval"]
        before = {name: len(values) for name, values in metrics.items()}
        share = self._share
        with gathering_unequal(self.accelerator, takes_part=share.is_first or self.model.training):
            if self._fairness is None:
                loss = super()._compute_loss(model, inputs, return_outputs)
            else:
                loss = self._fair_loss(model, inputs, self._fairness)
        # TRL logs the mean over micro-batches, which here hold unequally many pairs
        if self._shares:
            self._shares.popleft()
        for name, values in metrics.items():
            if name != "num_tokens" and len(values) > before.get(name, 0):
                values[-1] *= share.pairs
        return loss

    def _fair_loss(self, model: Any, inputs: Mapping[str, Any], fairness: FairPO) -> Any:
        """FairPO's loss of a micro-batch. TRL's makes the metrics, and is the loss of the first optimiser step."""
        batch = dict(inputs)
        if "ref_chosen_logps" not in batch:
            ref_logps = self.compute_ref_log_probs(self.ref_model or self.model, batch)
            batch |= dict(zip(("ref_chosen_logps", "ref_rejected_logps"), ref_logps, strict=True))
        outputs: list[Any] = []

        def noting(**options: Any) -> Any:
            outputs.append(model(**options))
            return outputs[-1]

        loss = super()._compute_loss(noting, batch, False)
        if not self.model.training:
            return loss
        logps, lengths = outputs[0].log_probs.sum(dim=1), batch["completion_mask"].sum(dim=1)
        reference = (batch["ref_chosen_logps"], batch["ref_rejected_logps"])
        pairs = PairTensors(logps.chunk(2), reference, lengths.chunk(2))
        weights = tuple(logps.new_tensor(side_weights) for side_weights in fairness.weights(inputs["slots"]))
        fairness.note(inputs["slots"], pairs, self._share.of_each)
        losses, rewards = fairpo_losses(pairs, weights, self.beta)
        for place, side in enumerate(("chosen", "rejected")):
            for name, values in (("weight", weights[place]), ("rewards", rewards[place].detach())):
                logged = self._metrics["train"][f"fairness/{name}_{side}"]
                logged.append(self.accelerator.gather(values).mean().item())
        return losses.mean() if self.state.global_step else loss


def refuse_weights(loss_types: Sequence[str]) -> None:
    """Refuse weights of pairs beside a loss that they cannot multiply.

    Raises:
        RecipeError: names the loss.
    """
    for name in loss_types:
        if name in UNWEIGHTED:
            raise RecipeError(
                f"key 'trainer.loss_type': {name} cannot be weighed by pairs: {UNWEIGHTED[name]}; write another loss, or leave "
                "out the weights of the pairs"
            )
