"""The families of measures of an audit: the core's own, and those that packages bring by the door `evenhand.measures`."""

from collections.abc import Iterable, Iterator, Sequence

from ...config.fairness import EntailerSection, MatcherSection
from ...doors import Door, guarded
from ...errors import DataError, MissingExtra, PluginError
from ...extras import need
from ...judges.measures import open_entailer, open_matcher
from ...judges.measures.words import WordMatcher, open_word_matcher
from ...judges.shared import SharedModels
from ..gate.limits import fold
from . import coverage, own_file, shares
from .family import Arrangement, FamilyKind, Opening, PagePart, Tool, Tools
from .figures import Family
from .input import AuditInput
from .kinds import SHARES, NumberKind
from .plan import AuditPlan, usual_entailer

# in the order of every page and file
CORE = {SHARES: shares.FAMILY, "coverage": coverage.FAMILY, own_file.PYTHON: own_file.FAMILY}
MEASURES = Door("measures", "measure", lambda thing: isinstance(thing, FamilyKind), CORE)


def measure_names() -> tuple[str, ...]:
    """All that can be measured here, in the order of every page and file: after the core's those with a section of their own."""
    names = MEASURES.keys() - CORE.keys() - absent_measures().keys()
    return (*CORE, *sorted(names, key=lambda name: (not has_section(name), name)))


def has_section(family: str) -> bool:
    """Whether the page has a section of it, before the measures of all values together."""
    shown_as = MEASURES[family].page.table
    return shown_as is not None and shown_as.is_section


def shown_name(family: str, by: str) -> str:
    """A family as messages call it: a function of the user's own by its file."""
    return by if family == own_file.PYTHON else family


def arrangement_of(families: Iterable[str]) -> Arrangement:
    """The arrangement of systems, which one of the families of their audit has."""
    return next(filter(None, (MEASURES[family].arrangement for family in families)))


def page_parts(families: Iterable[str]) -> list[PagePart]:
    """What families say on the page besides their numbers."""
    return [part for family in families if (part := MEASURES[family].page.part)]


def absent_measures() -> dict[str, PluginError]:
    """The measures of packages that cannot be had, and why."""
    return {name: error for name, error in MEASURES.broken().items() if name not in CORE}


def those_using(tool: Tool) -> tuple[str, ...]:
    """The measures that are taken by what an option chooses."""
    return tuple(name for name in measure_names() if tool in MEASURES[name].uses)


def kinds_by_name() -> dict[str, tuple[str, NumberKind]]:
    """Name of each kind of number -> its family, and the kind.

    Raises:
        PluginError: two families have one, or a package's calls systems fairer, which shares alone can.
    """
    kinds: dict[str, tuple[str, NumberKind]] = {}
    owners: dict[str, str] = {}
    for family in measure_names():
        for kind in MEASURES[family].numbers:
            if owners.setdefault(fold(kind.name), family) != family:
                raise PluginError(
                    f"measure {family!r} has a number {kind.name!r}, as measure {owners[fold(kind.name)]!r} has; uninstall a "
                    "package, or have the number renamed"
                )
            if kind.votes and family != SHARES:
                raise PluginError(
                    f"measure {family!r}: number {kind.name!r} calls systems fairer (votes), which shares alone can; take "
                    "only_names"
                )
            kinds[kind.name] = family, kind
    return kinds


def open_tools(
    corpus: AuditInput, plan: AuditPlan, matcher: MatcherSection | None, entailer: EntailerSection | None
) -> Tools:
    """Matcher and entailer of the plan's measures; no model is loaded yet.

    Args:
        corpus: what is audited.
        plan: says which are needed.
        matcher: None takes "ngram" where NLTK's data is at hand, else "words", and says so.
        entailer: of coverage; None takes the encoder where it is at hand and the documents are not too long, else "words", and
            says so.

    Raises:
        MissingExtra: a library of what is named is not installed.
        DataError: matcher "ngram" is named, and NLTK's data is absent.
    """
    models, opened_entailer = SharedModels(), None
    notes: list[str] = []
    defaults: dict[str, str] = {}
    used = {tool for name in plan.measures for tool in MEASURES[name].uses}
    if "entailer" in used:
        if entailer is None:
            entailer, why = usual_entailer(
                document.text for documents in corpus.sets for document in documents.documents
            )
            defaults["entailer"] = why
            if why:
                notes.append(f"Coverage is by entailer 'words', which finds no paraphrase; 'encoder' does: {why}")
        opened_entailer = open_entailer(entailer, models)
    if "matcher" not in used:
        return Tools(None, opened_entailer, models=models, notes=tuple(notes), defaults=defaults)
    if matcher is not None:
        opened = open_matcher(matcher, models)
    else:
        try:
            opened = open_matcher(MatcherSection(kind="ngram"), models)
            defaults["matcher"] = ""
        except (DataError, MissingExtra) as error:
            defaults["matcher"] = str(error)
            opened = open_matcher(MatcherSection(kind="words"), models)
            if any(MEASURES[name].named_by == "matcher" for name in plan.measures):
                notes.append(
                    "Shares are by matcher 'words', which compares content words unchanged. They are not comparable with "
                    f"published numbers, which need 'ngram': {error}"
                )
    words = opened if isinstance(opened, WordMatcher) else open_word_matcher(MatcherSection(kind="words"), models)
    return Tools(opened, opened_entailer, words, models, tuple(notes), defaults)


def families(corpus: AuditInput, plan: AuditPlan, tools: Tools) -> list[Family]:
    """The plan's families, in their order.

    Raises:
        MissingExtra: a library that one needs is not installed.
        PluginError: what a package opens is no family, or has another name.
    """
    return list(_opened(corpus, plan, tools))


def _opened(corpus: AuditInput, plan: AuditPlan, tools: Tools) -> Iterator[Family]:
    for name in measure_names():
        if name in plan.measures:
            kind = MEASURES[name]
            need_all(kind, name)
            label = MEASURES.label(name)
            family = kind.open(Opening(name, label, corpus, plan, tools, plan.options.get(name, kind.options())))
            if not isinstance(family, Family) or family.name != name:
                raise PluginError(
                    f"{label} is opened as {type(family).__name__} {getattr(family, 'name', '')!r}, which is no family "
                    "of that name; see docs/plugins.md for what a family must have"
                )
            yield guarded(family, label) if MEASURES.package(name) else family


def need_all(kind: FamilyKind, name: str) -> None:
    """Refuse a family whose libraries are not there.

    Raises:
        MissingExtra: one is not installed.
    """
    for library in kind.needs:
        need(library, f"measure {name!r}")


def idle_measures(measures: Sequence[str], compared: Sequence[str]) -> list[str]:
    """The measures that have nothing to compare in sets that lack what is `compared`: "values", "documents"."""
    return [name for name in measures if MEASURES[name].compares in compared]
