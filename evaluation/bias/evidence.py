"""Inputs, summaries and persons put together: the instances that the measures read, and what has to be left out.

Balanced inputs of one assignment balance each other, so an assignment of which one input has no summary is left out whole.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...fairness.demographic.inputs.assignment import source_entities
from ...fairness.demographic.persons import Instance, align
from ...records import LeftOut
from .inputs import BiasInput, Inputs
from .persons import FoundPersons
from .summarise import Summary

PARTNER = "another input of its assignment has no summary"


@dataclass(frozen=True)
class Summarised:
    """An input with its summary, and both as the measures read them."""

    input: BiasInput
    instance: Instance
    # persons of the input whom the recogniser finds in the input itself; of balanced inputs only
    recognised: frozenset[str]


@dataclass(frozen=True)
class Evidence:
    """What is measured."""

    setting: str
    groups: tuple[str, ...]
    balanced: tuple[Summarised, ...]
    uniform: tuple[Summarised, ...]
    left_out: tuple[LeftOut, ...]


def gather(inputs: Inputs, setting: str, summaries: Sequence[Summary], persons: Mapping[str, FoundPersons]) -> Evidence:
    """The instances of both designs; summaries that are not there are counted by design and reason."""
    text_of = {each.input_id: each.text for each in summaries}
    reasons: Counter[tuple[str, str]] = Counter()
    for each, summary in zip(inputs.inputs, summaries, strict=True):
        if summary.reason is not None:
            reasons[_what(each), summary.reason] += 1
    kept = []
    for each in inputs.inputs:
        text = text_of[each.id]
        if text is not None:
            kept.append(_summarised(each, text, persons[each.id]))
    balanced = [each for each in kept if each.input.design == "balanced"]
    whole = _whole(inputs.inputs, balanced)
    if alone := len(balanced) - len(whole):
        reasons["summary of a balanced input", PARTNER] += alone
    return Evidence(
        setting=setting,
        groups=inputs.setting.categories,
        balanced=tuple(whole),
        uniform=tuple(each for each in kept if each.input.design == "uniform"),
        left_out=(
            *inputs.left_out,
            *LeftOut.rows(("what", "reason"), reasons, stage="summaries"),
        ),
    )


def _what(each: BiasInput) -> str:
    return "summary of a balanced input" if each.group is None else f"summary of a uniform input, {each.group}"


def _whole(inputs: Sequence[BiasInput], balanced: Sequence[Summarised]) -> list[Summarised]:
    """Those whose assignment has a summary for each of its inputs."""
    made = Counter((each.original_id, each.assignment_id) for each in inputs if each.design == "balanced")
    found: dict[tuple[str, int], int] = defaultdict(int)
    for each in balanced:
        found[each.input.original_id, each.input.assignment_id] += 1
    return [
        each
        for each in balanced
        for key in [(each.input.original_id, each.input.assignment_id)]
        if found[key] == made[key]
    ]


def _summarised(each: BiasInput, summary: str, found: FoundPersons) -> Summarised:
    persons = source_entities(each.entities)
    partners = align(found.in_input, persons).by_entity
    instance = Instance(
        document_id=each.original_id,
        assignment_id=each.assignment_id,
        source=each.text,
        summary=summary,
        source_entities=persons,
        summary_entities=found.in_summary,
    )
    return Summarised(each, instance, frozenset(person for person, spans in partners.items() if spans))
