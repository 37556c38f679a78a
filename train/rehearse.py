"""What a training would refuse at its start, asked before anything is generated: `python -m evenhand.train.rehearse`.

A process of its own, by the training's own interpreter: TRL, PEFT and accelerate are asked what they make of the recipe, with the
model as a shape without weights. Reads a recipe as JSON, writes the list of mistakes as JSON.
"""

import contextlib
import gc
import json
import math
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..config import Recipe
from ..errors import DataError, EvenhandError, RecipeError
from ..extras import need
from ..generate.causal_lm import check_causal_lm
from ..models import file_at_hand
from ..models.files import read_settings
from ..models.opening import fitting_attention
from ..runfolder.phases import round_name
from ..text.mistakes import listed_lines
from .foreign import read_pairs
from .launch import accelerate_config, is_zero3, loses_passes, n_machines, n_processes, read_accelerate
from .options import accumulation, refuse_early_reference, refuse_passes, trainer_config, trainer_options
from .stage import eval_file, own_pairs, round_seed

if TYPE_CHECKING:
    from .examples import TrainingPairs

# the last line of the output begins so; libraries print what they like before it
ANSWER = "mistakes: "


def rehearse(recipe: Recipe) -> list[str]:
    """What is wrong with the recipe's training here, as far as no weights are needed to see it."""
    mistakes: dict[str, None] = {}
    checks: list[Callable[[Recipe], Any]] = [
        _refuse_launch,
        _refuse_reference,
        _refuse_options,
        _refuse_shape,
        _refuse_incomplete,
        _refuse_adapter,
        _refuse_pairs,
    ]
    for check in checks:
        try:
            check(recipe)
        except EvenhandError as error:
            mistakes.setdefault(str(error))
    if not mistakes:
        # what only shows while a training runs; what is wrong by itself would be said again
        from .trial import refuse_step

        # libraries collect garbage within a step, and all that was imported so far would be looked through
        gc.freeze()
        try:
            refuse_step(recipe)
        except EvenhandError as error:
            return [str(error)]
    return list(mistakes)


def _refuse_launch(recipe: Recipe) -> None:
    """Refuse an accelerate configuration that accelerate cannot read, or that wants what is not on this machine."""
    path = accelerate_config(recipe.train.accelerate_config)
    wanted = n_processes(recipe.train, path)
    accumulation(recipe, wanted)
    machines = n_machines(recipe.train, path)
    per_machine, nodes = wanted // machines, os.environ.get("SLURM_JOB_NUM_NODES", "")
    if recipe.train.launcher == "srun" and nodes.isdigit() and int(nodes) < machines:
        raise RecipeError(
            f"key 'train.num_machines': training on {machines} nodes, and this job of SLURM's has {nodes}; ask for more "
            "nodes, or write fewer machines"
        )
    values = read_accelerate(path)
    kind = values.distributed_type.upper()
    if kind == "DEEPSPEED":
        need("deepspeed", "key 'train.accelerate_config': DeepSpeed")
    if recipe.model.quantise == "nf4":
        need("bitsandbytes", "key 'model.quantise': nf4")
    need("accelerate", "training")
    from accelerate.commands.config.config_args import load_config_from_file
    from accelerate.utils import PrecisionType

    try:
        load_config_from_file(str(path))
        # which the launch reads with code of its own
        PrecisionType(str(values.mixed_precision).lower())
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise RecipeError(
            f"key 'train.accelerate_config': accelerate refuses {path}: {error}; `accelerate config` writes one"
        ) from error
    further = (values.deepspeed_config or {}).get("deepspeed_config_file")
    if further is not None and not Path(str(further)).is_file():
        raise RecipeError(f"key 'train.accelerate_config': {path} names {further!r}, and there is no such file")
    n_gpus = 0 if values.use_cpu else need("torch", "training").accelerator.device_count()
    if not values.use_cpu and n_gpus < per_machine and (kind != "NO" or n_gpus):
        raise RecipeError(
            f"key 'train.accelerate_config': {path.stem!r} starts {per_machine} processes with a GPU each, and {n_gpus} are "
            "visible here; name another configuration (cpu, zero2_cpu), or write train.num_processes"
        )
    if recipe.model.dtype == "float16" and not need("torch", "training").accelerator.is_available():
        raise RecipeError("key 'model.dtype': float16 cannot be trained without a GPU; write bfloat16 or float32")


def _refuse_reference(recipe: Recipe) -> None:
    kind = read_accelerate(accelerate_config(recipe.train.accelerate_config)).distributed_type.upper()
    refuse_early_reference(recipe, is_fsdp=kind == "FSDP")


def _refuse_options(recipe: Recipe) -> None:
    """Refuse options that TRL does not take, and an optimiser whose library is not here."""
    with tempfile.TemporaryDirectory() as folder:
        options = trainer_config(recipe, round_name(0), 0, Path(folder))
    if options.optim.value in ("adamw_torch", "adamw_torch_fused"):
        return
    transformers = need("transformers", "training")
    try:
        transformers.Trainer.get_optimizer_cls_and_kwargs(options)
    except (ValueError, ImportError) as error:
        raise RecipeError(f"key 'trainer.optim': {options.optim.value} cannot be had here: {error}") from error


