"""The names of TRL's own scripts on a command line: `--learning_rate 1e-4` is `--set trainer.learning_rate=1e-4`.

All keys of trl.DPOConfig are names, with the values and the mistakes of a recipe's section `trainer`; so are a few of
trl.ModelConfig. They are listed so that a command line is read without importing torch; a test compares them with the installed
TRL.
"""

from collections.abc import Collection, Iterator, Sequence

from ..errors import RecipeError
from ..text import did_you_mean
from ..text.mistakes import listed
from .trainer_keys import EFFECTIVE_KEYS, RENAMED_TRAINER_KEYS, TRAINER_KEYS
from .trainer_values import FLAGS

# names of trl.ModelConfig -> the recipe's keys of the same meaning
MODEL_NAMES = {
    "attn_implementation": "model.attn_implementation",
    "dtype": "model.dtype",
    "lora_alpha": "lora.lora_alpha",
    "lora_dropout": "lora.lora_dropout",
    "lora_r": "lora.r",
    "lora_target_modules": "lora.target_modules",
    "model_name_or_path": "model.name",
    "model_revision": "model.revision",
}
# further names of TRL's script -> what to write instead
ELSEWHERE = {
    "dataset_name": "the pairs of the round are trained on; others are named by --set train.pairs=FILE",
    "dataset_test_split": "write --set train.eval_pairs=0.1, a share of the document sets, or FILE",
    "load_in_4bit": "write --set model.quantise=nf4",
    "use_peft": "leave it out; an adapter is what is trained",
}
# what may stand behind a flag
SWITCHES = {"true", "false", "yes", "no", "auto"}
# keys that take several words
LISTS = frozenset({"loss_type", "loss_weights", "lora_target_modules", "report_to"})
NAMES = TRAINER_KEYS | RENAMED_TRAINER_KEYS.keys() | MODEL_NAMES.keys()


def with_overrides(words: Sequence[str], options: Collection[str]) -> list[str]:
    """The words of a command line with TRL's names as `--set KEY=VALUE`.

    Args:
        words: behind the command's name.
        options: those of the command itself: {"--set", "--help", ...}.

    Raises:
        RecipeError: an option is neither the command's nor TRL's, or lacks its value; all are listed.
    """
    read_words: list[str] = []
    mistakes: list[str] = []
    coming = list(words)
    while coming:
        word = coming.pop(0)
        option, equals, value = word.partition("=")
        if word == "--":
            read_words += [word, *coming]
            break
        if not option.startswith("--") or option in options:
            read_words.append(word)
            continue
        name = option[2:].replace("-", "_")
        if name not in NAMES and name.removeprefix("no_") in FLAGS:
            name, equals, value = name.removeprefix("no_"), "=", "false"
        if name in ELSEWHERE or name not in NAMES:
            mistakes.append(f"{option}{_unknown(name, options)}")
            continue
        values = [value] if equals else list(_values(name, coming, options))
        if not values:
            mistakes.append(f"{option}: needs a value")
            continue
        read_words += ["--set", f"{MODEL_NAMES.get(name, f'trainer.{name}')}={_yaml(name, values)}"]
    if mistakes:
        raise RecipeError(listed(mistakes))
    return read_words


def _values(name: str, coming: list[str], options: Collection[str]) -> Iterator[str]:
    """Take the values of a name from the words that follow it."""
    if name in FLAGS:
        yield coming.pop(0) if coming and coming[0].lower() in SWITCHES else "true"
        return
    while coming and not coming[0].startswith("--") and coming[0] not in options:
        yield coming.pop(0)
        if name not in LISTS:
            return


def _yaml(name: str, values: Sequence[str]) -> str:
    """The values as --set reads them."""
    if name not in LISTS or values[0].startswith("[") or values[0] == "all-linear":
        return " ".join(values)
    return f"[{', '.join(values)}]"


def _unknown(name: str, options: Collection[str]) -> str:
    if name in ELSEWHERE:
        return f": {ELSEWHERE[name]}"
    # refused keys are nobody's wish
    names = (*MODEL_NAMES, *" ".join(EFFECTIVE_KEYS.values()).split())
    near = did_you_mean(f"--{name}", (*options, *(f"--{known}" for known in names)))
    return f" is no option here, and not a key of trl.DPOConfig{near}"
