"""Libraries: optional ones are imported where they are used, and named with their extra when absent; none may fill the terminal.

Bars of loading weights, advice about kernels and tables of weights are kept away. Bars of downloads stay: they may take an hour.
"""

import importlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager
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

# libraries that report what they do, or recommend kernels that they might load
CHATTY = {
    "absl": logging.WARNING,
    "bitsandbytes": logging.ERROR,
    "datasets": logging.WARNING,
    "filelock": logging.WARNING,
    "httpx": logging.WARNING,
    "sentence_transformers": logging.WARNING,
}
# what transformers alone can tell of weights; those that are missing or left out are looked at by `models.opening`
ITS_OWN = "CONVERSION"


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


def quiet_libraries() -> None:
    """Let libraries speak only of what matters."""
    for name, level in CHATTY.items():
        logging.getLogger(name).setLevel(level)


@contextmanager
def without_load_report() -> Iterator[None]:
    """Drop the bar and the report of weights that transformers loads in this block, unless some could not be converted."""
    from huggingface_hub.utils.tqdm import are_progress_bars_disabled, enable_progress_bars
    from transformers.utils import logging as messages

    def is_news(record: logging.LogRecord) -> bool:
        text = record.getMessage()
        return "LOAD REPORT" not in text or ITS_OWN in text

    log = logging.getLogger("transformers.modeling_utils")
    log.addFilter(is_news)
    no_downloads = are_progress_bars_disabled()
    messages.disable_progress_bar()  # type: ignore[no-untyped-call]
    if not no_downloads:
        # transformers turns these off with its own
        enable_progress_bars()
    try:
        yield
    finally:
        log.removeFilter(is_news)
        if not no_downloads:
            messages.enable_progress_bar()  # type: ignore[no-untyped-call]
