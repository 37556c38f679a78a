"""What libraries say on their own is kept from the terminal: bars of loading weights, advice about kernels, tables of weights.

Bars of downloads stay: they may take an hour.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

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
