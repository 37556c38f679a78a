"""A training of one step before any work: made-up pairs and a tiny Llama, and all else as the recipe has it.

What TRL, transformers and torch take for a value and stumble over in the first step, or while they make ready for it, is found by
nothing less. It runs on the CPU of whatever machine, through the code that trains.
"""

import tempfile
from pathlib import Path
from typing import Any

from ..config import AUTO_ATTENTION, PACKED_ATTENTION, Recipe
from ..errors import EvenhandError, RecipeError
from ..extras import need
from ..generate.backend import prompt_tokens, tokens_digest
from ..models.wholeness import told
from ..records import Message, PairFairness, PreferencePair
from ..runfolder.phases import open_phase, round_name
from ..runfolder.processes import environment
from ..storage import write_jsonl
from .options import AUTO, asked_checkpointing
from .stage import training_stage
from .training import run_training

# how libraries, and evenhand, refuse a value
REFUSALS = (
    EvenhandError, ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, OSError, RuntimeError, TypeError,
    ValueError,
)  # fmt: skip
# all that the tiny model can say
END, PADDING, UNKNOWN = "<end>", "<padding>", "<unknown>"
WORDS = (END, PADDING, UNKNOWN, "Trial", "0", "1", "yes", "no")
# keys of trl.DPOConfig that have no place in a step with two short pairs
OF_LONG_TRAININGS = frozenset(
    """
    dataloader_drop_last eval_delay eval_steps max_length num_train_epochs report_to save_steps save_total_limit
    """.split()
)
# keys that start processes of their own, where there are any
OF_WORKERS = frozenset(
    """
    dataloader_in_order dataloader_multiprocessing_context dataloader_num_workers dataloader_persistent_workers
    dataloader_prefetch_factor
    """.split()
)
# keys that an accelerator takes and the CPU beside it need not
OF_ACCELERATORS = frozenset(
    """
    activation_offloading fp16 liger_kernel_config optim optim_args tf32 torch_compile torch_compile_backend torch_compile_mode
    use_liger_kernel
    """.split()
)


def refuse_step(recipe: Recipe) -> None:
    """Train one step.

    Raises:
        RecipeError: the step cannot be made; what the library says.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tokenizer = write_toy(folder / "toy")
        is_fair = recipe.train.fairness is not None
        pairs = [made_up(tokenizer, number, is_fair=is_fair) for number in range(3)]
        write_jsonl(folder / "pairs.jsonl", pairs[:2])
        write_jsonl(folder / "eval.jsonl", pairs[2:])
        phase = open_phase(_on_toy(recipe, folder), round_name(0))
        variables = {
            "ACCELERATE_USE_CPU": "true",
            "EVENHAND_CACHE": str(folder / "cache"),
            "HF_HUB_DISABLE_TELEMETRY": "1",
        }
        try:
            with environment(**variables):
                run_training(phase, training_stage(phase, 1))
        except REFUSALS as error:
            text = str(error)
            if not text.startswith(("key ", "section ")):
                text = f"section 'trainer': a training of one step with it ends so: {told(error)}"
            raise RecipeError(text) from error


def write_toy(folder: Path, n_layers: int = 1, width: int = 16) -> Any:
    """Write a Llama that knows a few words; its tokenizer."""
    tokenizers, transformers = (need(name, "training") for name in ("tokenizers", "transformers"))
    words = {word: number for number, word in enumerate(WORDS)}
    model = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token=UNKNOWN))
    model.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=model, eos_token=END, pad_token=PADDING, unk_token=UNKNOWN
    )
    config = transformers.LlamaConfig(
        vocab_size=len(words), hidden_size=width, intermediate_size=width, num_hidden_layers=n_layers, num_attention_heads=2,
        num_key_value_heads=1, eos_token_id=words[END], pad_token_id=words[PADDING], bos_token_id=None,
    )  # fmt: skip
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return tokenizer


def _on_toy(recipe: Recipe, folder: Path) -> Recipe:
    """The recipe with one step, and the toy in the place of its model."""
    has_accelerator = need("torch", "training").accelerator.is_available()
    unasked = OF_LONG_TRAININGS | (OF_ACCELERATORS if has_accelerator else set())
    if recipe.trainer.get("dataloader_num_workers", 0) > 0:
        unasked |= OF_WORKERS
    model, train = recipe.model, recipe.train
    setting = asked_checkpointing(recipe)
    has_checkpointing = setting is True or (setting == AUTO and "gradient_checkpointing_kwargs" in recipe.trainer)
    evaluates = recipe.train.eval_pairs is not None
    changed = {
        "output": folder / "run",
        "wandb": None,
        "model": {
            "name": str(folder / "toy"),
            "dtype": "float32" if model.dtype == "float16" else model.dtype,
            "attn_implementation": "sdpa"
            if model.attn_implementation in (AUTO_ATTENTION, *PACKED_ATTENTION)
            else model.attn_implementation,
        },
        "lora": recipe.lora.model_dump() | {"target_modules": "all-linear"},
        "train": train.model_dump()
        | {"pairs": folder / "pairs.jsonl", "accelerate_config": "cpu", "num_processes": None}
        | ({"eval_pairs": folder / "eval.jsonl"} if evaluates else {}),
        "trainer": {key: value for key, value in recipe.trainer.items() if key not in unasked}
        | {"max_steps": 1, "save_strategy": "no", "gradient_checkpointing": has_checkpointing}
        | ({"eval_strategy": "steps", "save_strategy": "steps", "save_steps": 1} if evaluates else {}),
    }
    return Recipe.model_validate(recipe.model_dump() | changed)


def made_up(tokenizer: Any, number: int, *, is_fair: bool) -> PreferencePair:
    """A pair of the request of that number, in the toy's words: of 0 and 1, and one more that it has no word for."""
    prompt = (Message(role="user", content=f"Trial {number}"),)
    favoured, neglected, unmoved = (1.0, 0.0, 0.0, 1.0), (0.0, 1.0, 1.0, 0.0), (0.0,) * 4
    fairness = PairFairness(
        values=("a", "b"), diff=1.0, num=(1.0,) * 4, weight_chosen=favoured, weight_rejected=neglected, pow_chosen=unmoved,
        pow_rejected=unmoved,
    )  # fmt: skip
    return PreferencePair(
        prompt=prompt, chosen=(Message(role="assistant", content="yes"),),
        rejected=(Message(role="assistant", content="no"),), request_id=f"trial/{number}", set_id=f"trial-{number}", side="a",
        chosen_id=f"{number}/yes", rejected_id=f"{number}/no", chosen_reward=1.0, rejected_reward=0.0, margin=1.0,
        fairness=fairness if is_fair else None, prompt_digest=tokens_digest(prompt_tokens(tokenizer, prompt)),
    )  # fmt: skip
