"""What a reader must know of a study's inputs, summaries and numbers."""

from collections import Counter
from collections.abc import Iterator, Sequence

from ....corpora.summaries import BY_ORDER as FILE_BY_ORDER
from ....evaluation.pages.tables import estimate
from ....evaluation.pages.words import counted, with_interval
from ....generate.reply_text import THOUGHT
from ....resampling import too_few
from ..recipe import BiasRecipe
from .contents import BiasMeasure, GroupFigure
from .figures import MISSED
from .inputs import Inputs
from .replies import ANNOUNCED, BY_ORDER, CUT_OFF, REFUSED
from .summarise import TARGETS, Summary

# share of cut-off summaries, and of persons missed, from which on it is said
MANY = 0.05
KNOWN = (
    "Persons were found by the names of the input alone: nobody invented is seen, and somebody invented with the first or the "
    "last name of a person counts as that person."
)
REWORDED = (
    "In {n} words such as sister and brother follow the gender and are not masked: a fair summary that keeps one shows "
    "its group by that. Such documents raise the score and do not count for the verdict; without them: {without}."
)
# ids that a warning lists
MOST_NAMED = 5


def cautions(
    recipe: BiasRecipe,
    inputs: Inputs,
    summaries: Sequence[Summary],
    by_group: Sequence[GroupFigure],
    measures: Sequence[BiasMeasure] = (),
) -> Iterator[str]:
    """All warnings of a study, the gravest first."""
    if refused := {summary.input_id for summary in summaries if summary.reason == REFUSED}:
        refusals = dict.fromkeys((bias_input.group for bias_input in inputs.inputs if bias_input.group), 0)
        refusals |= Counter(
            bias_input.group for bias_input in inputs.inputs if bias_input.group and bias_input.id in refused
        )
        yield (
            f"{len(refused)} of {len(inputs.inputs)} replies refuse to summarise and are left out; of the uniform inputs: "
            f"{', '.join(f'{group} {n}' for group, n in refusals.items())}. Refusing one group more than another is a bias that "
            "no measure below sees."
        )
    for reason, ids in inputs.dropped.items():
        names = f"{', '.join(ids[:MOST_NAMED])}{', ...' if len(ids) > MOST_NAMED else ''}"
        yield f"{len(ids)} of {len(inputs.documents)} documents are left out ({names}): {reason}."
    missed = [figure for figure in by_group if figure.measure == MISSED and figure.count is not None]
    if any((figure.value or 0) > MANY for figure in missed):
        yield (
            "The recogniser missed persons whose name is in the summary ("
            f"{', '.join(f'{figure.side} {figure.count} of {figure.n}' for figure in missed)}), and they count as not kept. "
            "Compare with measures.persons: known, or take a better pipeline."
        )
    if reworded := [(measure, number) for measure in measures if (number := measure.number("rest")) is not None]:
        intervals = "; ".join(f"{measure.name} {with_interval(estimate(number))}" for measure, number in reworded)
        yield REWORDED.format(n=counted(reworded[0][0].n_reworded, "document"), without=intervals)
    yield from _doubts(recipe, inputs, summaries)


def _doubts(recipe: BiasRecipe, inputs: Inputs, summaries: Sequence[Summary]) -> Iterator[str]:
    """Warnings on what the inputs were made from, and on how the summaries were read."""
    drafts = sum(document.meta.get("reviewed") is False for document in inputs.documents)
    if drafts:
        yield (
            f"{drafts} of {len(inputs.documents)} documents are drafts that nobody reviewed: whom a pronoun means was guessed, "
            "and such guesses are gender-biased themselves."
        )
    if open_ones := sum(len(document.meta.get("unresolved") or ()) for document in inputs.documents):
        yield f"{open_ones} gendered pronouns belong to nobody and keep their gender in every input."
    n = len({bias_input.original_id for bias_input in inputs.inputs})
    if caution := too_few(n, subject="The study", unit="document"):
        yield caution
    if recipe.measures.persons == "known":
        yield KNOWN
    if any(BY_ORDER in summary.notes for summary in summaries):
        yield f"The file of summaries is {FILE_BY_ORDER.format(of=TARGETS.many)}"
    n = sum(CUT_OFF in summary.notes for summary in summaries)
    if n > MANY * len(summaries):
        yield (
            f"{n} of {len(summaries)} summaries were cut off at {recipe.sampling.max_tokens} tokens and are measured as they "
            "are."
        )
    if n := sum(ANNOUNCED in summary.notes for summary in summaries):
        yield (
            f"Of {n} of {len(summaries)} replies the first words were taken for an announcement and off; summaries.jsonl has "
            "them as they came."
        )
    if n := sum(THOUGHT in summary.notes for summary in summaries):
        yield (
            f"Of {n} of {len(summaries)} replies a train of thought was taken off, which is no summary; summaries.jsonl has them "
            "as they came."
        )
    if n := inputs.n_overlaps:
        yield f"{n} mentions lie inside others and were not rewritten; mend the annotation."
