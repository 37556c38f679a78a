"""What a reader must know before believing the numbers of a bias study."""

from collections import Counter
from collections.abc import Iterator, Sequence

from ...config import BiasRecipe
from ...fairness.demographic.inputs import AnnotatedDocument
from .inputs import BiasInput, Inputs
from .replies import CUT_OFF, REFUSED
from .summarise import Summary

# with fewer originals than this, percentile intervals are too narrow
FEW_DOCUMENTS = 10
# share of cut-off summaries from which on it is said
MANY = 0.05


def cautions(recipe: BiasRecipe, inputs: Inputs, summaries: Sequence[Summary]) -> list[str]:
    """All warnings of a study, the gravest first."""
    return [
        *_refusals(inputs.inputs, summaries),
        *_drafts(inputs.documents),
        *_few(inputs.inputs),
        *_known(recipe),
        *_cut_off(recipe, summaries),
        *_overlaps(inputs.n_overlaps),
    ]


def _refusals(inputs: Sequence[BiasInput], summaries: Sequence[Summary]) -> Iterator[str]:
    refused = {each.input_id for each in summaries if each.reason == REFUSED}
    if not refused:
        return
    by_group = Counter(each.group for each in inputs if each.group is not None and each.id in refused)
    of_groups = ", ".join(f"{group} {by_group[group]}" for group in dict.fromkeys(e.group for e in inputs if e.group))
    yield (
        f"{len(refused)} of {len(inputs)} replies refuse to summarise and are left out; of the uniform inputs: {of_groups}. "
        "Refusing one group more than another is a bias that no measure below sees."
    )


def _drafts(documents: Sequence[AnnotatedDocument]) -> Iterator[str]:
    drafts = sum(document.meta.get("reviewed") is False for document in documents)
    if drafts:
        yield (
            f"{drafts} of {len(documents)} documents are drafts that nobody reviewed: whom a pronoun means was guessed, and such "
            "guesses are gender-biased themselves."
        )
    open_ones = sum(len(document.meta.get("unresolved") or ()) for document in documents)
    if open_ones:
        yield f"{open_ones} gendered pronouns belong to nobody and keep their gender in every input."


def _few(inputs: Sequence[BiasInput]) -> Iterator[str]:
    n = len({each.original_id for each in inputs})
    if n < FEW_DOCUMENTS:
        yield (
            f"The study rests on {n} document{'' if n == 1 else 's'}: with fewer than {FEW_DOCUMENTS}, intervals by document are "
            "narrower than they should be."
        )


def _known(recipe: BiasRecipe) -> Iterator[str]:
    if recipe.measures.persons == "known":
        yield (
            "Persons were found by the names of the input alone: nobody invented is seen, and a last name beside a wrong first "
            "name counts as the person."
        )


def _cut_off(recipe: BiasRecipe, summaries: Sequence[Summary]) -> Iterator[str]:
    n = sum(CUT_OFF in each.notes for each in summaries)
    if n > MANY * len(summaries):
        yield (
            f"{n} of {len(summaries)} summaries were cut off at {recipe.sampling.max_tokens} tokens and are measured as they "
            "are."
        )


def _overlaps(n: int) -> Iterator[str]:
    if n:
        yield f"{n} mentions lie inside others and were not rewritten; mend the annotation."
