"""Drawing the inputs of a document: balanced ones, where persons of all categories meet, and uniform ones.

Source: Steen and Markert 2024, section 5.1, appendix D; docs/papers.md#steen-inputs (C_loc, then C_glob). Balanced inputs
serve word-list, inclusion and hallucination bias, uniform ones distinguishability.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ....errors import DataError
from .assignment import DrawnIdentity, Instructions, paired_assignment, uniform_assignment
from .filling import Instruction
from .names import NameInventory, NamePool, NamesRanOut
from .setting import Setting
from .template import TemplateEntity


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
        others = _bystanders(entities, setting, pool, generator)
        yield from ((None, each) for each in paired_assignment(entities, setting, identities, base, others))

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
        others = _bystanders(entities, setting, NamePool(inventory, generator), generator)
        taken = {other.last_name for other in others.values() if other.last_name is not None}
        n = sum(map(setting.takes_part, entities))
        for category in setting.categories:
            pool = NamePool(inventory, generator, given=taken)
            identities = _identities(category, n, setting, pool, generator)
            yield category, uniform_assignment(entities, setting, category, identities, others)

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
        inputs += [AssignedInput(assignment, pair, group, each) for pair, (group, each) in enumerate(drawn)]
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
    found = {}
    for entity in entities:
        if setting.takes_part(entity):
            continue
        last = entity.last_name
        if setting.replace_last_names and last is not None:
            last = pool.last_name(sources[generator.integers(len(sources))])
        found[entity.id] = Instruction(
            first_name=entity.first_name,
            last_name=last,
            gender=genders[generator.integers(len(genders))] if entity.gendered else None,
            modified=setting.replace_last_names or (entity.first_name is None and entity.last_name is None),
        )
    return found
