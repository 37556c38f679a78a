"""Libraries: optional ones are imported where they are used, and named with their extra when absent; none may fill the terminal.

Bars of loading weights, advice about kernels and tables of weights are kept away. Bars of downloads stay: they may take an hour.
How much is said is a variable of the environment, which -q and -v set for a command and its children.
"""

import importlib
import logging
import os
import sys
import threading
import traceback
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, TracebackType

from .errors import MissingExtra
from .text.controls import visible
from .text.secrets import redacted

# library -> extra of pyproject.toml that installs it
EXTRAS: dict[str, str] = {
    "torch": "train",
    "transformers": "train",
    "trl": "train",
    "peft": "train",
    "accelerate": "train",
    "datasets": "train",
    "gguf": "train",
    "huggingface_hub": "train",
    "vllm": "vllm",
    "openai": "openai",
    "aiolimiter": "openai",
    "starlette": "serve",
    "uvicorn": "serve",
    "prometheus_client": "serve",
    "ray": "ray",
    "grpc": "ray",
    "deepspeed": "deepspeed",
    "bitsandbytes": "quant",
    "liger_kernel": "liger",
    "sentence_transformers": "judges",
    "rouge_score": "judges",
    "choix": "compare",
    "nltk": "fairness",
    "networkx": "fairness",
    "spacy": "bias",
    "wandb": "wandb",
    "inspect_ai": "inspect",
    "anyio": "inspect",
    "openpyxl": "xlsx",
}

# variable: "quiet" or "verbose", else anything
VERBOSITY = "EVENHAND_VERBOSITY"
# what is logged of our own modules, and of libraries
LEVELS = {
    "quiet": (logging.ERROR, logging.ERROR),
    "": (logging.INFO, logging.WARNING),
    "verbose": (logging.INFO, logging.INFO),
}
# libraries that report what they do, or recommend kernels that they might load
CHATTY = {
    "absl": logging.WARNING,
    "bitsandbytes": logging.ERROR,
    "datasets": logging.WARNING,
    "filelock": logging.WARNING,
    "httpx": logging.WARNING,
    "httpx2": logging.WARNING,
    # each try of a hub that is out of reach; what is then missing is said once
    "huggingface_hub.utils._http": logging.ERROR,
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
    return {name: version for name in names if (version := _installed_version(name)) is not None}


@cache
def _installed_version(name: str) -> str | None:
    """Its version, looked up once: that takes milliseconds, and what a process has imported is of that version."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return None


def untried(libraries: Collection[str], requirements: Iterable[str] | None = None) -> Iterator[str]:
    """Sentences on installed libraries of other versions than evenhand was tested with, each with what to do.

    Args:
        libraries: import names, which are those of their distributions.
        requirements: lines such as "trl<1.17; extra == 'train'"; None takes those of evenhand's installation.
    """
    from importlib.metadata import PackageNotFoundError, requires

    try:
        lines: Iterable[str] = (requires("evenhand") or []) if requirements is None else requirements
    except PackageNotFoundError:
        return
    # it comes with every library whose versions have an end
    if find_spec("packaging") is None:
        return
    reading = importlib.import_module("packaging.requirements")
    for line in lines:
        requirement = reading.Requirement(line)
        name = requirement.name
        # vLLM's build for processors is a distribution of its own
        versions = installed_versions((name, f"{name}-cpu")) if name in libraries else {}
        for distribution, version in versions.items():
            if not requirement.specifier.contains(version, prereleases=True):
                yield (
                    f"{distribution} {version} was not tried with this evenhand: if something fails, "
                    f"pip install '{distribution}{requirement.specifier}'"
                )


def verbosity() -> str:
    """ "quiet", "verbose" or ""."""
    level = os.environ.get(VERBOSITY, "")
    return level if level in LEVELS else ""


def start_logging(form: str = "%(levelname)s %(name)s: %(message)s", how: str | None = None) -> None:
    """Log to stderr as much as is asked for, or as `how` says; libraries speak only of what matters unless all is asked for."""
    how = verbosity() if how is None else how
    level, library_level = LEVELS[how]
    logging.basicConfig(format=form, handlers=[_ToStderr()])
    logging.getLogger().setLevel(library_level)
    logging.getLogger(__package__).setLevel(level)
    if how != "verbose":
        quiet_libraries()
    sys.excepthook = show_fault
    if threading.excepthook is threading.__excepthook__:
        threading.excepthook = lambda fault: show_fault(fault.exc_type, fault.exc_value, fault.exc_traceback)


def show_fault(kind: type[BaseException], error: BaseException | None, trace: TracebackType | None) -> None:
    """Write a traceback to stderr, without keys and control characters that the texts in it may have."""
    sys.stderr.write(visible(redacted("".join(traceback.format_exception(kind, error, trace)))))


def give_home() -> None:
    """Let libraries take $EVENHAND_CACHE for the home folder of a user who has none, as in containers: several end without."""
    folder = os.environ.get("EVENHAND_CACHE")
    try:
        Path.home()
    except RuntimeError:
        if folder:
            os.environ["HOME"] = str(Path(folder).absolute())


def quiet_libraries() -> None:
    """Let libraries speak only of what matters."""
    for name, level in CHATTY.items():
        logging.getLogger(name).setLevel(level)


def no_bars() -> bool | None:
    """What tqdm takes for `disable`: bars stand in terminals alone, and nowhere with -q."""
    return True if verbosity() == "quiet" else None


class _ToStderr(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to what `sys.stderr` is at that moment: a bar takes its place while it is shown."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)

    def format(self, record: logging.LogRecord) -> str:
        """The line, without keys, and in which documents and names of others write no control sequence."""
        return visible(redacted(super().format(record)))


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
