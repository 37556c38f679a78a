"""The base of the sections that describe judges: each says which libraries and models must be there before it can score."""

from typing import Literal

from .model import LanguageModel
from .section import Section

# what splits texts into sentences: our own rules, or NLTK's Punkt, which the metrics' authors used, for published numbers
SplitterName = Literal["sentencex", "nltk"]
# import names of the optional libraries that each needs
SPLITTER_LIBRARIES: dict[str, tuple[str, ...]] = {"sentencex": (), "nltk": ("nltk",)}


class NeedySection(Section):
    """Base of the sections of judges and of their parts: each says what must be there before it can score."""

    @property
    def libraries(self) -> tuple[str, ...]:
        """Import names of the libraries that it needs besides those of its language models."""
        return ()

    @property
    def models(self) -> dict[str, str]:
        """Key below the section -> model that it loads, other than language models."""
        return {}

    @property
    def language_models(self) -> dict[str, LanguageModel]:
        """Key below the section, "" for the section itself -> language model that it asks."""
        return {}


class JudgeSection(NeedySection):
    """What all judges share."""

    # text the summary is compared with: the side's documents, the other sides' documents, or the side's listed key points
    against: Literal["source", "opposing", "key_points"] = "source"
