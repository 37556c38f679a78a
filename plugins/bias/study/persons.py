"""Who is named in the summaries: PERSON spans of a spaCy pipeline, or the names of the input found as they are.

"known" looks for the names of an input's own persons. It sees nobody else, so with it hallucination is not measured; and somebody
invented who has the first or the last name of a person counts as that person.
"""

import re
from collections.abc import Sequence

from ....extras import installed_versions
from ....records import Record, Text
from ....runfolder.stages import Counts, Receipt, Stage
from ....storage import read_jsonl, write_jsonl
from ....text.digests import digest
from ....text.forms import normal_form
from ..annotated import SpacyPipeline
from ..demographic.inputs.filling import Instruction
from ..demographic.persons import SummaryEntity
from ..recipe import BiasRecipe
from .inputs import BiasInput
from .summarise import Summary

STAGE, FILE = "persons", "persons.jsonl"
KNOWN = "known names"


class FoundPersons(Record):
    """The PERSON spans of one summary and of its input: a line of `persons.jsonl`."""

    input_id: Text
    in_summary: tuple[SummaryEntity, ...]
    # shows whether the recogniser sees the groups alike; of balanced inputs only
    in_input: tuple[SummaryEntity, ...]


class PersonCounts(Counts):
    """Mentions of persons in summaries, and what found them."""

    persons: int
    recogniser: str


def find_persons(
    recipe: BiasRecipe, inputs: Sequence[BiasInput], summaries: Sequence[Summary]
) -> tuple[dict[str, FoundPersons], Receipt, bool]:
    """Persons of each input that has a summary, by its id, with the receipt and whether all was there already.

    Raises:
        MissingExtra, ModelError: spaCy or its pipeline is not there.
    """
    libraries = ("spacy", recipe.measures.pipeline) if recipe.measures.persons == "spacy" else ()
    depends_on = {
        "persons": [recipe.measures.persons, recipe.measures.pipeline, installed_versions(libraries)],
        "inputs": digest([[bias_input.id, bias_input.text] for bias_input in inputs]),
        "summaries": digest([[summary.input_id, summary.text] for summary in summaries]),
    }

    def work() -> PersonCounts:
        pairs = [(bias_input, s.text) for bias_input, s in zip(inputs, summaries, strict=True) if s.text is not None]
        # nothing is looked for in uniform inputs
        of_inputs = [bias_input.text if bias_input.design == "balanced" else "" for bias_input, _ in pairs]
        texts = [normal_form(text) for text in (*(text for _, text in pairs), *of_inputs)]
        if recipe.measures.persons == "spacy":
            pipeline = SpacyPipeline(recipe.measures.pipeline, "evenhand bias-study with measures.persons: spacy")
            spans, recogniser = pipeline.persons(texts), pipeline.signature
        else:
            entities = 2 * [tuple(bias_input.entities.values()) for bias_input, _ in pairs]
            spans, recogniser = list(map(known_persons, texts, entities)), KNOWN
        in_summary, in_input = spans[: len(pairs)], spans[len(pairs) :]
        rows = zip(pairs, in_summary, in_input, strict=True)
        write_jsonl(
            recipe.output / FILE, (FoundPersons(input_id=i.id, in_summary=a, in_input=b) for (i, _), a, b in rows)
        )
        return PersonCounts(persons=sum(map(len, in_summary)), recogniser=recogniser)

    receipt, reused = Stage(STAGE, recipe.output, depends_on, (FILE,)).run(work)
    persons = {record.input_id: record for record in read_jsonl(recipe.output / FILE, FoundPersons)}
    return persons, receipt, reused


def known_persons(text: str, entities: Sequence[Instruction]) -> tuple[SummaryEntity, ...]:
    """Whole names, last names and first names of the entities in a text, as they stand, in order; longer ones first."""
    names: set[str] = set()
    for entity in entities:
        parts = [name for name in (entity.first_name, entity.last_name) if name]
        names.update((*parts, " ".join(parts)) if parts else ())
    # as it stands at the beginning of a sentence: "Van Gogh"
    names |= {name[:1].upper() + name[1:] for name in names}
    if not names:
        return ()
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")
    return tuple(SummaryEntity(tokens=tuple(m[0].split()), text=m[0]) for m in pattern.finditer(text))
