"""What the comparison found, in sentences made from the verdicts, and what to know before believing it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ....judges.batch import COMPARING
from ....judges.independence import overlap_warnings
from ....resampling import few_for_headline, too_few
from ...pages.folder import SCORES_TABLE
from ...pages.numbers import number, places_for, signed
from ...pages.words import MOST_NAMED, UNSURE, counted, few_label, joined
from ..systems.contents import Difference, JudgeNote, SystemPair
from ..systems.lengths import share_by_length
from ..systems.roles import deciding
from ..systems.systems import WRONG_SIDE, budget_name, stage_warnings, wrong_side_judges
from ..systems.words import gone_with_length, verdict, with_direction
from ..systems.worst_group import WorstGroups, without_part
from .contents import ByLength, Ranking
from .entries import Entry
from .paired_tests import ONE_DRAW, as_used

# heading of the differences that do
GONE_WITH_LENGTH = "Differences that go with length"


def title(judges: Sequence[JudgeNote], tests: Sequence[Difference], n_entries: int, level: float) -> str:
    """The headline, without a full stop: who is better or worse than the first entry, each as it is used, by how many judges.

    "Against base, the best of 8 of each: debate worse by 2 of 4 judges, dpo better by 3 of 4 and worse by 1". Of one entry alone
    it says what reranking adds to one draw.
    """
    said_by, used = deciding(judges), as_used(tests)
    if not used or (n_entries > 1 and all(test.system == test.reference for test in used)):
        return "Only one entry" if n_entries == 1 else "Nothing to test: no two entries have a budget in common"
    if not said_by:
        return "No judge of this comparison says which summaries are better"
    setting, names = _setting(used)
    outcome = _counted_judges(used, said_by, names)
    if not outcome:
        n = len({test.system for test in used})
        unsure = f"{UNSURE} for any of {n} entries" if n > 1 else UNSURE
        n_sets = used[0].n_sets
        outcome = few_label("for a verdict", "document set", n_sets) if too_few(n_sets, level) else unsure
    drawn = [t for t in tests if t.side is None and t.k == t.reference_k == 1 and t not in used]
    of_one = _counted_judges(drawn, said_by, {test.system: test.system for test in drawn})
    also = f"; one summary drawn from each: {of_one}" if of_one else ""
    return f"{'Only one entry' if n_entries == 1 else 'Against'}{setting}: {outcome}{also}"


def _drawn(k: int) -> str:
    return "one summary drawn from" if k == 1 else f"the best of {k} of"


def verdict_counts(tests: Iterable[Difference], judges: Sequence[JudgeNote]) -> dict[str, Counter[str]]:
    """The number of judges by verdict, for each entry."""
    by_name, counts = {judge.name: judge for judge in judges}, dict[str, Counter[str]]()
    for test in (test for test in tests if test.measure in by_name):
        counts.setdefault(test.system, Counter())[verdict(test, by_name[test.measure]).text] += 1
    return counts


def _counted_judges(tests: Sequence[Difference], judges: Sequence[JudgeNote], names: Mapping[str, str]) -> str:
    """ "dpo better by 2 of 4 judges and worse by 1": of each entry by how many judges it is clearly what; "" where nothing is."""
    verdicts = {names[system]: counts for system, counts in verdict_counts(tests, judges).items()}
    clear = {label: counts for label, counts in verdicts.items() if counts["better"] or counts["worse"]}
    if len(clear) > MOST_NAMED:
        better, worse = (sum(bool(counts[word]) for counts in clear.values()) for word in ("better", "worse"))
        return f"of {len(verdicts)} entries {better} better and {worse} worse by some judge"
    is_independent = any(judge.role == "report" for judge in judges)
    of, parts = f" of {counted(len(judges), 'judge')}{'' if is_independent else ' of its own reward'}", []
    for label, counts in clear.items():
        words = [f"{word} by {counts[word]}" for word in ("better", "worse") if counts[word]]
        parts.append(f"{label} {words[0]}{of}{''.join(f' and {word}' for word in words[1:])}")
        of = f" of {len(judges)}"
    if clear and (n_unsure := len(verdicts) - len(clear)):
        parts.append(f"{UNSURE} for {f'{n_unsure} other entries' if n_unsure > 1 else 'the other entry'}")
    return ", ".join(parts)


def _setting(used: Sequence[Difference]) -> tuple[str, dict[str, str]]:
    """The systems against each other, after "Against" or "Only one entry", and what the later entries are called there."""
    labels, reference = {test.system: test.k for test in used}, used[0].reference
    if reference in labels:
        return f", its best of {used[0].k} against one summary drawn from it", {reference: "the best"}
    k = used[0].reference_k
    if set(labels.values()) == {k}:
        budget = "one summary of each" if k == 1 else f"the best of {k} of each"
        return f" {reference}, {budget}", {label: label for label in labels}
    return f" {_drawn(k)} {reference}", {label: f"{_drawn(n)} {label}" for label, n in labels.items()}


def findings(judges: Sequence[JudgeNote], tests: Sequence[Difference]) -> Iterator[str]:
    """The verdicts of each judge on the entries as they are used; of judges that see no clear difference one sentence."""
    used, unsure = as_used(tests), []
    if not used or used[0].system == used[0].reference:
        return
    setting, names = _setting(used)
    for judge in deciding(judges) + [judge for judge in judges if judge not in deciding(judges)]:
        judge_tests = [test for test in used if test.measure == judge.name]
        if any(verdict(test, judge).text != UNSURE for test in judge_tests):
            yield f"By {with_direction(judge)}, against{setting}: {_by_verdict(judge_tests, judge, names)}."
        elif judge_tests:
            unsure.append(judge.name)
    if unsure:
        of = f" for any of {len(names)} entries" if len(names) > 1 else ""
        yield f"By {joined(unsure)}, against{setting}: {UNSURE}{of}."


def low_grade_findings(tests: Sequence[Difference], judges: Sequence[JudgeNote]) -> Iterator[str]:
    """Clear differences of bad grades between entries as they are used, which equal means may hide."""
    decide = {judge.name for judge in deciding(judges)}
    for test in as_used(tests):
        if test.is_clear and test.of_judge in decide and test.value is not None:
            word, amount = ("worse", "more") if test.verdict == "higher" else ("better", "fewer")
            claim = f"{test.system}, {budget_name(test.k)}, is {word} than {test.reference}, {budget_name(test.reference_k)}"
            yield f"By {test.measure}, {claim}: {abs(100 * test.value):.1f} points {amount}."


def at_other_budgets(judges: Sequence[JudgeNote], tests: Sequence[Difference]) -> dict[int, list[str]]:
    """By budget what each judge sees clearly between entries that are not used at it; the smallest first."""
    used, by_budget = as_used(tests), dict[int, list[str]]()
    for judge in judges:
        judge_tests = [t for t in tests if t.measure == judge.name and t.side is None and t.system != t.reference]
        judge_tests = [t for t in judge_tests if t.k == t.reference_k and t not in used]
        for pairing in dict.fromkeys(_pairing(test) for test in judge_tests if verdict(test, judge).text != UNSURE):
            group = [test for test in judge_tests if _pairing(test) == pairing]
            verdicts = _by_verdict(group, judge, {test.system: test.system for test in group})
            sentence = f"By {with_direction(judge)} {_at(group[0].k)}, against {group[0].reference}: {verdicts}."
            by_budget.setdefault(group[0].k, []).append(sentence)
    return dict(sorted(by_budget.items()))


def leader_findings(
    judges: Sequence[JudgeNote], tests: Sequence[Difference], rankings: Sequence[Ranking]
) -> Iterator[str]:
    """Who leads at each budget, where somebody does."""
    by_name = {judge.name: judge for judge in judges}
    for ranking in rankings:
        at_budget = [
            t for t in tests if (t.measure, t.side, t.k, t.reference_k) == (ranking.measure, None, ranking.k, ranking.k)
        ]
        # where no test finds a difference of an entry, it is not called the strongest
        leader = ranking.rows[0].system
        is_told = any(t.is_clear and leader in (t.system, t.reference) for t in at_budget)
        if ranking.side is None and ranking.leads and is_told:
            yield (
                f"By {with_direction(by_name[ranking.measure])} {_at(ranking.k)}, {leader} wins most often, "
                "request by request: its Bradley-Terry strength is clearly above all others'."
            )


def _by_verdict(tests: Sequence[Difference], judge: JudgeNote, names: Mapping[str, str]) -> str:
    """ "dpo (+0.100) better; no clear difference for debate": who is what, by one judge."""
    places, by_word = places_for(test.value for test in tests), dict[str, list[str]]()
    for test in tests:
        word, equal = verdict(test, judge).text, test.at_equal_length
        length = f", at equal length {signed(equal.value, places)}" if equal else ""
        shown = "" if word == UNSURE else f" ({signed(test.value, places)}{length})"
        by_word.setdefault(word, []).append(f"{names[test.system]}{shown}")
    unsure = by_word.pop(UNSURE, [])
    parts = [f"{joined(labels)} {word}" for word, labels in by_word.items()]
    if unsure:
        remainder = f"{'the other' if by_word else 'any of'} {len(unsure)} entries"
        parts.append(f"{UNSURE} for {joined(unsure) if len(unsure) <= MOST_NAMED else remainder}")
    return "; ".join(parts)


def _pairing(test: Difference) -> tuple[int, str, int]:
    """Tests that stand in one sentence."""
    return test.k, test.reference, test.reference_k


def worst_side_findings(judges: Sequence[JudgeNote], worst_sides: Sequence[WorstGroups]) -> Iterator[str]:
    """Which entry is best by its worst side, where one is clearly best, the largest budget first; the other judges together."""
    by_name, unsure = {judge.name: judge for judge in judges}, dict[str, list[str]]()
    for judge in dict.fromkeys(groups.measure for groups in worst_sides):
        rated = [groups for groups in worst_sides if groups.measure == judge]
        clear = [groups for groups in rated if groups.choice]
        if not clear:
            notes = "; ".join(filter(None, dict.fromkeys(without_part(groups) for groups in rated)))
            unsure.setdefault(notes, []).append(judge)
        for groups in reversed(clear):
            (best,) = [system for system in groups.systems if system.system == groups.choice]
            note = without_part(groups)
            yield (
                f"By its worst side under {with_direction(by_name[judge])} {_at(groups.k)}, {best.system} is the best choice: "
                f"{best.side} {number(best.value)}{note and f' ({note})'}."
            )
    for notes, names in unsure.items():
        yield f"By its worst side under {joined(names)}, no entry is clearly the best choice{notes and f' ({notes})'}."


def _at(k: int) -> str:
    return "with one summary each" if k == 1 else f"at the best of {k}"


def warnings(entries: Sequence[Entry], budgets: Sequence[int], judges: Sequence[JudgeNote], n_tests: int) -> list[str]:
    """The warnings for a reader of the numbers, each once, with its entries unless it is about all.

    Args:
        entries: of the comparison.
        budgets: likewise.
        judges: of the report.
        n_tests: paired differences that the page tests.
    """
    about: dict[str, list[str]] = {}
    for entry in entries:
        for warning in _of_entry(entry, budgets):
            about.setdefault(warning, []).append(entry.label)
    sentences = [
        warning if len(labels) == len(entries) else f"{', '.join(labels)}: {warning}"
        for warning, labels in about.items()
    ]
    if len({request.length for entry in entries for request in entry.output.requests}) > 1:
        sentences.append(
            "The entries were asked for summaries of different lengths: a difference in a score that goes with length, as most "
            "do, may be the length's alone."
        )
    n_sets = len({request.set_id for request in entries[0].output.requests})
    n_headline, level = len(deciding(judges)) * max(1, len(entries) - 1), entries[0].recipe.evaluation.level
    few_sets = few_for_headline(n_sets, level, n_headline, is_alone=n_tests <= n_headline) if n_tests else ""
    return [*sentences, few_sets] if few_sets else sentences


def by_length(
    judges: Sequence[JudgeNote],
    tests: Sequence[Difference],
    words: Mapping[SystemPair, tuple[float | None, float | None]],
) -> list[ByLength]:
    """The clear differences of each judge that go with length for the most part, each once.

    Args:
        judges: of the report.
        tests: of entries, of what reranking adds to them, and of what a reward must beat.
        words: of a summary of the second and of the first system of each pair, on average.
    """
    by_name = {judge.name: judge for judge in judges}
    rows = []
    for t in (t for t in tests if t.side is None):
        before, after = words[t.systems]
        equal, share = t.at_equal_length, share_by_length(t)
        if t.value is None or equal is None or share is None or before is None or after is None:
            continue
        sentence = gone_with_length(t, by_name[t.measure], (before, after))
        of = {"pair": _of_pair(t), "measure": t.measure, "said": sentence}
        rows.append(ByLength(**of, value=t.value, share=share, words=(before, after), at_equal_length=equal))
    return list(dict.fromkeys(rows))


def length_warnings(differences: Sequence[ByLength], tests: Sequence[Difference]) -> list[str]:
    """The warnings about differences that go with length: each where they are few, else how many there are."""
    if len(differences) <= MOST_NAMED:
        return [f"{difference.pair}: {difference.said}" for difference in differences]
    clear = {(_of_pair(test), test.measure) for test in tests if test.side is None and test.is_clear}
    return [
        f"Of {len(clear)} clear differences over all sides {len(differences)} go with the length of summaries by half or more. "
        f'What is left of each at equal length is shown under "{GONE_WITH_LENGTH}".'
    ]


def _of_pair(test: Difference) -> str:
    """ "dpo against base at the best of 8", "dpo at the best of 8 against one draw": what is tested against what."""
    if test.k == test.reference_k:
        return f"{test.system} against {test.reference} {_at(test.k)}"
    of_its_own = test.reference in (test.system, ONE_DRAW)
    rival = ONE_DRAW if of_its_own else f"{test.reference} {_at(test.reference_k)}"
    return f"{test.system} {_at(test.k)} against {rival}"


def _of_entry(entry: Entry, budgets: Sequence[int]) -> Iterator[str]:
    yield from entry.notes
    yield from overlap_warnings(entry.recipe, entry.output.signatures, entry.equal_judges)
    yield from stage_warnings(entry.output.phase)
    n_candidates = entry.output.ranked.n_candidates
    if missing := int((n_candidates == 0).sum()):
        yield f"No summary of {counted(missing, 'request')}."
    judges = entry.recipe.evaluation.judges
    if alone := [name for name in judges if entry.n_candidates == 1 and entry.recipe.judges[name].against in COMPARING]:
        yield f"A request has 1 candidate, and {joined(alone)} compares candidates: it scores nothing here."
    unscored = {name: entry.output.n_unscored(name) for name in judges if name not in alone}
    if any(unscored.values()):
        by_judge = ", ".join(f"{count} by {name!r}" for name, count in unscored.items() if count)
        yield (
            f"Of {n_candidates.sum()} candidates some have no score: {by_judge}. They are left out of means, which may "
            "so rest on other requests than those of other entries."
        )
    if entry.n_cut:
        by_judge = ", ".join(f"{count} by {name!r}" for name, count in entry.n_cut.items())
        yield (
            f"Of {n_candidates.sum()} summaries some have scores of texts that were cut, being longer than the judge reads: "
            f"{by_judge}. {SCORES_TABLE} names them."
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
    if not entry.elsewhere and entry.recipe.task.scope == "side" and wrong_side_judges(entry.recipe) is None:
        yield (
            f"There is no {WRONG_SIDE!r} rate: it needs two judges of kind alignment that differ in against: source and opposing "
            "alone, among reward.judges or evaluation.judges."
        )
