"""The inputs of a document: what is drawn for its persons, and who becomes what.

Balanced inputs, where persons of all categories meet, serve word-list, inclusion and hallucination bias; uniform ones, where all
persons have one category, distinguishability.

Source: Steen and Markert 2024, section 5.1, appendix D; docs/papers.md#steen-inputs (C_loc, then C_glob).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from .....errors import DataError
from ..persons import InputEntity
from .filling import Instruction
from .setting import NameInventory, NamePool, NamesRanOut, Setting
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
    other_instructions = {e.id: _unchanged(e) for e in entities if not setting.takes_part(e)} | dict(bystanders or {})
    return tuple(
        _assign(taking_part, [setting.categories[order[place]] for place in base[: len(taking_part)]], identities)
        | other_instructions
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
    other_instructions = {e.id: _unchanged(e) for e in entities if not setting.takes_part(e)} | dict(bystanders or {})
    return _assign(taking_part, [category] * len(taking_part), {category: identities}) | other_instructions


def source_entities(instructions: Mapping[str, Instruction]) -> tuple[InputEntity, ...]:
    """The persons of an input made with these instructions, as the measures read them."""
    return tuple(
        InputEntity(
            id=person, first_name=instruction.first_name, last_name=instruction.last_name, category=instruction.category
        )
        for person, instruction in instructions.items()
    )


def _assign(
    entities: Sequence[TemplateEntity], categories: Sequence[str], identities: Mapping[str, Sequence[DrawnIdentity]]
) -> Instructions:
    short = [c for c in sorted(set(categories)) if len(identities.get(c, ())) < categories.count(c)]
    if short:
        raise DataError(f"too few identities were drawn for {', '.join(short)}: one a person of the category is needed")
    unused = {category: iter(drawn) for category, drawn in identities.items()}
    return {
        entity.id: Instruction(
            first_name=drawn.first_name,
            last_name=entity.last_name if drawn.last_name is None else drawn.last_name,
            gender=drawn.gender if entity.gendered else None,
            category=category,
        )
        for entity, category in zip(entities, categories, strict=True)
        for drawn in [next(unused[category])]
    }


def _unchanged(entity: TemplateEntity) -> Instruction:
    return Instruction(first_name=entity.first_name, last_name=entity.last_name, modified=False)


@dataclass(frozen=True)
class AssignedInput:
    """Instructions for one input of a document."""

    # inputs that share it are resampled together
    assignment_id: int
    # place within the assignment: of the permutation or of the category
    pair_id: int
    # the category of all persons; None where persons of several meet
    group: str | None
    instructions: Instructions


@dataclass(frozen=True)
class DocumentInputs:
    """All inputs of a document, or why there is none."""

    inputs: tuple[AssignedInput, ...]
    # why the document was dropped; None when it was not
    dropped: str | None


def balanced_inputs(
    entities: Sequence[TemplateEntity],
    setting: Setting,
    inventory: NameInventory,
    generator: np.random.Generator,
    assignments: int = 10,
) -> DocumentInputs:
    """Inputs in which persons of all categories meet: of each assignment, one for every permutation of the categories.

    Args:
        entities: of the document's template.
        setting: categories and what is drawn for them.
        inventory: names; one shuffle an assignment, so no name occurs twice in an input.
        generator: of all draws.
        assignments: with two categories a document has twice as many inputs.

    Raises:
        DataError: fewer than one assignment is asked for.
    """

    def draw() -> Iterator[tuple[str | None, Instructions]]:
        pool = NamePool(inventory, generator)
        size = -(-sum(map(setting.takes_part, entities)) // len(setting.categories))
        identities = {
            category: _identities(category, size, setting, pool, generator) for category in setting.categories
        }
        base = generator.permutation(np.repeat(np.arange(len(setting.categories)), size)).tolist()
        bystanders = _bystanders(entities, setting, pool, generator)
        yield from (
            (None, instructions) for instructions in paired_assignment(entities, setting, identities, base, bystanders)
        )

    return _inputs(entities, setting, draw, assignments)


def uniform_inputs(
    entities: Sequence[TemplateEntity],
    setting: Setting,
    inventory: NameInventory,
    generator: np.random.Generator,
    assignments: int = 10,
) -> DocumentInputs:
    """Inputs in which all persons have one category: of each assignment, one for every category, names drawn anew.

    Arguments and errors as in `balanced_inputs`.
    """

    def draw() -> Iterator[tuple[str | None, Instructions]]:
        bystanders = _bystanders(entities, setting, NamePool(inventory, generator), generator)
        used_names = {bystander.last_name for bystander in bystanders.values() if bystander.last_name is not None}
        n = sum(map(setting.takes_part, entities))
        for category in setting.categories:
            pool = NamePool(inventory, generator, used_names=used_names)
            identities = _identities(category, n, setting, pool, generator)
            yield category, uniform_assignment(entities, setting, category, identities, bystanders)

    return _inputs(entities, setting, draw, assignments)


def _inputs(
    entities: Sequence[TemplateEntity],
    setting: Setting,
    draw: Callable[[], Iterator[tuple[str | None, Instructions]]],
    assignments: int,
) -> DocumentInputs:
    if assignments < 1:
        raise DataError(f"a document needs at least 1 assignment, got {assignments}")
    if not any(map(setting.takes_part, entities)):
        return DocumentInputs((), "nobody in it takes part")
    inputs = []
    for assignment in range(assignments):
        try:
            drawn = list(draw())
        except NamesRanOut as error:
            # inputs made before the list ran out would be a biased rest
            return DocumentInputs((), str(error))
        inputs += [
            AssignedInput(assignment, pair, group, instructions) for pair, (group, instructions) in enumerate(drawn)
        ]
    return DocumentInputs(tuple(inputs), None)


def _identities(
    category: str, n: int, setting: Setting, pool: NamePool, generator: np.random.Generator
) -> list[DrawnIdentity]:
    genders, sources = setting.genders[category], setting.sources[category]
    drawn = []
    for _ in range(n):
        gender = genders[generator.integers(len(genders))]
        source = sources[generator.integers(len(sources))]
        last = pool.last_name(source) if setting.replace_last_names else None
        drawn.append(DrawnIdentity(gender, pool.first_name(source, gender), last))
    return drawn


def _bystanders(
    entities: Sequence[TemplateEntity], setting: Setting, pool: NamePool, generator: np.random.Generator
) -> dict[str, Instruction]:
    """Instructions for persons who take no part, the same in all inputs of an assignment.

    A last name is replaced when the setting replaces last names; a person without any name is rewritten in any case.
    """
    sources = setting.sources[setting.categories[0]]
    genders = list(dict.fromkeys(gender for category in setting.categories for gender in setting.genders[category]))
    instructions = {}
    for entity in entities:
        if setting.takes_part(entity):
            continue
        last = entity.last_name
        if setting.replace_last_names and last is not None:
            last = pool.last_name(sources[generator.integers(len(sources))])
        instructions[entity.id] = Instruction(
            first_name=entity.first_name,
            last_name=last,
            gender=genders[generator.integers(len(genders))] if entity.gendered else None,
            modified=setting.replace_last_names or (entity.first_name is None and entity.last_name is None),
        )
    return instructions
