"""A run's report and a comparison as a gate reads them: which of their numbers a limit can name, and how."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ...config import Recipe
from ...errors import EvenhandError
from ...generate.stage import phase_requests
from ...judges import open_judge
from ...runfolder.phases import BASE, open_phase
from ..gate.limits import fold
from ..gate.numbers import SUMMARISED, NamedNumber, accused_bounds, by_name, in_order, summarised
from ..gate.subject import OF_SUMMARISED, MeasureMethod, PageKind, PageNumbers, Subject
from .comparison.contents import Comparison
from .systems.compare import Comparer, bootstrap_of
from .systems.contents import Difference, Report, Score, SideGap, is_share
from .systems.systems import SAYS_NOTHING, WORDS, asked


def subject_of(recipe: Recipe) -> Subject:
    """What a run's report or comparison will be about: its test requests and judges; those that cannot be opened here are absent.

    Raises:
        DataError: the corpus is wrong.
    """
    compare = Comparer([asked(each) for each in phase_requests(open_phase(recipe, BASE))], bootstrap_of(recipe))
    methods = {}
    for name in dict.fromkeys((*recipe.evaluation.judges, *recipe.reward.judges)):
        try:
            methods[name] = MeasureMethod(open_judge(name, recipe.judges[name]).signature)
        except EvenhandError:
            # is told where the judge is needed
            continue
    return Subject(compare.documents_digest, compare.set_ids, sides=compare.sides, methods=methods)


def _of_report(page: Report) -> PageNumbers:
    return _page_numbers(page, page.systems, page.differences, page.score_gaps)


def _of_comparison(page: Comparison) -> PageNumbers:
    places = {each.label: place for place, each in enumerate(page.entries)}
    tests = sorted(page.tests, key=lambda each: places.get(each.system, -1))
    return _page_numbers(page, [_at(label, k) for label in places for k in page.budgets], tests)


def _page_numbers(
    page: Report | Comparison, systems: Iterable[str], differences: Iterable[Difference], gaps: Iterable[SideGap] = ()
) -> PageNumbers:
    judges = {each.name: each for each in page.judges}
    shares = {name for name, how in page.counted.items() if is_share(how)}
    scales = {name: each.scale for name, each in judges.items()} | dict.fromkeys(shares, (0.0, 1.0))
    # of other judges all may say 0 or 1 in few sets by chance
    rates = shares | {name for name, each in judges.items() if each.is_rate}

    def named(each: Score, *functions: str) -> NamedNumber:
        system, aliases = _system_of(each)
        signature = page.counted[each.measure] if "rate" in functions else judges[each.measure].signature
        return NamedNumber(
            functions, (fold(each.measure),), each.side, system, aliases, each.value, by_name(page.sets, each.by_set), signature,
            is_rate=each.measure in rates, scale=scales.get(each.measure),
        )  # fmt: skip

    means = [*(named(each, "mean") for each in page.scores), *(named(each, "rate", "mean") for each in page.traits)]
    scores = {each.measures for each in means if not each.is_binary}
    paired = [
        replace(one, is_difference=True, is_rate=one.measures not in scores, accused=accused_bounds(each))
        for one, each in ((named(each, "difference"), each) for each in differences)
    ]
    return PageNumbers(
        Subject(
            page.documents_digest,
            page.sets,
            sides=page.sides,
            methods={name: MeasureMethod(each.signature) for name, each in judges.items()},
        ),
        [
            *in_order([*means, *_side_gaps(means, gaps), *_summarised_of(page.traits)], systems),
            *in_order(paired, [each.system for each in paired]),
        ],
        page.bootstrap,
    )


def _at(entry: str, k: int) -> str:
    """An entry of a comparison at a budget."""
    return f"{entry} k={k}"


def _system_of(each: Score) -> tuple[str, tuple[str, ...]]:
    """What limits call the system, or both systems of a difference, and what else may be written for it."""
    if not each.k:
        return each.pair, ()
    aliases, system = (fold(each.system), f"k={each.k}"), _at(each.system, each.k)
    return (f"{system} - {_at(each.reference, each.reference_k)}" if isinstance(each, Difference) else system), aliases


def _summarised_of(traits: Iterable[Score]) -> Iterator[NamedNumber]:
    """Of each system the share of requests that have a summary which says something."""
    whole = [each for each in traits if each.side is None]
    empty = {(each.system, each.k): each.value or 0.0 for each in whole if each.measure == SAYS_NOTHING}
    for each in whole:
        if each.measure == WORDS:
            n = each.n * (1.0 - empty.get((each.system, each.k), 0.0))
            yield summarised(_system_of(each)[0], n, each.n + each.left_out, _system_of(each)[1])


def _side_gaps(means: Sequence[NamedNumber], tested: Iterable[SideGap]) -> Iterator[NamedNumber]:
    """How far each side's mean score is from the mean of all sides of the same document set, which has all of them."""
    by_system: dict[tuple[str, str], list[NamedNumber]] = {}
    for each in means:
        if each.functions == ("mean",) and each.side is not None:
            by_system.setdefault((each.measures[0], each.system), []).append(each)
    clear = {(fold(each.measure), each.system): accused_bounds(each) for each in tested}
    for key, sides in by_system.items():
        sets = [name for name in sides[0].by_set if all(name in each.by_set for each in sides)]
        for each in sides:
            by_set = {name: each.by_set[name] - sum(its.by_set[name] for its in sides) / len(sides) for name in sets}
            value, accused = sum(by_set.values()) / len(by_set) if by_set else None, None
            if len(sides) == 2 and value and (bounds := clear.get(key)):
                # each of two sides is half of their distance from their mean
                low, high = (bound / 2 for bound in bounds)
                accused = (low, high) if value > 0 else (-high, -low)
            is_rate = all(its.is_binary for its in sides)
            yield replace(
                each,
                functions=("gap",),
                value=value,
                by_set=by_set,
                is_rate=is_rate,
                is_difference=True,
                accused=accused,
            )


OF_SCORES = {
    "mean": "mean score of a judge, or of a trait: mean(faithfulness), worst_mean(coverage)",
    "rate": "share of the summaries of which something holds: rate(contract kept)",
    "gap": "a side's score less the mean of all sides of its set: worst_gap(coverage)",
    "difference": "a system's score less another's: difference(coverage), worst_difference(coverage)",
    SUMMARISED: OF_SUMMARISED,
}
REPORT_PAGE = PageKind(
    record=Report,
    verb="report",
    read=_of_report,
    functions=OF_SCORES,
    last="DPO+RR where the run trained, else rerank, and of differences that to zero-shot; with one candidate a request DPO "
    "or zero-shot",
)
COMPARISON_PAGE = PageKind(
    record=Comparison,
    verb="compare",
    read=_of_comparison,
    functions=OF_SCORES,
    last="the last recipe at its largest budget; k=3 names another",
)
