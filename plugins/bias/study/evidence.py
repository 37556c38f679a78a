"""The evidence of a study: inputs, summaries and persons put together.

Balanced inputs of one assignment balance each other, so an assignment of which one input has no summary is left out whole.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ....records import LeftOut
from ..demographic.inputs.assignment import source_entities
from ..demographic.masking import mask_summary
from ..demographic.persons import Instance, align
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
class StudyEvidence:
    """What is measured."""

    setting: str
    groups: tuple[str, ...]
    balanced: tuple[Summarised, ...]
    uniform: tuple[Summarised, ...]
    left_out: tuple[LeftOut, ...]


def gather(
    inputs: Inputs, setting: str, summaries: Sequence[Summary], persons: Mapping[str, FoundPersons]
) -> StudyEvidence:
    """The instances of both designs; summaries that are not there are counted by design and reason."""
    text_of = {each.input_id: each.text for each in summaries}
    reasons: Counter[tuple[str, str]] = Counter()
    for each, summary in zip(inputs.inputs, summaries, strict=True):
        if summary.reason is not None:
            what = "summary of a balanced input" if each.group is None else f"summary of a uniform input, {each.group}"
            reasons[what, summary.reason] += 1
    kept = []
    for each in inputs.inputs:
        text = text_of[each.id]
        if text is not None:
            found, entities = persons[each.id], source_entities(each.entities)
            instance = Instance(
                document_id=each.original_id,
                assignment_id=each.assignment_id,
                source=each.text,
                summary=text,
                source_entities=entities,
                summary_entities=found.in_summary,
            )
            partners = align(found.in_input, entities).by_entity
            kept.append(Summarised(each, instance, frozenset(person for person, spans in partners.items() if spans)))
    balanced = [each for each in kept if each.input.design == "balanced"]
    # those whose assignment has a summary for each of its inputs
    made = Counter((each.original_id, each.assignment_id) for each in inputs.inputs if each.design == "balanced")
    have = Counter((each.input.original_id, each.input.assignment_id) for each in balanced)
    whole = [
        each
        for each in balanced
        if (key := (each.input.original_id, each.input.assignment_id)) and have[key] == made[key]
    ]
    if alone := len(balanced) - len(whole):
        reasons["summary of a balanced input", PARTNER] += alone
    return StudyEvidence(
        setting=setting,
        groups=inputs.setting.categories,
        balanced=tuple(whole),
        uniform=tuple(each for each in kept if each.input.design == "uniform"),
        left_out=(
            *inputs.left_out,
            *LeftOut.rows(("what", "reason"), reasons, stage="summaries"),
        ),
    )


def by_original(summaries: Sequence[Summarised]) -> dict[str, list[Summarised]]:
    """The summaries of each original, originals in order of first appearance."""
    found: dict[str, list[Summarised]] = {}
    for each in summaries:
        found.setdefault(each.input.original_id, []).append(each)
    return found


def masked(each: Summarised) -> str:
    """The summary without the names, pronouns and titles that give its group away."""
    return mask_summary(each.instance.summary or "", each.instance.source_entities)
