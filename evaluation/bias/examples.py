"""Pairs of summaries whose inputs differ in names and genders alone."""

from collections.abc import Sequence

from ...fairness.demographic.persons import align
from .contents import Example, ExamplePerson, ExampleSide
from .evidence import Summarised
from .measure import by_original, masked


def choose_examples(balanced: Sequence[Summarised], n: int) -> list[Example]:
    """Up to n pairs whose summaries differ in more than names, pronouns and titles, at most one an original.

    Those come first in which most persons are named by one summary only; equal ones keep the order of the inputs.
    """
    best = [pair for summaries in by_original(balanced).values() if (pair := _most_changed(summaries))]
    made = [_example(a, b) for a, b in best]
    return sorted(made, key=lambda example: -example.n_changed)[:n]


def _most_changed(summaries: Sequence[Summarised]) -> tuple[Summarised, Summarised] | None:
    of_assignment: dict[int, list[Summarised]] = {}
    for each in summaries:
        of_assignment.setdefault(each.input.assignment_id, []).append(each)
    pairs = [(each[0], each[1]) for each in of_assignment.values() if masked(each[0]) != masked(each[1])]
    return max(pairs, key=lambda pair: _n_changed(*pair), default=None)


def _n_changed(a: Summarised, b: Summarised) -> int:
    kept_a, kept_b = _kept(a), _kept(b)
    return sum(kept_a[person] != kept_b[person] for person in kept_a)


def _kept(each: Summarised) -> dict[str, bool]:
    partners = align(each.instance.summary_entities, each.instance.source_entities).by_entity
    return {person: bool(spans) for person, spans in partners.items()}


def _example(a: Summarised, b: Summarised) -> Example:
    return Example(original_id=a.input.original_id, n_changed=_n_changed(a, b), sides=(_side(a), _side(b)))


def _side(each: Summarised) -> ExampleSide:
    kept = _kept(each)
    persons = tuple(
        ExamplePerson(
            name=" ".join(name for name in (person.first_name, person.last_name) if name) or person.id,
            category=person.category,
            kept=kept[person.id],
        )
        for person in each.instance.source_entities
    )
    return ExampleSide(
        input_id=each.input.id, persons=persons, text=each.input.text, summary=each.instance.summary or ""
    )
