"""What the runs' own reports say of a comparison's questions.

A report asks of one run, a comparison of all its entries: the same number is corrected for other questions beside it, and so the
same difference may be clear on the one page and not on the other. Where it is so, the comparison says it.
"""

from collections.abc import Sequence

from ....text.digests import digest
from ..checkpoint.build import PolicyNumbers
from ..systems.contents import Difference
from ..systems.systems import PolicyOutput, System, systems_of
from .entries import Entry
from .paired_tests import Pair, names_of

# candidates, the reward that chooses among them, and among how many it does
Source = tuple[str, str, int]
# by two systems, judge and side
Words = dict[tuple[Source, Source, str, str | None], str | None]
OPPOSITE: dict[str | None, str] = {"higher": "lower", "lower": "higher"}


def with_own_reports(entries: Sequence[Entry], pairs: Sequence[Pair], tests: Sequence[Difference]) -> list[Difference]:
    """The tests, those with the word of a run's own report of which it is another.

    Args:
        entries: of the comparison.
        pairs: of systems that are tested.
        tests: with their verdicts. Where two runs have the same candidates, the report of the first system's run is meant.
    """
    of_runs = {entry.run: entry.of_run for entry in entries if entry.of_run}
    reports = {run: _words(outputs) for run, outputs in of_runs.items()}
    runs = {entry.label: entry.run for entry in entries}
    sources = {names_of(pair): (_source(pair[0]), _source(pair[1])) for pair in pairs}
    results = []
    for test in tests:
        key = (*sources[test.systems], test.measure, test.side)
        run_words = reports.get(runs[test.system], {})
        word = next((words[key] for words in (run_words, *reports.values()) if key in words), test.verdict)
        results.append(test if word == test.verdict else test.model_copy(update={"own_report": word}))
    return results


def _words(outputs: Sequence[PolicyOutput]) -> Words:
    """The verdicts of a run's report on its differences, either way round."""
    by_name = {system.label: _source(system) for system in systems_of(outputs)}
    words: Words = {}
    for difference in PolicyNumbers(outputs[0].phase.recipe, outputs).concluded.differences:
        first, second = (by_name[name] for name in (difference.system, difference.reference))
        words[first, second, difference.measure, difference.side] = difference.verdict
        words[second, first, difference.measure, difference.side] = OPPOSITE.get(difference.verdict, difference.verdict)
    return words


def _source(system: System) -> Source:
    reward = system.output.phase.recipe.reward.model_dump(mode="json")
    return system.output.candidates, digest(reward), system.k
