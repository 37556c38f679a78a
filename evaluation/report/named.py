"""A run's report and a comparison as a gate reads them: which of their numbers a limit can name, and how."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ...config import Recipe
from ...errors import EvenhandError
from ...generate.stage import phase_requests
from ...judges import open_judge
from ...resampling import Bootstrap, Scale
from ...runfolder.phases import BASE, open_phase
from ..gate.limits import fold
from ..gate.numbers import SUMMARISED, Named, accused_bounds, by_name, in_order, summarised
from ..gate.subject import OF_SUMMARISED, MeasureMethod, PageKind, PageNumbers, Subject
from .comparison.contents import SCHEMA as COMPARISON_SCHEMA
from .comparison.contents import BudgetEstimate, Comparison, PairedTest
from .systems.compare import Comparer, bootstrap_of
from .systems.contents import SCHEMA, Difference, Estimate, Report, SideGap, is_share
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
    tests = sorted(page.tests, key=lambda each: places.get(each.subject, -1))
    return _page_numbers(page, [_at(label, k)[0] for label in places for k in page.budgets], tests)


def _page_numbers(
    page: Report | Comparison, systems: Iterable[str], differences: Iterable[Estimate], gaps: Iterable[SideGap] = ()
) -> PageNumbers:
    shares = {each.measure for each in page.traits if is_share(each.signature)}
    scales = {judge.name: judge.scale for judge in page.judges} | dict.fromkeys(shares, (0.0, 1.0))
    # of other judges all may say 0 or 1 in few sets by chance
    rates = shares | {judge.name for judge in page.judges if judge.is_rate}
    means = [
        *_estimates(("mean",), page.scores, page.sets, scales, rates),
        *_estimates(("rate", "mean"), page.traits, page.sets, scales, rates),
    ]
    scores = {each.measures for each in means if not each.is_binary}
    paired = [
        replace(each, is_rate=each.measures not in scores)
        for each in _estimates(("difference",), differences, page.sets, scales)
    ]
    numbers = [
        *in_order([*means, *_side_gaps(means, gaps), *_summarised_of(page.traits)], systems),
        *in_order(paired, [each.system for each in paired]),
    ]
    methods = {each.name: MeasureMethod(each.signature) for each in page.judges}
    first = page.scores[0]
    return PageNumbers(
        Subject(page.documents_digest, page.sets, sides=page.sides, methods=methods),
        numbers,
        Bootstrap(first.level, first.resamples, first.seed),
    )


def _estimates(
    functions: tuple[str, ...],
    found: Iterable[Estimate],
    sets: Sequence[str],
    scales: Mapping[str, Scale | None],
    rates: Collection[str] = (),
) -> Iterator[Named]:
    for each in found:
        system, aliases = each.subject, tuple[str, ...]()
        if isinstance(each, BudgetEstimate):
            system, aliases = _at(each.subject, each.k)
        elif isinstance(each, PairedTest):
            system, aliases = _at(each.subject, each.k)
            system = f"{system} - {_at(each.reference, each.reference_k)[0]}"
        accused = accused_bounds(each) if isinstance(each, Difference) else None
        yield Named(
            functions, (fold(each.measure),), each.side, system, aliases, each.mean, by_name(sets, each.by_set), each.signature,
            is_rate=each.measure in rates, is_difference=functions == ("difference",), scale=scales.get(each.measure),
            accused=accused,
        )  # fmt: skip


def _at(entry: str, k: int) -> tuple[str, tuple[str, ...]]:
    """An entry of a comparison at a budget, and what may be written for it."""
    return f"{entry} k={k}", (fold(entry), f"k={k}")


def _summarised_of(traits: Iterable[Estimate]) -> Iterator[Named]:
    """Of each system the share of requests that have a summary which says something."""
    by_place = {(e.measure, e.subject, getattr(e, "k", None)): e for e in traits if e.side is None}
    for (measure, subject, k), words in by_place.items():
        if measure == WORDS:
            empty = by_place.get((SAYS_NOTHING, subject, k))
            share = 1.0 - (empty.mean or 0.0) if empty else 1.0
            system, aliases = (subject, ()) if k is None else _at(subject, k)
            yield summarised(system, words.n * share, words.n + words.left_out, aliases)


def _side_gaps(found: Sequence[Named], tested: Iterable[SideGap] = ()) -> Iterator[Named]:
    """How far each side's mean score is from the mean of all sides of the same document set, which has all of them."""
    sides: dict[tuple[tuple[str, ...], str], list[Named]] = {}
    for each in found:
        if each.functions == ("mean",) and each.side is not None:
            sides.setdefault((each.measures, each.system), []).append(each)
    clear: dict[tuple[tuple[str, ...], str], tuple[float, float] | None] = {
        ((fold(each.measure),), each.subject): accused_bounds(each.gap) for each in tested
    }
    for key, mine in sides.items():
        sets = [name for name in mine[0].by_set if all(name in each.by_set for each in mine)]
        for each in mine:
            by_set = {name: each.by_set[name] - sum(m.by_set[name] for m in mine) / len(mine) for name in sets}
            value = sum(by_set.values()) / len(by_set) if by_set else None
            is_rate, accused = all(m.is_binary for m in mine), None
            if len(mine) == 2 and value and (bounds := clear.get(key)):
                # each of two sides is half of their distance from their mean
                low, high = (bound / 2 for bound in bounds)
                accused = (low, high) if value > 0 else (-high, -low)
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
    name="a report",
    file_name="report.json",
    schema=SCHEMA,
    read=_of_report,
    functions=OF_SCORES,
    last="DPO+RR where the run trained, else rerank, and of differences that to zero-shot; with one candidate a request DPO "
    "or zero-shot",
)
COMPARISON_PAGE = PageKind(
    record=Comparison,
    verb="compare",
    name="a comparison",
    file_name="comparison.json",
    schema=COMPARISON_SCHEMA,
    read=_of_comparison,
    functions=OF_SCORES,
    last="the last recipe at its largest budget; k=3 names another",
)
