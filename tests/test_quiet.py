"""What libraries say on their own."""

import logging

import pytest

from evenhand.extras import CHATTY, quiet_libraries, without_load_report

LIBRARY = logging.getLogger("transformers.modeling_utils")


class Kept(logging.Handler):
    """Keeps what is said."""

    def __init__(self):
        super().__init__()
        self.texts = []

    def emit(self, record):
        self.texts.append(record.getMessage())


@pytest.fixture
def said():
    """What transformers said of the weights that were loaded."""
    kept = Kept()
    LIBRARY.addHandler(kept)
    yield kept.texts
    LIBRARY.removeHandler(kept)


def test_reports_of_weights_that_are_not_needed_are_dropped_and_others_kept(said):
    with without_load_report():
        LIBRARY.warning("Model LOAD REPORT from: m\nhead.weight | UNEXPECTED")
        LIBRARY.warning("Model LOAD REPORT from: m\nhead.weight | UNEXPECTED\nlayer.0 | CONVERSION")
        LIBRARY.warning("something else")
    LIBRARY.warning("Model LOAD REPORT from: n\nhead.weight | UNEXPECTED")
    assert [text.partition("\n")[0] for text in said] == [
        "Model LOAD REPORT from: m",
        "something else",
        "Model LOAD REPORT from: n",
    ]
    assert "CONVERSION" in said[0]


def test_reports_are_heard_again_after_a_model_that_cannot_be_loaded(said):
    with pytest.raises(OSError, match="gone"), without_load_report():
        raise OSError("gone")
    LIBRARY.warning("Model LOAD REPORT from: m\nhead.weight | UNEXPECTED")
    assert len(said) == 1


@pytest.mark.parametrize("wanted", [True, False])
def test_the_bar_of_weights_is_off_and_that_of_downloads_as_it_was(wanted):
    from huggingface_hub.utils import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars
    from transformers.utils.logging import is_progress_bar_enabled

    (enable_progress_bars if wanted else disable_progress_bars)()
    try:
        with without_load_report():
            assert not is_progress_bar_enabled()
            assert are_progress_bars_disabled() is not wanted
        assert are_progress_bars_disabled() is not wanted
    finally:
        enable_progress_bars()


def test_advice_about_kernels_is_not_heard():
    levels = {name: logging.getLogger(name).level for name in CHATTY}
    try:
        quiet_libraries()
        assert not logging.getLogger("bitsandbytes.backends.cpu.ops").isEnabledFor(logging.WARNING)
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
