"""A run's report and a comparison as a gate reads them: which of their numbers a limit can name, and how."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ...config import Recipe
from ...errors import EvenhandError
from ...generate.stage import phase_requests
from ...judges import open_judge
from ...runfolder.phases import BASE, open_phase
from ..gate.limits import OF_PEOPLE, fold
from ..gate.numbers import SUMMARISED, NamedNumber, accused_bounds, by_name, in_order, summarised
from ..gate.subject import OF_SUMMARISED, MeasureMethod, PageKind, PageNumbers, Subject
from .comparison.contents import Comparison
from .systems.compare import Comparer, bootstrap_of
from .systems.contents import Difference, PeoplesNumber, Report, Score, SideGap, is_share
from .systems.systems import SAYS_NOTHING, WORDS, asked


def subject_of(recipe: Recipe) -> Subject:
    """The subject of a run's report or comparison: its test requests and judges; those that cannot be opened here are absent.

    Raises:
        DataError: the corpus is wrong.
    """
    compare = Comparer([asked(request) for request in phase_requests(open_phase(recipe, BASE))], bootstrap_of(recipe))
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
    places = {entry.label: place for place, entry in enumerate(page.entries)}
    tests = sorted(page.tests, key=lambda difference: places.get(difference.system, -1))
    return _page_numbers(page, [_at(label, k) for label in places for k in page.budgets], tests)


def _page_numbers(
    page: Report | Comparison, systems: Iterable[str], differences: Iterable[Difference], gaps: Iterable[SideGap] = ()
) -> PageNumbers:
    judges = {judge.name: judge for judge in page.judges}
    shares = {name for name, how in page.counted.items() if is_share(how)}
    scales = {name: judge.scale for name, judge in judges.items()} | dict.fromkeys(shares, (0.0, 1.0))
    # of other judges all may say 0 or 1 in few sets by chance
    rates = shares | {name for name, judge in judges.items() if judge.is_rate}

    def named(score: Score, *functions: str) -> NamedNumber:
        system, aliases = _system_of(score)
        signature = page.counted[score.measure] if "rate" in functions else judges[score.measure].signature
        return NamedNumber(
            functions, (fold(score.measure),), score.side, system, aliases, score.value,
            by_name(page.sets, score.by_set), signature, is_rate=score.measure in rates, scale=scales.get(score.measure),
        )  # fmt: skip

    means = [*(named(score, "mean") for score in page.scores), *(named(score, "rate", "mean") for score in page.traits)]
    scores = {mean.measures for mean in means if not mean.is_binary}
    paired = [
        replace(number, is_difference=True, is_rate=number.measures not in scores, accused=accused_bounds(difference))
        for number, difference in ((named(difference, "difference"), difference) for difference in differences)
    ]
    return PageNumbers(
        Subject(
            page.documents_digest,
            page.sets,
            sides=page.sides,
            methods={name: MeasureMethod(judge.signature) for name, judge in judges.items()},
        ),
        [
            *in_order([*means, *_side_gaps(means, gaps), *_summarised_of(page.traits)], systems),
            *in_order(paired, [number.system for number in paired]),
            *_of_people(page, systems),
        ],
        page.bootstrap,
    )


def _of_people(page: Report | Comparison, systems: Iterable[str]) -> list[NamedNumber]:
    """What people would say of all summaries, by each judge that helped."""
    if page.people is None:
        return []
    signatures = {judge.name: judge.signature for judge in page.judges}

    dimension = page.people.dimension

    def named(number: PeoplesNumber) -> NamedNumber:
        function, how = f"{OF_PEOPLE}{number.kind}", f"{signatures[number.measure]}|people:{dimension}"
        error = None if number.error is None or number.degrees is None else (number.error, number.degrees)
        return NamedNumber(
            (function,), (fold(number.measure),), number.side, *_system_of(number), number.value,
            by_name(page.sets, number.by_set), how, is_difference=number.kind != "mean", error=error,
            withheld=number.reason,
        )  # fmt: skip

    return in_order(map(named, page.people.numbers), systems)


def _at(entry: str, k: int) -> str:
    """An entry of a comparison at a budget."""
    return f"{entry} k={k}"


def _system_of(score: Score) -> tuple[str, tuple[str, ...]]:
    """The name in limits of the system, or both systems of a difference, and what else may be written for it."""
    if not score.k:
        return score.pair, ()
    aliases, system = (fold(score.system), f"k={score.k}"), _at(score.system, score.k)
    if isinstance(score, Difference | PeoplesNumber) and score.reference:
        system = f"{system} - {_at(score.reference, score.reference_k)}"
    return system, aliases


def _summarised_of(traits: Iterable[Score]) -> Iterator[NamedNumber]:
    """The share of each system's requests that have a summary which says something."""
    overall = [trait for trait in traits if trait.side is None]
    empty = {(trait.system, trait.k): trait.value or 0.0 for trait in overall if trait.measure == SAYS_NOTHING}
    for trait in overall:
        if trait.measure == WORDS:
            n = trait.n * (1.0 - empty.get((trait.system, trait.k), 0.0))
            yield summarised(_system_of(trait)[0], n, trait.n + trait.left_out, _system_of(trait)[1])


def _side_gaps(means: Sequence[NamedNumber], tested: Iterable[SideGap]) -> Iterator[NamedNumber]:
    """How far each side's mean score is from the mean of all sides of the same document set, which has all of them."""
    by_system: dict[tuple[str, str], list[NamedNumber]] = {}
    for mean in means:
        if mean.functions == ("mean",) and mean.side is not None:
            by_system.setdefault((mean.measures[0], mean.system), []).append(mean)
    clear = {(fold(gap.measure), gap.system): accused_bounds(gap) for gap in tested}
    for key, sides in by_system.items():
        sets = [name for name in sides[0].by_set if all(name in side.by_set for side in sides)]
        for mean in sides:
            by_set = {name: mean.by_set[name] - sum(side.by_set[name] for side in sides) / len(sides) for name in sets}
            value, accused = sum(by_set.values()) / len(by_set) if by_set else None, None
            if len(sides) == 2 and value and (bounds := clear.get(key)):
                # each of two sides is half of their distance from their mean
                low, high = (bound / 2 for bound in bounds)
                accused = (low, high) if value > 0 else (-high, -low)
            is_rate = all(side.is_binary for side in sides)
            yield replace(
                mean,
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
    "people mean": "mean that people would say, from --ratings and a judge: people_mean(coverage)",
    "people difference": "the same of a system less the first: people_difference(coverage)",
    "people gap": "the same of a side less all sides: worst_people_gap(coverage)",
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
