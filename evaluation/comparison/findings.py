"""What the comparison found, in sentences made from the verdicts: "cannot tell" is one of them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ..checkpoint.findings import MOST_NAMED, direction
from ..pages.numbers import number, percent, places_for, signed
from ..systems.contents import JudgeNote
from ..systems.worst_group import without_part
from .contents import PairedTest, Ranking, WorstSides
from .ranking import overlapping


def title(judges: Sequence[JudgeNote], tests: Sequence[PairedTest]) -> str:
    """The headline, without a full stop: who is better or worse than the first entry at the largest budget, by how many judges.

    "Against base at the best of 8: debate worse by 2 of 4 judges, dpo better by 3 of 4 and worse by 1".
    """
    against = [t for t in tests if t.side is None and t.k == t.reference_k and t.subject != t.reference]
    if not against:
        return "Nothing to test: no two entries have a budget in common"
    last = max(against, key=lambda test: test.k)
    by_name = {judge.name: judge for judge in judges}
    verdicts: dict[str, Counter[str]] = {}
    for test in against:
        if test.k == last.k:
            verdicts.setdefault(test.subject, Counter())[direction(test, by_name[test.measure])] += 1
    told = {label: found for label, found in verdicts.items() if found["better"] or found["worse"]}
    return f"Against {last.reference} {_at(last.k)}: {_headline(told, len(verdicts), len(judges))}"


def _headline(told: Mapping[str, Counter[str]], n_entries: int, n_judges: int) -> str:
    if not told:
        return "nothing can be told" if n_entries == 1 else f"none of {n_entries} entries can be told from it"
    if len(told) > MOST_NAMED:
        better, worse = (sum(bool(found[word]) for found in told.values()) for word in ("better", "worse"))
        return f"of {n_entries} entries {better} better and {worse} worse by some judge"
    of = f" of {n_judges} judge{'s' if n_judges > 1 else ''}"
    parts = []
    for label, found in told.items():
        words = [f"{word} by {found[word]}" for word in ("better", "worse") if found[word]]
        parts.append(f"{label} {words[0]}{of}{''.join(f' and {word}' for word in words[1:])}")
        of = f" of {n_judges}"
    return ", ".join(parts)


def findings(judges: Sequence[JudgeNote], tests: Sequence[PairedTest], rankings: Sequence[Ranking]) -> Iterator[str]:
    """For each judge what differs from the first entry at each budget, then who leads where somebody does."""
    for judge in judges:
        mine = [t for t in tests if t.measure == judge.name and t.side is None and t.k == t.reference_k]
        told = [t for t in mine if t.verdict != "cannot tell"]
        if mine and not told:
            yield f"By {judge.name}, no entry can be told from the first of its budget."
        for k in dict.fromkeys(test.k for test in told):
            yield _against_reference(judge, k, [test for test in mine if test.k == k])
    for ranking in rankings:
        if ranking.side is None and not overlapping(ranking):
            lead = f"{ranking.rows[0].label} is the strongest"
            yield f"By {ranking.measure} {_at(ranking.k)}, {lead}: its Bradley-Terry interval lies above all others."


def worst_side_findings(worst_sides: Sequence[WorstSides]) -> Iterator[str]:
    """For each judge which entry is best by its worst side, at the budgets where that can be told, or that it cannot be told."""
    for judge in dict.fromkeys(each.measure for each in worst_sides):
        mine = [each for each in worst_sides if each.measure == judge]
        told = [each for each in mine if each.found.choice]
        if not told:
            notes = "; ".join(filter(None, dict.fromkeys(without_part(each.found) for each in mine)))
            yield f"By its worst side under {judge}, it cannot be told which entry is the best choice{_in_brackets(notes)}."
        for each in told:
            (best,) = [system for system in each.found.systems if system.system == each.found.choice]
            yield (
                f"By its worst side under {judge} {_at(each.k)}, {best.system} is the best choice: {best.group} "
                f"{number(best.mean)}, the best of all in {percent(best.chance_of_best)} of the draws"
                f"{_in_brackets(without_part(each.found))}."
            )


def _in_brackets(note: str) -> str:
    return f" ({note})" if note else ""


def _against_reference(judge: JudgeNote, k: int, tests: Sequence[PairedTest]) -> str:
    places = places_for(test.mean for test in tests)
    said: dict[str, list[str]] = {}
    for test in tests:
        word = direction(test, judge) if judge.better else test.verdict
        said.setdefault(word, []).append(
            test.subject if word == "cannot tell" else f"{test.subject} ({signed(test.mean, places)})"
        )
    parts = [
        f"{_counted(labels)} cannot be told from it" if word == "cannot tell" else f"{_listed(labels)} {word}"
        for word, labels in said.items()
    ]
    return f"By {judge.name} {_at(k)}, against {tests[0].reference}: {'; '.join(parts)}."


def _at(k: int) -> str:
    return "with one draw" if k == 1 else f"at the best of {k}"


def _counted(labels: Sequence[str]) -> str:
    """The labels, or how many they are where a list would only be long."""
    return _listed(labels) if len(labels) <= MOST_NAMED else f"the other {len(labels)}"


def _listed(labels: Sequence[str]) -> str:
    return labels[0] if len(labels) == 1 else f"{', '.join(labels[:-1])} and {labels[-1]}"
