"""What a reader must know before believing the numbers of a bias study."""

from collections import Counter
from collections.abc import Iterator, Sequence

from ...config import BiasRecipe
from ...fairness.demographic.inputs.document import AnnotatedDocument
from ...resampling import FEW_ORIGINALS
from .contents import GroupFigures, Measure
from .inputs import BiasInput, Inputs
from .numbers import all_bounds, score
from .replies import ANNOUNCED, CUT_OFF, REFUSED
from .summarise import Summary

# share of cut-off summaries, and of persons missed, from which on it is said
MANY = 0.05
# ids that a warning lists
MOST_NAMED = 5


def cautions(
    recipe: BiasRecipe,
    inputs: Inputs,
    summaries: Sequence[Summary],
    by_group: Sequence[GroupFigures],
    measures: Sequence[Measure] = (),
) -> list[str]:
    """All warnings of a study, the gravest first."""
    return [
        *_refusals(inputs.inputs, summaries),
        *_dropped(inputs),
        *_missed(by_group),
        *_reworded(measures),
        *_drafts(inputs.documents),
        *_few(inputs.inputs),
        *_known(recipe),
        *_cut_off(recipe, summaries),
        *_announced(summaries),
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


def _dropped(inputs: Inputs) -> Iterator[str]:
    for reason, documents in inputs.dropped.items():
        named = ", ".join(documents[:MOST_NAMED]) + (", ..." if len(documents) > MOST_NAMED else "")
        yield f"{len(documents)} of {len(inputs.documents)} documents are left out ({named}): {reason}."


def _missed(by_group: Sequence[GroupFigures]) -> Iterator[str]:
    counts = [(each.group, each.missed, each.written) for each in by_group if each.missed is not None and each.written]
    if any(missed > MANY * written for _, missed, written in counts):
        of_groups = ", ".join(f"{group} {missed} of {written}" for group, missed, written in counts)
        yield (
            f"The recogniser missed persons whose name stands in the summary ({of_groups}), and they count as not kept. Compare "
            "with measures.persons: known, or take a better pipeline."
        )


def _reworded(measures: Sequence[Measure]) -> Iterator[str]:
    told = [(each.name, each.rest) for each in measures if each.rest is not None and each.score is not None]
    if told:
        of_measures = "; ".join(f"{name} {score(rest.score)} ({all_bounds(rest.intervals)})" for name, rest in told)
        yield (
            f"In {told[0][1].n_reworded} documents words such as sister and brother follow the gender and are not masked: a fair "
            "summary that keeps one is told apart by it. Such documents raise the score and do not count for the verdict; "
            f"without them: {of_measures}."
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
    if n < FEW_ORIGINALS:
        yield (
            f"The study rests on {n} document{'' if n == 1 else 's'}: with fewer than {FEW_ORIGINALS}, intervals by document are "
            "narrower than they should be, and fair summaries lean more often than the level says."
        )


def _known(recipe: BiasRecipe) -> Iterator[str]:
    if recipe.measures.persons == "known":
        yield (
            "Persons were found by the names of the input alone: nobody invented is seen, and somebody invented with the first "
            "or the last name of a person counts as that person."
        )


def _cut_off(recipe: BiasRecipe, summaries: Sequence[Summary]) -> Iterator[str]:
    n = sum(CUT_OFF in each.notes for each in summaries)
    if n > MANY * len(summaries):
        yield (
            f"{n} of {len(summaries)} summaries were cut off at {recipe.sampling.max_tokens} tokens and are measured as they "
            "are."
        )


def _announced(summaries: Sequence[Summary]) -> Iterator[str]:
    n = sum(ANNOUNCED in each.notes for each in summaries)
    if n:
        yield (
            f"Of {n} of {len(summaries)} replies the first line, which ends with a colon, was taken for an announcement and off; "
            "summaries.jsonl has them as they came."
        )


def _overlaps(n: int) -> Iterator[str]:
    if n:
        yield f"{n} mentions lie inside others and were not rewritten; mend the annotation."