def _refuse_shape(recipe: Recipe) -> None:
    """Refuse an adapter that finds no layers in the model, and a model whose attention cannot keep candidates apart."""
    torch, transformers, peft = (need(name, "training") for name in ("torch", "transformers", "peft"))
    from .attention import loaded_with, refuse_cpu, use_packed_attention
    from .policy import new_lora_config, refuse_quantised
    from .probe import refuse_stock

    attention, is_shared = recipe.model.attn_implementation, recipe.train.trainer == "shared-prefix"
    # the model stands on no device here
    use_cpu = bool(read_accelerate(accelerate_config(recipe.train.accelerate_config)).use_cpu)
    path = file_at_hand(recipe.model.name, recipe.model.revision, "config.json")
    if path is None:
        # not there yet, as embedded models are until they are first used
        refuse_cpu(attention, use_cpu=use_cpu)
        return
    refuse_quantised(recipe.model)
    loaded = loaded_with(attention) if is_shared else fitting_attention(recipe.model.answers_with, read_settings(path))
    try:
        config = transformers.AutoConfig.from_pretrained(path.parent, trust_remote_code=False)
        with torch.device("meta"):
            model = transformers.AutoModelForCausalLM.from_config(
                config, attn_implementation=loaded, trust_remote_code=False
            )
    except (ValueError, TypeError, AttributeError, ImportError, OSError) as error:
        raise RecipeError(f"key 'model.name': {recipe.model.name!r} cannot be opened for training: {error}") from error
    if is_shared:
        use_packed_attention(model, attention)
    else:
        refuse_stock(model)
    refuse_cpu(attention, use_cpu=use_cpu)
    try:
        adapted = peft.get_peft_model(model, new_lora_config(peft, recipe.lora))
    except (ValueError, TypeError, RuntimeError) as error:
        mend = "; name layers that it has, or write lora.target_modules: all-linear" * ("arget modules" in str(error))
        raise RecipeError(f"section 'lora': PEFT refuses it: {error}{mend}") from error
    if isinstance(adapted.get_output_embeddings(), peft.tuners.tuners_utils.BaseTunerLayer):
        raise RecipeError(
            "key 'lora.target_modules': names the model's head, whose adapter TRL would not train, since it reads the head's "
            "weights alone; leave it out"
        )


def _refuse_incomplete(recipe: Recipe) -> None:
    if file_at_hand(recipe.model.name, recipe.model.revision, "config.json") is not None:
        check_causal_lm(recipe.model, recipe.model.adapter, "training")


def _refuse_adapter(recipe: Recipe) -> None:
    if recipe.model.adapter is not None:
        from .policy import adapter_config

        adapter_config(recipe.model.adapter, recipe.lora)


def _refuse_pairs(recipe: Recipe) -> None:
    path = own_pairs(recipe)
    files = [file for file in (path, eval_file(recipe)) if file is not None]
    if not files:
        return
    if file_at_hand(recipe.model.name, recipe.model.revision, "tokenizer_config.json") is None:
        for file in files:
            _, mistakes = read_pairs(file, recipe.train.form)
            if mistakes:
                raise DataError(listed_lines(file, mistakes))
        return
    from .held_out import read_eval_pairs, read_examples
    from .policy import load_tokenizer

    tokenizer = load_tokenizer(recipe.model)
    if path is None:
        # the round's own are not there yet
        read_eval_pairs(recipe, files[0], tokenizer)
        return
    examples, _ = read_examples(recipe, path, tokenizer)
    if loses_passes(recipe):
        _refuse_passes(recipe, examples)


def _refuse_passes(recipe: Recipe, examples: "TrainingPairs") -> None:
    """Refuse pairs of which a micro-batch needs several passes, where these would be lost; in the order of the first round."""
    from .groups import build_groups, families
    from .sampler import RequestSampler

    groups, config = build_groups(examples.rows), accelerate_config(recipe.train.accelerate_config)
    options, processes = trainer_options(recipe), n_processes(recipe.train, config)
    steps = accumulation(recipe, processes)
    sampler = RequestSampler(
        [group.length for group in groups],
        (options["per_device_train_batch_size"] * steps * processes, processes, steps),
        0,
        round_seed(recipe, 0),
        lambda: 0,
        families([group.prompt_ids for group in groups]) if recipe.train.shuffle == "sets" else None,
    )
    largest = sampler.most_tokens(math.ceil(options["num_train_epochs"]))
    refuse_passes(largest, recipe.train.max_tokens_per_pass, is_zero3=is_zero3(config))


def _unneeded(recipe: Recipe) -> list[str]:
    """Packages that the libraries import whenever they are there, which takes a third of the time, and that this training lacks
    a use for.
    """
    packages = ["sklearn"]
    if recipe.model.quantise is None and "optim" not in recipe.trainer:
        packages += ["bitsandbytes", "scipy"]
    if recipe.wandb is None:
        packages.append("wandb")
    # a configuration that cannot be read is refused by a check
    with contextlib.suppress(EvenhandError):
        values = read_accelerate(accelerate_config(recipe.train.accelerate_config))
        if values.distributed_type.upper() != "DEEPSPEED":
            packages.append("deepspeed")
    return packages


def main() -> int:
    """Answer on standard output; 0 also when mistakes were found."""
    # the imports make millions of objects that stay; a process this short can keep its garbage
    gc.disable()
    recipe = Recipe.model_validate_json(sys.stdin.read())
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    for unneeded in _unneeded(recipe):
        # None hides a package
        sys.modules[unneeded] = None  # type: ignore[assignment]
    print(ANSWER + json.dumps(rehearse(recipe)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
