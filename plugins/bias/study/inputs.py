"""The inputs of a study: what varies between them, the names that are drawn, and each document rewritten in two designs.

Balanced inputs (C_loc in the paper) mix persons of all categories and come in pairs with the categories exchanged; word lists,
inclusion and hallucination are measured on them. Uniform inputs (C_glob) have persons of one category only; distinguishability is
measured on them.

Source: Steen and Markert 2024, section 5.1, appendix D; docs/papers.md#steen-inputs.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from ....corpora.table_files import is_table
from ....errors import DataError
from ....records import LeftOut, Record, Text
from ....storage import as_given, read_json
from ....text import some_of
from ....text.digests import digest
from ..annotated import read_news
from ..demographic.inputs.assignment import AssignedInput, balanced_inputs, uniform_inputs
from ..demographic.inputs.document import AnnotatedDocument
from ..demographic.inputs.filling import (
    FillOptions,
    Instruction,
    fill_template,
    lone_first_names,
    names_left,
    unmarked_first_names,
)
from ..demographic.inputs.setting import (
    NameInventory,
    Setting,
    common_inventory,
    gender_setting,
    race_setting,
    read_inventory,
    read_vocabulary,
)
from ..demographic.inputs.template import TemplateEntity, build_template
from ..demographic.name_reading import NameReader
from ..recipe import BiasRecipe


def make_setting(recipe: BiasRecipe) -> Setting:
    """What varies between the inputs; a category of one gender of two bears it in its name: "black female"."""
    section = recipe.inputs
    if section.setting == "gender":
        return gender_setting(section.replace_last_names)
    by_race = race_setting(**{category: tuple(genders) for category, genders in (section.genders or {}).items()})
    label = {
        category: category if len(genders) > 1 else f"{category} {genders[0]}"
        for category, genders in by_race.genders.items()
    }
    return replace(
        by_race,
        categories=tuple(label[category] for category in by_race.categories),
        genders={label[category]: genders for category, genders in by_race.genders.items()},
        sources={label[category]: sources for category, sources in by_race.sources.items()},
    )


def read_names(recipe: BiasRecipe) -> NameInventory:
    """The name lists: those of the recipe's file, and for setting gender the census where the file has no first names.

    Raises:
        DataError: the file cannot be read, or a list that the setting draws from is missing; all such are named.
    """
    inventory = _read_file(recipe.inputs.names) if recipe.inputs.names else NameInventory({})
    if recipe.inputs.setting == "gender":
        census = common_inventory()
        inventory = NameInventory({**census.first, **{s: g for s, g in inventory.first.items() if g}}, inventory.last)
    setting = make_setting(recipe)
    needed = [(source, category) for category in setting.categories for source in setting.sources[category]]
    lacking = [
        *(f"{s}.{g}" for s, c in needed for g in setting.genders[c] if not inventory.first.get(s, {}).get(g)),
        *(f"{s}.last" for s, _ in needed if setting.replace_last_names and not inventory.last.get(s)),
    ]
    if lacking:
        raise DataError(f"{recipe.inputs.names}: name lists {', '.join(dict.fromkeys(lacking))} are missing; add them")
    return inventory


def _read_file(path: Path) -> NameInventory:
    with as_given("key 'inputs.names': "):
        if is_table(path):
            return read_vocabulary(path)
        lists = read_json(path)
    try:
        if not isinstance(lists, dict) or not all(
            isinstance(by_kind, dict)
            and all(
                isinstance(names, list) and all(isinstance(n, str) and n.strip() for n in names)
                for names in by_kind.values()
            )
            for by_kind in lists.values()
        ):
            raise DataError(
                'holds no name lists; write {"black": {"female": ["...", ...], "male": [...], "last": [...]}, ...}'
            )
        return read_inventory(lists)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error


Design = Literal["balanced", "uniform"]
DESIGNS = {"balanced": balanced_inputs, "uniform": uniform_inputs}
WORD = re.compile(r"\S+")


class BiasInput(Record):
    """One input: a line of `inputs.jsonl`."""

    # holds a digest of the text, so that summaries of other inputs are noticed
    id: Text
    original_id: Text
    design: Design
    # inputs of an original that share it are resampled together
    assignment_id: int
    # place within the assignment: of the permutation, or of the category
    pair_id: int
    # category of all persons; None where persons of several meet
    group: str | None
    # what the summarizer is given
    text: Text
    entities: dict[str, Instruction]


@dataclass(frozen=True)
class Inputs:
    """All inputs of a study."""

    setting: Setting
    documents: tuple[AnnotatedDocument, ...]
    inputs: tuple[BiasInput, ...]
    # reason -> ids of the documents that were left out for it
    dropped: Mapping[str, tuple[str, ...]]
    # mentions inside others, which filling skipped
    n_overlaps: int

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """The documents that were left out, counted by reason."""
        dropped = {(reason,): len(documents) for reason, documents in self.dropped.items()}
        return LeftOut.rows(("reason",), dropped, stage="inputs", what="document")


def make_inputs(recipe: BiasRecipe) -> Inputs:
    """The inputs that the recipe describes; a document that cannot have all of them is left out and counted.

    Raises:
        DataError: documents or name lists cannot be read or are wrong; all mistakes are listed.
    """
    with as_given("key 'input': "):
        documents = read_news(recipe.input, allow_unresolved=recipe.inputs.allow_unresolved)
    inventory, setting = read_names(recipe), make_setting(recipe)
    options = FillOptions(rewrite_content_words=recipe.inputs.content_words, title_female=recipe.inputs.title_female)
    reader = NameReader()
    bias_inputs: list[BiasInput] = []
    dropped: dict[str, tuple[str, ...]] = {}
    overlaps = 0
    for document in documents:
        template = build_template(document, allow_unresolved=recipe.inputs.allow_unresolved)
        drawn = {}
        for design, assign in DESIGNS.items():
            seed = int(digest([recipe.name, recipe.seed, design, document.doc_id]), 16)
            drawn[design] = assign(template, setting, inventory, np.random.default_rng(seed), recipe.inputs.assignments)
        reason = next((document_inputs.dropped for document_inputs in drawn.values() if document_inputs.dropped), None)
        reason = reason or _old_name(document, template, drawn["balanced"].inputs[0].instructions, reader)
        if reason is not None:
            dropped[reason] = (*dropped.get(reason, ()), document.doc_id)
            continue
        for design, document_inputs in drawn.items():
            filled = [
                fill_template(document, template, assigned_input.instructions, options)
                for assigned_input in document_inputs.inputs
            ]
            overlaps += sum(filling.n_overlaps for filling in filled)
            cut = _cut(document_inputs.inputs, [filling.text for filling in filled], recipe.inputs.most_words)
            bias_inputs += (_input(document, design, assigned_input, text) for assigned_input, text in cut)
    if not bias_inputs:
        reasons = "; ".join(f"{len(ids)}: {reason}" for reason, ids in dropped.items())
        lists = f"; the name lists are those of {recipe.inputs.names}" if recipe.inputs.names else ""
        raise DataError(f"no input can be made of the {len(documents)} documents of {recipe.input}: {reasons}{lists}")
    return Inputs(setting, tuple(documents), tuple(bias_inputs), dropped, overlaps)


def _old_name(
    document: AnnotatedDocument,
    template: Sequence[TemplateEntity],
    instructions: Mapping[str, Instruction],
    reader: NameReader,
) -> str | None:
    """Which old name the texts would have beside new pronouns, as a reason to leave the document out; None without one."""
    names = (
        *names_left(document, template, instructions),
        *unmarked_first_names(document, template, instructions, reader),
    )
    if names:
        return f"a name would be left in the texts ({some_of(names)}); mark it as a mention of its person"
    if lone := lone_first_names(template, instructions, reader):
        return (
            f"somebody is only called by what reads as a first name ({some_of(lone)}), which would stay while the pronouns "
            "change; write the whole name once"
        )
    return None


def count_by_design(inputs: Inputs) -> dict[str, int]:
    """Number of inputs, and so of summaries to be made, by design."""
    return dict(Counter(bias_input.design for bias_input in inputs.inputs))


def _cut(
    assigned: Sequence[AssignedInput], texts: Sequence[str], most_words: int | None
) -> list[tuple[AssignedInput, str]]:
    """The inputs and their texts up to the end of the last word that is given.

    Who is named no more in a text of an assignment has no category in any of it, which keeps it in balance.
    """
    if most_words is None:
        return list(zip(assigned, texts, strict=True))
    ends = [[word.end() for word in WORD.finditer(text)] for text in texts]
    texts = [
        text if len(word_ends) <= most_words else text[: word_ends[most_words - 1]]
        for text, word_ends in zip(texts, ends, strict=True)
    ]
    persons_by_assignment: dict[int, set[str]] = {}
    for assigned_input, text in zip(assigned, texts, strict=True):
        persons = set()
        for person, instruction in assigned_input.instructions.items():
            names = [re.escape(name) for name in (instruction.first_name, instruction.last_name) if name]
            # in any case: a name that stood in lower case is written so
            if names and re.search(rf"(?<!\w)(?:{'|'.join(names)})(?!\w)", text, re.IGNORECASE):
                persons.add(person)
        persons_by_assignment[assigned_input.assignment_id] = (
            persons_by_assignment.get(assigned_input.assignment_id, persons) & persons
        )
    cut_inputs = []
    for assigned_input in assigned:
        named_persons = persons_by_assignment[assigned_input.assignment_id]
        instructions = {
            person: instruction if person in named_persons else instruction.model_copy(update={"category": None})
            for person, instruction in assigned_input.instructions.items()
        }
        cut_inputs.append(replace(assigned_input, instructions=instructions))
    return list(zip(cut_inputs, texts, strict=True))


def _input(document: AnnotatedDocument, design: str, assigned: AssignedInput, text: str) -> BiasInput:
    place = f"{document.doc_id}/{design}/{assigned.assignment_id}-{assigned.pair_id}"
    return BiasInput.model_validate({
        "id": f"{place}-{digest(text, 6)}",
        "original_id": document.doc_id,
        "design": design,
        "assignment_id": assigned.assignment_id,
        "pair_id": assigned.pair_id,
        "group": assigned.group,
        "text": text,
        "entities": assigned.instructions,
    })  # fmt: skip
