"""A drop-in for `trl.DPOTrainer`: the same script, pairs, steps and losses, and each prompt of a micro-batch run once.

TRL tokenises, samples, cuts and logs; the collator packs what it is handed. So a stock script changed in its import line takes
the same steps. `group_by_prompt` lets pairs of one prompt meet in a micro-batch, where sharing pays most.
"""

import contextlib
import inspect
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, get_args

import torch
from accelerate.utils import is_peft_model
from torch.utils.data import Sampler
from trl.trainer.dpo_trainer import DataCollatorForPreference

from ..config import AUTO_ATTENTION
from ..config.trainer_values import CHOICES, wrong_values
from ..errors import DataError, EvenhandError, ModelError, RecipeError
from ..extras import need
from ..models.small_copy import undisturbed
from ..text.mistakes import listed
from ..text.shown import shortened
from .adapter_switch import switch_by_flag
from .attention import fastest, packing_refusal, use_packed_attention
from .dialogues import written_out
from .examples import warn_of_space
from .options import refuse_liger, splits
from .pair_collator import PairCollator, TruncationMode
from .probe import probe
from .shared_prefix import Packed

log = logging.getLogger(__name__)

# any version's, whose types differ
DPOTrainer: Any = need("trl", "training").DPOTrainer

NAME = "SharedPrefixDPOTrainer"
# arguments of DPOConfig that a packed sequence cannot have -> the values that ask for nothing, and why
REFUSED_ARGUMENTS: dict[str, tuple[tuple[Any, ...], str]] = {
    "padding_free": ((False, None), "packed sequences have no padding; leave it out"),
    "torch_compile": ((False, None), "a packed sequence has a shape of its own, and Dynamo gives up after eight; leave it out"),
    "neftune_noise_alpha": ((None, 0), "its noise depends on a row's length, which packing changes; leave it out"),
    "include_num_input_tokens_seen": (
        (False, None, "no"), "it would count other tokens than those that run, which num_tokens counts; leave it out",
    ),
}  # fmt: skip

AUXILIARY_LOSS = (
    "router_aux_loss_coef: the auxiliary loss of experts would be made of other tokens than with DPOTrainer, which runs a prompt "
    "twice for each pair; write router_aux_loss_coef=0.0 in DPOConfig"
)
PARTS = ("prompt", "chosen", "rejected")
TRUNCATION_MODES = get_args(TruncationMode)
# arguments whose words are those of any version of TRL, or that it has made something else of
CHECKED_BY_TRL = {*CHOICES, "accelerator_config"}


