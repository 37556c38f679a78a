"""The families of measures of an audit, opened."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...config.fairness import EntailerSection, MatcherSection
from ...errors import DataError, MissingExtra
from ...extras import need
from ...fairness.groups.coverage import CoverageMode
from ...judges.measures import Entailer, Matcher, open_entailer, open_matcher
from ...judges.measures.tone import ToneScorer, open_tone
from ...judges.measures.words import WordMatcher, open_word_matcher
from ...judges.shared import SharedModels
from ...plugins.bias.word_list_family import listed_words
from ...plugins.opinions.family import Opinions
from .coverage import UnitCoverage
from .figures import Family
from .input import AuditInput
from .order import Order
from .plan import BY_MATCHER, AuditPlan, usual_entailer
from .shares import ValueShares
from .tone import Tone


@dataclass(frozen=True)
class Tools:
    """How it is found what a summary takes up; None where no family asks for it."""

    matcher: Matcher | None
    entailer: Entailer | None
    # one that has chance levels: the same where it matches words
    words: WordMatcher | None = None
    tone: ToneScorer | None = None
    # what was taken in place of something else, in a sentence each
    notes: tuple[str, ...] = ()
    # option that was not given -> why its default is what it is here; "" where it is the better one
    defaults: Mapping[str, str] = field(default_factory=dict)

    def close(self) -> None:
        """Give the memory of models back."""
        for tool in (self.matcher, self.entailer, self.words, self.tone):
            if tool is not None:
                tool.close()


def open_tools(
    given: AuditInput, plan: AuditPlan, matcher: MatcherSection | None, entailer: EntailerSection | None
) -> Tools:
    """Matcher and entailer of the plan's measures; no model is loaded yet.

    Args:
        given: what is audited.
        plan: says which are needed.
        matcher: None takes "ngram" where NLTK's data is at hand, else "words", and says so.
        entailer: of coverage; None takes the encoder where it is at hand and the documents are not too long, else "words", and
            says so.

    Raises:
        MissingExtra: a library of what is named is not installed.
        DataError: matcher "ngram" is named, and NLTK's data is absent.
    """
    models, asked = SharedModels(), None
    notes: list[str] = []
    defaults: dict[str, str] = {}
    if "coverage" in plan.measures:
        if entailer is None:
            entailer, why = usual_entailer(
                document.text for documents in given.sets for document in documents.documents
            )
            defaults["entailer"] = why
            if why:
                notes.append(f"Coverage is by entailer 'words', which finds no paraphrase; 'encoder' does: {why}")
        asked = open_entailer(entailer, models)
    if not set(BY_MATCHER).intersection(plan.measures):
        return Tools(None, asked, notes=tuple(notes), defaults=defaults)
    if matcher is not None:
        opened = open_matcher(matcher, models)
    else:
        try:
            opened = open_matcher(MatcherSection(kind="ngram"), models)
            defaults["matcher"] = ""
        except (DataError, MissingExtra) as error:
            defaults["matcher"] = str(error)
            opened = open_matcher(MatcherSection(kind="words"), models)
            if {"value-shares", "order"}.intersection(plan.measures):
                notes.append(
                    "Shares are by matcher 'words', which compares content words unchanged. They are not comparable with "
                    f"published numbers, which need 'ngram': {error}"
                )
    words = opened if isinstance(opened, WordMatcher) else open_word_matcher(MatcherSection(kind="words"), models)
    tone = open_tone(plan.tone, models) if "tone" in plan.measures else None
    return Tools(opened, asked, words, tone, tuple(notes), defaults)


def families(given: AuditInput, plan: AuditPlan, tools: Tools) -> list[Family]:
    """The plan's families, in their order."""
    found: list[Family] = []
    if "value-shares" in plan.measures and tools.matcher is not None and tools.words is not None:
        found.append(
            ValueShares(tools.matcher, tools.words, given.attribute, given.values, plan.mode, plan.tau, plan.target)
        )
    if tools.entailer is not None:
        mode: CoverageMode = "paper" if plan.mode == "paper" else "released"
        found.append(UnitCoverage(tools.entailer, given.attribute, given.values, mode, given.has_units))
    if "order" in plan.measures and tools.words is not None:
        found.append(Order(tools.words))
    if tools.tone is not None and tools.words is not None:
        found.append(Tone(tools.tone, tools.words.tokens, tools.words.signature, given.values))
    if "opinions" in plan.measures:
        need("networkx", "measure 'opinions'")
        found.append(Opinions(plan.opinion_units))
    if "word-lists" in plan.measures:
        found.append(listed_words(plan.word_lists))
    return found
