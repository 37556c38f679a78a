"""The families of measures of an audit, opened."""

from dataclasses import dataclass

from ...config.fairness import EntailerSection, MatcherSection
from ...errors import DataError, MissingExtra
from ...extras import need
from ...fairness.demographic.word_lists import WordLists
from ...fairness.groups.coverage import CoverageMode
from ...judges.measures import Entailer, Matcher, open_entailer, open_matcher
from ...judges.shared import SharedModels
from .coverage import UnitCoverage
from .figures import Family
from .input import AuditInput
from .opinions import Opinions
from .plan import AuditPlan
from .shares import ValueShares
from .word_lists import GenderWords


@dataclass(frozen=True)
class Tools:
    """How it is found what a summary takes up; None where no family asks for it."""

    matcher: Matcher | None
    entailer: Entailer | None
    # what was taken in place of something else, in a sentence each
    notes: tuple[str, ...] = ()

    def close(self) -> None:
        """Give the memory of models back."""
        for tool in (self.matcher, self.entailer):
            if tool is not None:
                tool.close()


def open_tools(plan: AuditPlan, matcher: MatcherSection | None, entailer: EntailerSection) -> Tools:
    """Matcher and entailer of the plan's measures; no model is loaded yet.

    Args:
        plan: says which are needed.
        matcher: None takes "ngram" where NLTK's data is at hand, else "words", and says so.
        entailer: of coverage.

    Raises:
        MissingExtra: a library of what is named is not installed.
        DataError: matcher "ngram" is named, and NLTK's data is absent.
    """
    models = SharedModels()
    notes = []
    opened = None
    if "value-shares" in plan.measures and matcher is not None:
        opened = open_matcher(matcher, models)
    elif "value-shares" in plan.measures:
        try:
            opened = open_matcher(MatcherSection(kind="ngram"), models)
        except (DataError, MissingExtra) as error:
            opened = open_matcher(MatcherSection(kind="words"), models)
            notes.append(
                "Shares are by matcher 'words', which compares content words unchanged. They are not comparable with published "
                f"numbers, which need 'ngram': {error}"
            )
    asked = open_entailer(entailer, models) if "coverage" in plan.measures else None
    return Tools(opened, asked, tuple(notes))


def families(given: AuditInput, plan: AuditPlan, tools: Tools) -> list[Family]:
    """The plan's families, in their order."""
    found: list[Family] = []
    if tools.matcher is not None:
        found.append(ValueShares(tools.matcher, given.attribute, given.values, plan.mode, plan.tau, plan.target))
    if tools.entailer is not None:
        mode: CoverageMode = "paper" if plan.mode == "paper" else "released"
        found.append(UnitCoverage(tools.entailer, given.attribute, given.values, mode, given.has_units))
    if "opinions" in plan.measures:
        need("networkx", "measure 'opinions'")
        found.append(Opinions(plan.opinion_units))
    if "word-lists" in plan.measures:
        found.append(GenderWords(WordLists()))
    return found