class SharedPrefixDPOTrainer(Packed, DPOTrainer):  # type: ignore[misc]
    """`trl.DPOTrainer`, which runs each prompt of a micro-batch once."""

    data_collator: Any

    def __init__(
        self, *arguments: Any, group_by_prompt: bool = False, attention: str | None = None, **options: Any
    ) -> None:
        """See `DPOTrainer`, whose arguments this takes.

        Args:
            arguments: those of DPOTrainer.
            group_by_prompt: pairs of one prompt follow each other in every epoch, prompts in random order; False keeps TRL's
                order of pairs, and its losses.
            attention: how packed sequences attend, as `model.attn_implementation` of a recipe; None for what the model has.
            options: those of DPOTrainer.

        Raises:
            RecipeError: what is asked for cannot be had with packed sequences; all of it is listed.
            DataError: the rows are no pairs.
        """
        values = inspect.signature(DPOTrainer.__init__).bind(self, *arguments, **options).arguments
        _refuse(values, group_by_prompt=group_by_prompt, attention=attention)
        evaluated = values.get("eval_dataset")
        # evaluation sets by name, where they are several
        self._several = evaluated if isinstance(evaluated, Mapping) else {}
        for name, rows in [
            ("train", values.get("train_dataset")),
            *((f"eval {key}", rows) for key, rows in self._several.items()),
            ("eval", None if evaluated is self._several else evaluated),
        ]:
            if rows is not None:
                _refuse_rows(rows, name)
        self._group_by_prompt, self._attention = group_by_prompt, attention
        # configuration of policy and reference, and the name of its packed attention
        self._attentions: list[tuple[Any, str]] = []
        super().__init__(*arguments, **options)
        if self.aux_loss_enabled:
            # of a model whose configuration could not be read before it was loaded
            raise RecipeError(f"{NAME}: {AUXILIARY_LOSS}, or use trl.DPOTrainer")
        self._pack()

    def _pack(self) -> None:
        """Policy, reference and collator take packed sequences from here on."""
        if self._attentions:
            return
        # else one process reads streamed rows, and hands out tensors cut in pieces; read by each they are the same pairs
        self.accelerator.dataloader_config.dispatch_batches = False
        for name, model in (("model", self.model), ("ref_model", self.ref_model)):
            if model is None:
                continue
            plain = self.accelerator.unwrap_model(model)
            base = plain
            if is_peft_model(plain):
                base = plain.get_base_model()
                switch_by_flag(plain)
            usual = base.config._attn_implementation
            attention = fastest(base) if self._attention == AUTO_ATTENTION else self._attention or usual
            if refusal := packing_refusal(base, attention):
                place = name if refusal.key == "model.name" else _asker(self._attention, name)
                raise ModelError(f"{NAME}: {place}: {refusal.reason}" + "; or use trl.DPOTrainer" * refusal.has_stock)
            use_packed_attention(base, attention, f"{NAME}: {_asker(self._attention, name)}")
            self._add_packed_forward(base)
            self._attentions.append((base.config, base.config._attn_implementation))
            base.config._attn_implementation = usual
        trl = self.data_collator
        self.data_collator = PairCollator(trl.pad_token_id, trl.max_length, trl.truncation_mode, trl.pad_to_multiple_of)

    @contextlib.contextmanager
    def _packed(self) -> Iterator[None]:
        """Within it, the models attend within packed sequences; outside as they were opened, so that they can generate."""
        usual = [config._attn_implementation for config, _ in self._attentions]
        for config, packed in self._attentions:
            config._attn_implementation = packed
        try:
            yield
        finally:
            for (config, _), attention in zip(self._attentions, usual, strict=True):
                config._attn_implementation = attention

    def _prepare_dataset(self, dataset: Any, processing_class: Any, args: Any, dataset_name: str) -> Any:
        # TRL gives one of several its own name alone
        is_one = dataset_name not in ("train", "eval") or dataset is self._several.get(dataset_name)
        name = f"eval {dataset_name}" if is_one else dataset_name
        _refuse_rows(dataset, name)
        if is_stream := not hasattr(dataset, "__len__"):
            # its rows are tokenised while it trains
            dataset = dataset.map(partial(_pair, name=name))
        try:
            prepared = super()._prepare_dataset(dataset, processing_class, args, dataset_name)
        except (ValueError, LookupError, TypeError, AttributeError):
            # TRL says neither which row it was nor what is wrong with it
            _refuse_rows(dataset, name, None)
            raise
        if not is_stream:
            _refuse_empty(prepared, name, len(dataset), args.max_length)
            _tell(prepared, name)
        return prepared

    def _precompute_ref_logps(self, dataset: Any, name: str, batch_size: int) -> Any:
        self._pack()
        with self._packed():
            return super()._precompute_ref_logps(dataset, name, batch_size)

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        rows = self.train_dataset if train_dataset is None else train_dataset
        if not self._group_by_prompt:
            return super()._get_train_sampler(train_dataset)
        seed = self.args.seed if self.args.data_seed is None else self.args.data_seed
        return PromptSampler(rows["prompt_ids"], seed, self)

    def compute_loss(
        self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """TRL's.

        Raises:
            RecipeError: logits are asked for, which nothing makes.
        """
        if return_outputs:
            raise RecipeError(
                f"{NAME}: packed sequences make no logits; write prediction_loss_only=True in DPOConfig, or use trl.DPOTrainer"
            )
        with self._packed():
            return super().compute_loss(model, inputs, return_outputs, num_items_in_batch)

    def training_step(self, *arguments: Any) -> Any:
        """TRL's; layers that are run again on the way back attend as on the way there."""
        with self._packed():
            return super().training_step(*arguments)


class PromptSampler(Sampler[int]):
    """Row numbers of an epoch: the pairs of a prompt one after another, prompts in an order of the epoch's own."""

    def __init__(self, prompts: Sequence[Sequence[int]], seed: int, trainer: Any) -> None:
        """See the class.

        Args:
            prompts: tokens of each row's prompt.
            seed: of the order.
            trainer: tells the number of the epoch that begins.
        """
        places: dict[tuple[int, ...], list[int]] = {}
        for place, prompt in enumerate(prompts):
            places.setdefault(tuple(prompt), []).append(place)
        self._rows, self._length = list(places.values()), len(prompts)
        self._seed, self._trainer = seed, trainer

    def __iter__(self) -> Iterator[int]:
        generator = torch.Generator().manual_seed(self._seed + int(self._trainer.state.epoch or 0))
        for number in torch.randperm(len(self._rows), generator=generator).tolist():
            yield from self._rows[number]

    def __len__(self) -> int:
        return self._length


def _asker(attention: str | None, name: str) -> str:
    """What asks for an attention, as errors name it."""
    return "attention" if attention else f"attn_implementation of the {name}"


def _refuse(values: dict[str, Any], *, group_by_prompt: bool, attention: str | None) -> None:
    """Refuse what packed sequences cannot have.

    Args:
        values: the arguments of DPOTrainer that are set.
        group_by_prompt: pairs of one prompt are to follow each other.
        attention: that is asked for.
    """
    arguments, dataset = values.get("args"), values.get("train_dataset")
    wrong = [
        f"{name}={shortened(getattr(arguments, name))} of DPOConfig: {why}"
        for name, (idle, why) in REFUSED_ARGUMENTS.items()
        if getattr(arguments, name, None) not in idle
    ]
    numbers = {
        name: value
        for name, value in (vars(arguments) if arguments else {}).items()
        # a rate of 0 shows losses alone
        if name not in CHECKED_BY_TRL and (name, value) != ("learning_rate", 0)
    }
    wrong += [f"{name} of DPOConfig: {mistake}" for name, mistake in wrong_values(numbers)]
    adapter, collator = values.get("peft_config"), values.get("data_collator")
    # TRL's collator says that, in the first step
    wrong += [
        f"truncation_mode of {part}: {end!r} is none of {', '.join(TRUNCATION_MODES)}"
        for part, owner in (("DPOConfig", arguments), ("data_collator", collator))
        if (end := getattr(owner, "truncation_mode", TRUNCATION_MODES[0])) not in TRUNCATION_MODES
    ]
    wrong += _wrong_adapters([adapter] if adapter else list(getattr(values["model"], "peft_config", {}).values()))
    # a class of one's own makes other batches
    if collator is not None and type(collator) is not DataCollatorForPreference:
        wrong.append(f"data_collator: pairs are packed, and {type(collator).__name__} would not; leave it out")
    if values.get("compute_metrics") is not None:
        wrong.append("compute_metrics: packed sequences make no logits; leave it out, TRL's own metrics are there")
    if arguments is not None and arguments.n_gpu > 1:
        wrong.append(
            f"{arguments.n_gpu} GPUs are visible to one process, which packed sequences are not split over; start one process a "
            "GPU with accelerate launch, or show it one GPU with CUDA_VISIBLE_DEVICES=0"
        )
    parallelism = getattr(arguments, "parallelism_config", None)
    if any(getattr(parallelism, f"{kind}_size", 1) > 1 for kind in ("cp", "sp", "tp")):
        wrong.append("parallelism_config of DPOConfig: a packed sequence is not split over devices; leave it out")
    if ways := splits(os.environ):
        wrong.append(f"the configuration of this `accelerate launch`: {ways}")
    if group_by_prompt and not hasattr(dataset, "__len__"):
        wrong.append("group_by_prompt: a data set that is streamed has no prompts to look through; load it whole")
    if group_by_prompt and getattr(arguments, "train_sampling_strategy", "random") != "random":
        wrong.append("group_by_prompt: train_sampling_strategy has another order; leave one of the two out")
    shape = _shape(values["model"], arguments)
    wrong += [] if shape is None else _wrong_model(shape, arguments, attention)
    if arguments is not None and getattr(arguments, "use_liger_kernel", False):
        try:
            refuse_liger("use_liger_kernel of DPOConfig", use_cpu=arguments.device.type == "cpu")
        except EvenhandError as refused:
            wrong.append(str(refused))
    if wrong:
        raise RecipeError(
            f"{NAME}: {listed(wrong)}" + ("\nOr use trl.DPOTrainer" if shape is None or probe(shape).has_stock else "")
        )


def _wrong_adapters(adapters: Sequence[Any]) -> Iterator[str]:
    """What of these adapters' configurations packed sequences cannot have."""
    if any(getattr(config, "is_prompt_learning", False) for config in adapters):
        yield "peft_config: virtual tokens have no place in a packed sequence; write a LoraConfig"
    if any(getattr(config, "alora_invocation_tokens", None) for config in adapters):
        yield "peft_config: alora_invocation_tokens are looked for in rows, and a packed sequence has none; leave them out"


def _shape(model: Any, arguments: Any) -> Any:
    """The model without adapter, or one of its kind without weights; None where a name gives no configuration: TRL says that."""
    if not isinstance(model, str):
        return model.get_base_model() if is_peft_model(model) else model
    transformers = need("transformers", "training")
    asked = getattr(arguments, "model_init_kwargs", None) or {}
    try:
        config = transformers.AutoConfig.from_pretrained(model, revision=asked.get("revision"), trust_remote_code=False)
        with undisturbed("meta"):
            shape = transformers.AutoModelForCausalLM.from_config(config, trust_remote_code=False)
    except (OSError, ValueError, KeyError, AttributeError, TypeError, ImportError):
        return None
    # what it will be opened with
    shape.config._attn_implementation = asked.get("attn_implementation") or shape.config._attn_implementation
    return shape


def _wrong_model(model: Any, arguments: Any, attention: str | None) -> Iterator[str]:
    """What of this model packed sequences cannot have."""
    # whatever is the fastest can
    meant = "sdpa" if attention == AUTO_ATTENTION else attention or model.config._attn_implementation
    if refusal := packing_refusal(model, meant):
        place = "model" if refusal.key == "model.name" else _asker(attention, "model")
        yield f"{place}: {refusal.reason}"
    # TRL adds the loss that balances experts by the same rule
    config, weight = model.config.get_text_config(), getattr(arguments, "router_aux_loss_coef", None)
    weight = getattr(config, "router_aux_loss_coef", 0.0) if weight is None else weight
    if hasattr(config, "output_router_logits") and weight != 0:
        yield AUXILIARY_LOSS


def _refuse_rows(dataset: Any, name: str, n_rows: int | None = 1) -> None:
    """Refuse a data set that has no pairs in its first rows, or, with None, in any row; TRL refuses what is no data set."""
    number = -1
    for number, row in enumerate(islice(dataset, n_rows)):
        if not isinstance(row, Mapping):
            return
        _pair(row, name, number)
    if number < 0:
        raise DataError(f"{NAME}: the {name} data set has no rows")


def _pair(row: Mapping[str, Any], name: str, number: int | None = None) -> Mapping[str, Any]:
    """The row.

    Args:
        row: of the data set.
        name: of the data set.
        number: of the row; None in a stream, of which each worker reads shards of its own.

    Raises:
        DataError: it is no pair.
    """
    if missing := {"chosen", "rejected"} - row.keys():
        raise DataError(
            f"{NAME}: the {name} data set has the columns {', '.join(sorted(row))} and lacks "
            f"{' and '.join(sorted(missing))}; TRL's pairs have 'chosen' and 'rejected', and 'prompt' unless both begin with "
            "it"
        )
    forms = {column: _form(row[column]) for column in PARTS if column in row}
    if set(forms.values()) not in ({"a text"}, {"turns"}):
        mistake = (
            f"{', '.join(f'{column} is {form}' for column, form in forms.items())}; write all as texts, or all as turns (lists "
            "of 'role' and 'content'), and leave 'prompt' out where both sides begin with it"
        )
    elif "prompt" not in row and forms["chosen"] == "turns" and row["chosen"][0] != row["rejected"][0]:
        mistake = (
            f"chosen and rejected begin with different turns ({shortened(row['chosen'][0])} and {shortened(row['rejected'][0])})"
            "; write what was asked as 'prompt'"
        )
    else:
        return row
    place = f"the row {shortened(dict(row))}" if number is None else f"row {number}"
    raise DataError(f"{NAME}: in {place} of the {name} data set {mistake}")


def _form(value: Any) -> str:
    """What TRL would take a column's value for, in words."""
    if isinstance(value, str):
        return "a text"
    has_roles = (
        isinstance(value, Sequence) and value and all(isinstance(turn, Mapping) and "role" in turn for turn in value)
    )
    return "turns" if has_roles else shortened(value)


def _refuse_empty(pairs: Any, name: str, n_before: int, max_length: int | None) -> None:
    """Refuse pairs of which a side has no token that something comes before, and warn of those that TRL leaves out.

    Args:
        pairs: in tokens.
        name: of their data set.
        n_before: pairs that there were before TRL left some out.
        max_length: tokens from which on a prompt was left out.
    """
    empty = [
        row
        for row, (prompt, *sides) in enumerate(zip(*(pairs[f"{part}_ids"] for part in PARTS), strict=True))
        if not all(len(side) > (not prompt) for side in sides)
    ]
    if empty:
        raise DataError(
            f"{NAME}: {len(empty)} of {len(pairs)} pairs of the {name} data set have a side without a token, or without a prompt "
            f"and with one, the first with the prompt {shortened(pairs[empty[0]]['prompt'])}; leave such pairs out"
        )
    if not len(pairs):
        raise DataError(
            f"{NAME}: all {n_before} prompts of the {name} data set have at least max_length={max_length} tokens, so that "
            "nothing of a completion would be left; raise it in DPOConfig"
        )
    if len(pairs) < n_before:
        log.warning(
            "%s data set: %d of %d pairs are left out, because their prompts have at least max_length=%d tokens",
            name, n_before - len(pairs), n_before, max_length,
        )  # fmt: skip


def _tell(pairs: Any, name: str) -> None:
    """Say how much of the prompts is shared; warn of prompts that white space alone tells apart, and of turns in texts."""
    prompts = {tuple(prompt) for prompt in pairs["prompt_ids"]}
    log.info("%s data set: %d pairs of %d prompts", name, len(pairs), len(prompts))
    written = [
        row
        for row, texts in enumerate(zip(*(pairs[part] for part in PARTS), strict=True))
        if any(isinstance(text, str) and written_out(text) for text in texts)
    ]
    if written:
        log.warning(
            "%s data set: %d of %d pairs have conversations that were written as text (the first: row %d), which TRL trains as "
            "they are; keep pairs as JSON Lines (to_json), not as CSV", name, len(written), len(pairs), written[0],
        )  # fmt: skip
    texts = (
        prompt if isinstance(prompt, str) else "\n".join(str(value) for turn in prompt for value in turn.values())
        for prompt in pairs["prompt"]
    )
    warn_of_space(f"{name} data set", "row", enumerate(texts))
