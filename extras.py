"""Optional libraries: imported where they are used, and named with their extra when absent."""

import importlib
from types import ModuleType

from .errors import MissingExtra

# library -> extra of pyproject.toml that installs it
EXTRAS: dict[str, str] = {
    "torch": "train",
    "transformers": "train",
    "trl": "train",
    "peft": "train",
    "accelerate": "train",
    "datasets": "train",
    "gguf": "train",
    "vllm": "vllm",
    "deepspeed": "deepspeed",
    "bitsandbytes": "quant",
    "sentence_transformers": "judges",
    "rouge_score": "judges",
    "nltk": "fairness",
    "networkx": "fairness",
    "spacy": "bias",
    "wandb": "wandb",
}


def need(library: str, feature: str) -> ModuleType:
    """The imported library.

    Args:
        library: the import name, with dots for a submodule.
        feature: what the user asked for, as the error should name it ("judge 'rouge'").

    Raises:
        MissingExtra: the library is not installed; the text says which extra brings it.
    """
    try:
        return importlib.import_module(library)
    except ModuleNotFoundError as error:
        top = library.partition(".")[0]
        if (error.name or "").partition(".")[0] != top:
            raise
        raise missing_extra(top, feature) from error


def missing_extra(library: str, feature: str) -> MissingExtra:
    """The error that a library is not installed, with what brings it; see `need`."""
    extra = EXTRAS.get(library)
    remedy = f"pip install 'evenhand[{extra}]'" if extra else f"pip install {library}"
    return MissingExtra(f"{feature} needs {library}, which is not installed: {remedy}")


def installed_versions(names: tuple[str, ...]) -> dict[str, str]:
    """Versions of the distributions that are installed, by name; absent ones are left out."""
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
