"""Where a text's sentences end, as a judge's `splitter` says.

"sentencex" is the package's own splitter (`text.sentences`), which is right on quotations. "nltk" is Punkt, with which the
metrics' authors split, for scores that are compared with published ones; it needs the extra `fairness` and NLTK's data. Which
premises and claims there are depends on it, so it is part of the signature of every judge that splits.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Protocol

from ..config.needs import SplitterName
from ..config.section import Check
from ..fairness.groups.tokens import open_nltk, trained_digest
from ..text import SENTENCE_RULES, sentences
from ..text.forms import VERSION, normal_form

PUNKT = "punkt_tab"


class SplittingSection(Protocol):
    """A judge's section that says how texts are split."""

    @property
    def splitter(self) -> SplitterName: ...


@dataclass(frozen=True)
class Splitter:
    """Splits texts into sentences."""

    # names everything that the ends of sentences depend on
    signature: str
    # a text's sentences in order; [] for a blank one
    split: Callable[[str], list[str]]


def sentence_signature() -> str:
    """What splits sentences where a judge leaves no choice."""
    return f"sentencex-{version('sentencex')},{SENTENCE_RULES}"


def open_splitter(name: SplitterName) -> Splitter:
    """The splitter of that name.

    Raises:
        MissingExtra: it is "nltk" and NLTK is not installed.
        DataError: NLTK's data is absent.
    """
    if name == "sentencex":
        return Splitter(sentence_signature(), sentences)
    nltk = open_nltk("splitter 'nltk'", (PUNKT,))
    named = f"nltk-{version('nltk')},punkt-{trained_digest(nltk, PUNKT)},normal-form-{VERSION}"
    return Splitter(named, lambda text: nltk.sent_tokenize(normal_form(text)))


def splitter_checks(name: str, options: SplittingSection) -> Iterator[Check]:
    """That a judge's splitter has its data."""
    if options.splitter == "nltk":
        yield Check("splitter", partial(open_splitter, options.splitter), is_here=True)
