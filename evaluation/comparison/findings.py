"""What the comparison found, in sentences made from the verdicts, and what to know before believing it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ..pages.numbers import number, percent, places_for, signed
from ..pages.words import UNSURE, counted, gone_with_length, joined, verdict
from ..systems.compare import too_few
from ..systems.contents import JudgeNote
from ..systems.lengths import share_by_length
from ..systems.roles import overlap_warnings
from ..systems.systems import WRONG_SIDE, stage_warnings, wrong_side_judges
from ..systems.worst_group import without_part
from .baselines import ONE_DRAW
from .contents import ByLength, PairedTest, Ranking, WorstSides
from .entries import Entry
from .paired_tests import Names

# more names than this are counted
MOST_NAMED = 3
# heading of the differences that do
GONE_WITH_LENGTH = "Differences that go with length"


def title(judges: Sequence[JudgeNote], tests: Sequence[PairedTest], n_entries: int) -> str:
    """The headline, without a full stop: who is better or worse than the first entry at the largest budget, by how many judges.

    "Against base at the best of 8: debate worse by 2 of 4 judges, dpo better by 3 of 4 and worse by 1". Of one entry alone it
    says what reranking adds to one draw.
    """
    is_alone = n_entries == 1
    against = [t for t in tests if t.side is None and (is_alone or (t.k == t.reference_k and t.subject != t.reference))]
    if not against:
        return "Only one entry" if is_alone else "Nothing to test: no two entries have a budget in common"
    last = max(against, key=lambda test: test.k)
    by_name = {judge.name: judge for judge in judges}
    verdicts: dict[str, Counter[str]] = {}
    for test in against:
        if test.k == last.k:
            verdicts.setdefault(test.subject, Counter())[verdict(test, by_name[test.measure]).text] += 1
    clear = {label: found for label, found in verdicts.items() if found["better"] or found["worse"]}
    of, parts = f" of {counted(len(judges), 'judge')}", []
    for label, found in clear.items():
        words = [f"{word} by {found[word]}" for word in ("better", "worse") if found[word]]
        parts.append(f"{label} {words[0]}{of}{''.join(f' and {word}' for word in words[1:])}")
        of = f" of {len(judges)}"
    if not clear and too_few(last.n_sets, last.level):
        parts = [f"{counted(last.n_sets, 'document set')}, too few for a verdict"]
    elif not clear:
        parts = [UNSURE if len(verdicts) == 1 else f"{UNSURE} for any of {len(verdicts)} entries"]
    elif len(clear) > MOST_NAMED:
        better, worse = (sum(bool(found[word]) for found in clear.values()) for word in ("better", "worse"))
        parts = [f"of {len(verdicts)} entries {better} better and {worse} worse by some judge"]
    whom = (
        f"Only one entry, its best of {last.k} against one draw of it"
        if is_alone
        else f"Against {last.reference} {_at(last.k)}"
    )
    return f"{whom}: {', '.join(parts)}"


def findings(judges: Sequence[JudgeNote], tests: Sequence[PairedTest], rankings: Sequence[Ranking]) -> Iterator[str]:
    """For each judge what differs from the first entry at each budget, then who leads where somebody does.

    A first entry of one answer a request, as a greedy one, has no best of k; then the best of k stands against that answer too.
    """
    several = {t.reference for t in tests if t.reference_k > 1}
    for judge in judges:
        mine = [t for t in tests if t.measure == judge.name and t.side is None and t.subject != t.reference]
        equal_budgets = [t for t in mine if t.k == t.reference_k]
        clear = dict.fromkeys(_pairing(t) for t in equal_budgets if verdict(t, judge).text != UNSURE)
        if equal_budgets and not clear:
            yield f"By {judge.name}, no entry differs clearly from the first of its budget."
        beyond = [_pairing(t) for t in mine if t.k != t.reference_k and t.reference not in several]
        for pairing in dict.fromkeys([*clear, *beyond]):
            here = [test for test in mine if _pairing(test) == pairing]
            places = places_for(test.mean for test in here)
            said: dict[str, list[str]] = {}
            for test in here:
                word = verdict(test, judge).text
                equal = test.at_equal_length
                length = f", at equal length {signed(equal.mean, places)}" if equal else ""
                shown = "" if word == UNSURE else f" ({signed(test.mean, places)}{length})"
                said.setdefault(word, []).append(f"{test.subject}{shown}")
            unsure = said.pop(UNSURE, [])
            parts = [f"{joined(labels)} {word}" for word, labels in said.items()]
            if unsure:
                others = f"the other {len(unsure)}" if said else f"any of {len(unsure)}"
                names = joined(unsure) if len(unsure) <= MOST_NAMED else others
                parts.append(f"{UNSURE} for {names}")
            whom = here[0].reference if here[0].k == here[0].reference_k else f"the one draw of {here[0].reference}"
            yield f"By {judge.name} {_at(here[0].k)}, against {whom}: {'; '.join(parts)}."
    for ranking in rankings:
        told = [
            t for t in tests if (t.measure, t.side, t.k, t.reference_k) == (ranking.measure, None, ranking.k, ranking.k)
        ]
        # where no test finds a difference, nobody is called the strongest
        if ranking.side is None and ranking.leads and any(t.verdict != UNSURE for t in told):
            lead = f"{ranking.rows[0].label} is the strongest"
            yield f"By {ranking.measure} {_at(ranking.k)}, {lead}: its Bradley-Terry strength is clearly above all others'."


def _pairing(test: PairedTest) -> tuple[int, str, int]:
    """Tests that stand in one sentence."""
    return test.k, test.reference, test.reference_k


def worst_side_findings(worst_sides: Sequence[WorstSides]) -> Iterator[str]:
    """For each judge which entry is best by its worst side, at the budgets where one is clearly best."""
    for judge in dict.fromkeys(each.measure for each in worst_sides):
        mine = [each for each in worst_sides if each.measure == judge]
        clear = [each for each in mine if each.found.choice]
        if not clear:
            notes = "; ".join(filter(None, dict.fromkeys(without_part(each.found) for each in mine)))
            yield f"By its worst side under {judge}, no entry is clearly the best choice{notes and f' ({notes})'}."
        for each in clear:
            (best,) = [system for system in each.found.systems if system.system == each.found.choice]
            note = without_part(each.found)
            yield (
                f"By its worst side under {judge} {_at(each.k)}, {best.system} is the best choice: {best.group} "
                f"{number(best.mean)}, the best of all in {percent(best.chance_of_best)} of the draws"
                f"{note and f' ({note})'}."
            )


def _at(k: int) -> str:
    return "with one draw" if k == 1 else f"at the best of {k}"


def warnings(entries: Sequence[Entry], budgets: Sequence[int], few_together: str = "") -> list[str]:
    """What a reader must know before believing the numbers, each once, with its entries unless it is about all.

    Args:
        entries: of the comparison.
        budgets: likewise.
        few_together: what to know where no difference is clear by itself.
    """
    about: dict[str, list[str]] = {}
    for entry in entries:
        for warning in _of_entry(entry, budgets):
            about.setdefault(warning, []).append(entry.label)
    found = [warning if len(who) == len(entries) else f"{', '.join(who)}: {warning}" for warning, who in about.items()]
    if len({request.length for entry in entries for request in entry.output.requests}) > 1:
        found.append(
            "The entries were asked for summaries of different lengths: a difference in a score that goes with length, as most "
            "do, may be the length's alone."
        )
    n_sets = len({request.set_id for request in entries[0].output.requests})
    found += filter(None, [too_few(n_sets, entries[0].recipe.evaluation.level) or few_together])
    return found


def by_length(
    judges: Sequence[JudgeNote],
    tests: Sequence[PairedTest],
    words: Mapping[Names, tuple[float | None, float | None]],
) -> list[ByLength]:
    """Of each judge the clear differences that go with length for the most part, each once.

    Args:
        judges: of the report.
        tests: of entries, of what reranking adds to them, and of what a reward must beat.
        words: of a summary of the second and of the first system of each pair, on average.
    """
    by_name = {judge.name: judge for judge in judges}
    found = []
    for t in (t for t in tests if t.side is None):
        before, after = words[t.subject, t.k, t.reference, t.reference_k]
        left, share = t.at_equal_length, share_by_length(t)
        if t.mean is None or left is None or share is None or before is None or after is None:
            continue
        said = gone_with_length(t, by_name[t.measure], (before, after))
        of = {"pair": _of_pair(t), "measure": t.measure, "said": said}
        found.append(ByLength(**of, mean=t.mean, share=share, words=(before, after), at_equal_length=left))
    return list(dict.fromkeys(found))


def length_warnings(found: Sequence[ByLength], tests: Sequence[PairedTest]) -> list[str]:
    """What to know of differences that go with length before believing any: each where they are few, else how many there are."""
    if len(found) <= MOST_NAMED:
        return [f"{each.pair}: {each.said}" for each in found]
    clear = {(_of_pair(test), test.measure) for test in tests if test.side is None and test.verdict != UNSURE}
    return [
        f"Of {len(clear)} clear differences over all sides {len(found)} go with the length of summaries by half or more. What "
        f'is left of each at equal length is told under "{GONE_WITH_LENGTH}".'
    ]


def _of_pair(test: PairedTest) -> str:
    """ "dpo against base at the best of 8", "dpo at the best of 8 against one draw": what is tested against what."""
    if test.k == test.reference_k:
        return f"{test.subject} against {test.reference} {_at(test.k)}"
    of_its_own = test.reference in (test.subject, ONE_DRAW)
    other = ONE_DRAW if of_its_own else f"{test.reference} {_at(test.reference_k)}"
    return f"{test.subject} {_at(test.k)} against {other}"


def _of_entry(entry: Entry, budgets: Sequence[int]) -> Iterator[str]:
    yield from overlap_warnings(entry.recipe, entry.output.signatures)
    yield from stage_warnings(entry.output.phase)
    n_candidates = entry.output.ranked.n_candidates
    if missing := int((n_candidates == 0).sum()):
        yield f"No summary of {counted(missing, 'request')}."
    unscored = {name: entry.output.n_unscored(name) for name in entry.recipe.evaluation.judges}
    if any(unscored.values()):
        by_judge = ", ".join(f"{count} by {name!r}" for name, count in unscored.items() if count)
        yield (
            f"Of {n_candidates.sum()} candidates some have no score: {by_judge}. They are left out of means, which may "
            "so rest on other requests than those of other entries."
        )
    if too_large := [str(k) for k in budgets if k > entry.n_candidates]:
        n = counted(entry.n_candidates, "candidate")
        yield f"A request has {n}, so there is no best of {', '.join(too_large)}."
    if entry.recipe.reward.combine == "z_mean" and any(1 < k < entry.n_candidates for k in budgets):
        yield (
            f"Its reward is a mean of z-scores among all {entry.n_candidates} candidates of a request: the best of fewer "
            "is chosen by those, not by z-scores among the fewer."
        )
    has_consensus = any(entry.recipe.judges[name].kind == "consensus" for name in entry.recipe.reward.judges)
    if has_consensus and any(1 < k < entry.n_candidates for k in budgets):
        yield (
            f"Its reward rests on how near a candidate is to all {entry.n_candidates} of a request: the best of fewer is chosen "
            "by that, not by nearness among the fewer."
        )
    if entry.recipe.task.scope == "side" and wrong_side_judges(entry.recipe) is None:
        yield (
            f"There is no {WRONG_SIDE!r} rate: it needs two judges of kind alignment that differ in against: source and opposing "
            "alone, among reward.judges or evaluation.judges."
        )
