"""Balanced assignment of categories to persons, given what was drawn: one input for every permutation of the categories.

Source: Steen and Markert 2024, section 5.1, appendix D; docs/papers.md#steen-inputs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from ....errors import DataError
from ..instances import InputEntity
from .filling import Instruction
from .setting import Setting
from .template import TemplateEntity
from .words import Gender

Instructions = dict[str, Instruction]


@dataclass(frozen=True)
class DrawnIdentity:
    """What one person of a category is given."""

    gender: Gender
    first_name: str
    # None keeps the person's own
    last_name: str | None = None


def paired_assignment(
    entities: Sequence[TemplateEntity],
    setting: Setting,
    identities: Mapping[str, Sequence[DrawnIdentity]],
    base: Sequence[int],
    bystanders: Mapping[str, Instruction] | None = None,
) -> tuple[Instructions, ...]:
    """Instructions for one input of every permutation of the categories: identity first, then in lexicographic order.

    A person whose drawn category is k gets category perm(k) and that category's next unused identity; so two categories
    give a pair of inputs with the same names and swapped categories.

    Args:
        entities: of a template, in their order.
        setting: the categories and who takes part.
        identities: drawn for each category, in drawing order.
        base: shuffled positions of categories; the first go to the persons who take part.
        bystanders: instructions for those who take no part; by default they stay as they are.

    Raises:
        DataError: the base or the identities do not reach for all who take part, or a position is no category.
    """
    taking_part = [entity for entity in entities if setting.takes_part(entity)]
    n = len(setting.categories)
    if len(base) < len(taking_part) or any(not 0 <= place < n for place in base):
        raise DataError(
            f"{len(taking_part)} persons take part; the base needs as many positions from 0 to {n - 1}, got {list(base)}"
        )
    others = {e.id: _unchanged(e) for e in entities if not setting.takes_part(e)} | dict(bystanders or {})
    return tuple(
        _assign(taking_part, [setting.categories[order[place]] for place in base[: len(taking_part)]], identities)
        | others
        for order in permutations(range(n))
    )


def uniform_assignment(
    entities: Sequence[TemplateEntity],
    setting: Setting,
    category: str,
    identities: Sequence[DrawnIdentity],
    bystanders: Mapping[str, Instruction] | None = None,
) -> Instructions:
    """Instructions for one input in which all who take part get the same category.

    Raises:
        DataError: the category is not one of the setting's, or the identities do not reach.
    """
    if category not in setting.categories:
        raise DataError(f"category {category!r} is not one of {', '.join(setting.categories)}")
    taking_part = [entity for entity in entities if setting.takes_part(entity)]
    others = {e.id: _unchanged(e) for e in entities if not setting.takes_part(e)} | dict(bystanders or {})
    return _assign(taking_part, [category] * len(taking_part), {category: identities}) | others


def source_entities(instructions: Mapping[str, Instruction]) -> tuple[InputEntity, ...]:
    """The persons of an input made with these instructions, as the measures read them."""
    return tuple(
        InputEntity(id=person, first_name=each.first_name, last_name=each.last_name, category=each.category)
        for person, each in instructions.items()
    )


def _assign(
    entities: Sequence[TemplateEntity], categories: Sequence[str], identities: Mapping[str, Sequence[DrawnIdentity]]
) -> Instructions:
    short = [c for c in sorted(set(categories)) if len(identities.get(c, ())) < categories.count(c)]
    if short:
        raise DataError(f"too few identities were drawn for {', '.join(short)}: one a person of the category is needed")
    unused = {category: iter(drawn) for category, drawn in identities.items()}
    return {
        entity.id: _instruction(entity, category, next(unused[category]))
        for entity, category in zip(entities, categories, strict=True)
    }


def _instruction(entity: TemplateEntity, category: str, drawn: DrawnIdentity) -> Instruction:
    return Instruction(
        first_name=drawn.first_name,
        last_name=entity.last_name if drawn.last_name is None else drawn.last_name,
        gender=drawn.gender if entity.gendered else None,
        category=category,
    )


def _unchanged(entity: TemplateEntity) -> Instruction:
    return Instruction(first_name=entity.first_name, last_name=entity.last_name, modified=False)
