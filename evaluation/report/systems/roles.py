"""What each judge of a run is used for, and whether the report's judges are independent of those that rounds train on.

A policy trained on a judge learns that judge's habits with its taste: its score rises whether or not the summaries
became better. Only a judge that was no reward, and made no preference pairs, says whether they did.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import permutations
from typing import Literal

import numpy as np

from ....config import Recipe
from ....judges.independence import Pair, is_same, judges_trained_on
from .contents import Difference, JudgeNote
from .questions import Half
from .systems import PolicyOutput

Role = Literal["report", "reward", "both"]
# with fewer candidates two judges may be equal by chance
LEAST_EQUAL = 20


def equal_judges(outputs: Sequence[PolicyOutput], names: Sequence[str]) -> set[Pair]:
    """Pairs of judges, either way round, that gave every candidate the same score, and not all of them one."""
    columns = {
        name: np.concatenate([output.column(name)[output.ranked.is_candidate] for output in outputs]) for name in names
    }
    varied = [
        name
        for name, scores in columns.items()
        if len(scores) >= LEAST_EQUAL and len(np.unique(scores[~np.isnan(scores)])) > 1
    ]
    return {(first, second) for first, second in permutations(varied, 2)
            if np.array_equal(columns[first], columns[second], equal_nan=True)}  # fmt: skip


def judge_notes(recipe: Recipe, signatures: Mapping[str, str], equal: Collection[Pair] = ()) -> list[JudgeNote]:
    """The judges of the evaluation with their role; independent ones first, those of the reward last.

    Args:
        recipe: of the run.
        signatures: of the judges that have any.
        equal: pairs of judges that gave equal scores.
    """
    order = {"report": 0, "both": 1, "reward": 2}
    # a judge of the pairs alone scores no evaluation
    names = dict.fromkeys(recipe.evaluation.judges + recipe.reward.judges)
    trained_on = judges_trained_on(recipe)
    notes: list[JudgeNote] = []
    for name in names:
        is_trained = any(name == judge or is_same(recipe, signatures, name, judge, equal) for judge in trained_on)
        role: Role = "reward" if name not in recipe.evaluation.judges else "both" if is_trained else "report"
        signature = signatures.get(name, "no judgement")
        options = recipe.judges[name]
        notes.append(
            JudgeNote(
                name=name,
                signature=signature,
                role=role,
                better=options.better,
                is_rate=options.is_rate,
                scale=options.scale,
                same_as=next(
                    (first.name for first in notes if is_same(recipe, signatures, first.name, name, equal)), None
                ),
            )
        )
    return sorted(notes, key=lambda note: order[note.role])


def deciding(judges: Sequence[JudgeNote]) -> list[JudgeNote]:
    """The judges that a headline goes by: those that say what is better and were no reward; the others where there are none.

    Of several that are one judge by their scores the first.
    """
    directed = [judge for judge in judges if judge.better and judge.role != "reward" and judge.same_as is None]
    return [judge for judge in directed if judge.role == "report"] or directed


def half_of(judges: Sequence[JudgeNote], test: Difference, *, is_headline: bool, is_by_design: bool) -> Half:
    """In which half of the level a page tests a difference, see `questions`.

    Args:
        judges: of the page.
        test: the difference.
        is_headline: whether its systems are those of the headline, which is over all sides by the judges that decide.
        is_by_design: whether reranking makes some of it.
    """
    if is_headline and test.side is None and test.measure in {judge.name for judge in deciding(judges)}:
        return "headline"
    roles = {judge.name: judge.role for judge in judges}
    is_independent = roles.get(test.of_judge or test.measure) == "report"
    return "others" if is_independent and not is_by_design else "by design"
