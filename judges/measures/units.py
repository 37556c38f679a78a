"""Units of a summary: the single facts that documents are asked about.

| units | what they are |
| --- | --- |
| rules | clauses and list items, see `clauses`; the default, because it needs no model |
| sentences | whole sentences |
| llm | a language model's, as published; see `rephrase` |

Source: Li et al. 2025, appendix A.1; docs/papers.md#li-units.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from ...config.fairness import EntailerSection
from ...fairness.groups.masses import Unscored
from ...text import sentences
from ..shared import NoModel, SharedModels
from ..splitters import sentence_signature
from .clauses import VERSION, split_clauses
from .rephrase import open_rephraser

Units = tuple[str, ...]
NO_UNIT = "summary has no unit"


class UnitSplitter(Protocol):
    """Splits summaries into units. Opening one loads nothing."""

    # names everything that the units depend on
    signature: str
    # what a language model that splits is held by; "" without one
    loads: str

    def split(self, summaries: Sequence[str]) -> list[Units | Unscored]:
        """The units of each summary, in order; a summary that cannot be split never stops the others."""
        ...

    def close(self) -> None:
        """Give a model's memory back; closing twice does no harm."""
        ...


class RuleSplitter(NoModel):
    """A function from text to units."""

    def __init__(self, signature: str, units: Callable[[str], Sequence[str]]) -> None:
        self.signature = signature
        self._units = units

    def split(self, summaries: Sequence[str]) -> list[Units | Unscored]:
        """The units of each summary."""
        return [tuple(self._units(summary)) or Unscored(NO_UNIT) for summary in summaries]


def open_splitter(section: EntailerSection, models: SharedModels) -> UnitSplitter:
    """What splits summaries.

    Raises:
        ModelError: the language model is a path that holds none.
    """
    if section.units == "llm":
        return open_rephraser(section, models)
    if section.units == "sentences":
        return RuleSplitter(f"sentences,{sentence_signature()}", sentences)
    return RuleSplitter(f"rules-{VERSION},{sentence_signature()}", split_clauses)
