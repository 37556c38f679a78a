"""A judge as a reward function of TRL: `GRPOTrainer(reward_funcs=[as_reward({"faithful": {...}})], ...)`.

The data set has a column `documents` beside `prompt`. Several judges are several functions:
`GRPOConfig.reward_weights` weighs them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...errors import RecipeError
from .opened import OpenJudge

Reward = Callable[..., list[float | None]]


def as_reward(judge: Mapping[str, Any], *, documents: str = "documents", attribute: str | None = None) -> Reward:
    """A function that TRL calls for the reward of each completion: None, which TRL leaves out, where there is no score.

    A judge of which lower scores are better is rewarded by minus its score.

    Args:
        judge: {name: keys of a recipe's section, or a function}, of one judge; TRL's logs have its name.
        documents: the data set's column with the documents of each prompt: a text, texts, dicts with "text" and
            "attributes", or a document set.
        attribute: what documents are grouped by, where they have several attributes.

    Raises:
        RecipeError: the keys are wrong, or the judge does not say which scores are better.
    """
    opened = OpenJudge(judge, attribute)
    if opened.section.better is None:
        raise RecipeError(f"judge {opened.name!r} does not say which scores are better, so it is no reward")
    sign = 1.0 if opened.section.better == "higher" else -1.0

    def reward(completions: Sequence[Any], **columns: Any) -> list[float | None]:
        if documents not in columns:
            raise RecipeError(
                f"the data set has no column {documents!r}; as_reward(..., documents=COLUMN) names the one"
            )
        judgements = opened.judge(list(map(_text, completions)), columns[documents])
        return [None if judgement.score is None else sign * judgement.score for judgement in judgements]

    reward.__name__ = opened.name
    return reward


def _text(completion: Any) -> str:
    """A completion as it is, or the last turn of a chat."""
    return completion if isinstance(completion, str) else str(completion[-1]["content"])
