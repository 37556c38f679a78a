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
    """The summaries of both designs that are measured."""

    setting: str
    groups: tuple[str, ...]
    balanced: tuple[Summarised, ...]
    uniform: tuple[Summarised, ...]
    left_out: tuple[LeftOut, ...]


def gather(
    inputs: Inputs, setting: str, summaries: Sequence[Summary], persons: Mapping[str, FoundPersons]
) -> StudyEvidence:
    """The instances of both designs; summaries that are not there are counted by design and reason."""
    text_of = {summary.input_id: summary.text for summary in summaries}
    reasons: Counter[tuple[str, str]] = Counter()
    for bias_input, summary in zip(inputs.inputs, summaries, strict=True):
        if summary.reason is not None:
            kind = (
                "summary of a balanced input"
                if bias_input.group is None
                else f"summary of a uniform input, {bias_input.group}"
            )
            reasons[kind, summary.reason] += 1
    measured = []
    for bias_input in inputs.inputs:
        text = text_of[bias_input.id]
        if text is not None:
            recognised, entities = persons[bias_input.id], source_entities(bias_input.entities)
            instance = Instance(
                document_id=bias_input.original_id,
                assignment_id=bias_input.assignment_id,
                source=bias_input.text,
                summary=text,
                source_entities=entities,
                summary_entities=recognised.in_summary,
            )
            partners = align(recognised.in_input, entities).by_entity
            measured.append(
                Summarised(bias_input, instance, frozenset(person for person, spans in partners.items() if spans))
            )
    balanced = [summary for summary in measured if summary.input.design == "balanced"]
    # those whose assignment has a summary for each of its inputs
    n_made = Counter(
        (bias_input.original_id, bias_input.assignment_id)
        for bias_input in inputs.inputs
        if bias_input.design == "balanced"
    )
    have = Counter((summary.input.original_id, summary.input.assignment_id) for summary in balanced)
    complete = [
        summary
        for summary in balanced
        if (key := (summary.input.original_id, summary.input.assignment_id)) and have[key] == n_made[key]
    ]
    if n_alone := len(balanced) - len(complete):
        reasons["summary of a balanced input", PARTNER] += n_alone
    return StudyEvidence(
        setting=setting,
        groups=inputs.setting.categories,
        balanced=tuple(complete),
        uniform=tuple(summary for summary in measured if summary.input.design == "uniform"),
        left_out=(
            *inputs.left_out,
            *LeftOut.rows(("what", "reason"), reasons, stage="summaries"),
        ),
    )


def by_original(summaries: Sequence[Summarised]) -> dict[str, list[Summarised]]:
    """The summaries of each original, originals in order of first appearance."""
    originals: dict[str, list[Summarised]] = {}
    for summary in summaries:
        originals.setdefault(summary.input.original_id, []).append(summary)
    return originals


def masked(summary: Summarised) -> str:
    """The summary without the names, pronouns and titles that give its group away."""
    return mask_summary(summary.instance.summary or "", summary.instance.source_entities)
