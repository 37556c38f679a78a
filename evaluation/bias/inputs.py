"""The inputs of a study: each document with other names and genders, in two designs.

Balanced inputs (C_loc in the paper) mix persons of all categories and come in pairs with the categories exchanged; word lists,
inclusion and hallucination are measured on them. Uniform inputs (C_glob) have persons of one category only; distinguishability is
measured on them.
Source: specification of demographic bias, sections 8.5, 8.6 and 9.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from ...config import BiasRecipe
from ...corpora.annotated import read_news
from ...errors import DataError, StorageError
from ...fairness.demographic.inputs import (
    AnnotatedDocument,
    AssignedInput,
    FillOptions,
    Instruction,
    NameInventory,
    Setting,
    TemplateEntity,
    balanced_inputs,
    build_template,
    common_inventory,
    fill_template,
    gender_setting,
    race_setting,
    read_inventory,
    read_vocabulary,
    uniform_inputs,
)
from ...records import Record, Text
from ...storage import digest, read_json, read_text

Design = Literal["balanced", "uniform"]
DESIGNS = {"balanced": balanced_inputs, "uniform": uniform_inputs}
COMMON = "common"
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


class LeftOut(Record):
    """Things that were left out for one reason."""

    stage: str
    what: str
    reason: str
    count: int


@dataclass(frozen=True)
class Inputs:
    """All inputs of a study."""

    setting: Setting
    documents: tuple[AnnotatedDocument, ...]
    inputs: tuple[BiasInput, ...]
    left_out: tuple[LeftOut, ...]
    # mentions inside others, which filling skipped
    n_overlaps: int


def make_inputs(recipe: BiasRecipe) -> Inputs:
    """The inputs that the recipe describes; a document that cannot have all of them is left out and counted.

    Raises:
        DataError: documents or name lists cannot be read or are wrong; all mistakes are listed.
    """
    documents, inventory, setting = read_documents(recipe), read_names(recipe), make_setting(recipe)
    made: list[BiasInput] = []
    dropped: Counter[str] = Counter()
    overlaps = 0
    for document in documents:
        template = build_template(document, allow_unresolved=recipe.inputs.allow_unresolved)
        drawn = {design: _drawn(recipe, document, template, design, inventory) for design in DESIGNS}
        if reason := next((why for _, why in drawn.values() if why), None):
            dropped[reason] += 1
            continue
        for design, (assigned, _) in drawn.items():
            for each in assigned:
                filled = fill_template(document, template, each.instructions, _options(recipe))
                overlaps += filled.n_overlaps
                made.append(_input(recipe, document, design, each, filled.text))
    left_out = tuple(LeftOut(stage="inputs", what="document", reason=r, count=n) for r, n in sorted(dropped.items()))
    if not made:
        why = "; ".join(f"{row.count}: {row.reason}" for row in left_out)
        raise DataError(f"no input can be made of the {len(documents)} documents of {recipe.input}: {why}")
    return Inputs(setting, tuple(documents), tuple(made), left_out, overlaps)


def count_by_design(inputs: Inputs) -> dict[str, int]:
    """Number of inputs, and so of summaries to be made, by design."""
    return dict(Counter(each.design for each in inputs.inputs))


def read_documents(recipe: BiasRecipe) -> list[AnnotatedDocument]:
    """The annotated documents that the recipe names.

    Raises:
        DataError: the file cannot be read, or documents are wrong; all mistakes are listed.
    """
    try:
        return read_news(recipe.input, allow_unresolved=recipe.inputs.allow_unresolved)
    except StorageError as error:
        raise DataError(f"key 'input': {error}") from error


def make_setting(recipe: BiasRecipe) -> Setting:
    """What varies between the inputs."""
    section = recipe.inputs
    if section.setting == "gender":
        return gender_setting(section.replace_last_names)
    return race_setting(**{category: tuple(genders) for category, genders in (section.genders or {}).items()})


def read_names(recipe: BiasRecipe) -> NameInventory:
    """The name lists: those of the recipe's file, and for setting gender the census where the file has no first names.

    Raises:
        DataError: the file cannot be read, or a list that the setting draws from is missing; all such are named.
    """
    given = _read_file(recipe.inputs.names) if recipe.inputs.names else NameInventory({})
    if recipe.inputs.setting == "gender":
        census = common_inventory()
        given = NameInventory({**census.first, **{s: g for s, g in given.first.items() if g}}, given.last)
    setting = make_setting(recipe)
    lacking = [
        *(f"{s}.{g}" for s, g in _needed(setting) if not given.first.get(s, {}).get(g)),
        *(f"{s}.last" for s in _sources(setting) if setting.replace_last_names and not given.last.get(s)),
    ]
    if lacking:
        raise DataError(f"{recipe.inputs.names}: name lists {', '.join(dict.fromkeys(lacking))} are missing; add them")
    return given


def _needed(setting: Setting) -> Iterator[tuple[str, Literal["male", "female"]]]:
    for category in setting.categories:
        for source in setting.sources[category]:
            yield from ((source, gender) for gender in setting.genders[category])


def _sources(setting: Setting) -> list[str]:
    return list(dict.fromkeys(source for category in setting.categories for source in setting.sources[category]))


def _read_file(path: Path) -> NameInventory:
    try:
        return read_vocabulary(read_text(path)) if path.suffix.casefold() == ".csv" else _read_lists(path)
    except StorageError as error:
        raise DataError(f"key 'inputs.names': {error}") from error
    except DataError as error:
        raise DataError(f"{path}: {error}") from error


def _read_lists(path: Path) -> NameInventory:
    lists = read_json(path)
    is_lists = isinstance(lists, dict) and all(
        isinstance(by_kind, dict)
        and all(
            isinstance(names, list) and all(isinstance(n, str) and n.strip() for n in names)
            for names in by_kind.values()
        )
        for by_kind in lists.values()
    )
    if not is_lists:
        raise DataError(
            'holds no name lists; write {"black": {"female": ["...", ...], "male": [...], "last": [...]}, ...}'
        )
    return read_inventory(lists)


def _drawn(
    recipe: BiasRecipe,
    document: AnnotatedDocument,
    template: Sequence[TemplateEntity],
    design: str,
    inventory: NameInventory,
) -> tuple[tuple[AssignedInput, ...], str | None]:
    seed = int(digest([recipe.name, recipe.seed, design, document.doc_id]), 16)
    found = DESIGNS[design](
        template, make_setting(recipe), inventory, np.random.default_rng(seed), recipe.inputs.assignments
    )
    return found.inputs, found.dropped


def _options(recipe: BiasRecipe) -> FillOptions:
    return FillOptions(rewrite_content_words=recipe.inputs.content_words, title_female=recipe.inputs.title_female)


def _input(
    recipe: BiasRecipe, document: AnnotatedDocument, design: str, assigned: AssignedInput, text: str
) -> BiasInput:
    text = _cut(text, recipe.inputs.most_words)
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


def _cut(text: str, most_words: int | None) -> str:
    """The text up to the end of its last word that is given."""
    ends = [found.end() for found in WORD.finditer(text)]
    return text if most_words is None or len(ends) <= most_words else text[: ends[most_words - 1]]
