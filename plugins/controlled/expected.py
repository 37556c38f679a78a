"""What a recipe asks a model for, known before any text is written: those that later prompts quote are stood in for.

A stand-in is as long as a text may be, so what a server reads of it is an upper bound.
"""

from collections.abc import Mapping, Sequence
from itertools import chain

from ...corpora.annotated import AnnotatedArticle
from ...generate.backend import Ask
from . import points as steps
from .points import ADVERSARIAL, KEY_POINTS, SUMMARIES
from .recipe import ControlledRecipe
from .summaries import plan_article, summary_tasks
from .writing import Task, Written, asks_of

# what stand-ins are made of: a token of nearly every tokenizer
WORD = "the"


def expected_tasks(recipe: ControlledRecipe, articles: Sequence[AnnotatedArticle]) -> dict[str, list[Task]]:
    """The tasks of each step when every text can be written and none repeats another."""
    first = steps.key_point_tasks(articles)
    key_points = steps.key_points(articles, _stand_ins(recipe, first))
    complete, _ = steps.split_complete(articles, key_points)
    second = steps.adversarial_tasks(complete, key_points)
    adversarial = steps.by_article(_stand_ins(recipe, second))
    points = [steps.article_points(article, articles, key_points, adversarial)[0] for article in complete]
    plan = [planned for article_points in points for planned in plan_article(recipe, article_points)]
    third = summary_tasks({article.id: article for article in complete}, plan)
    return {KEY_POINTS: first, ADVERSARIAL: second, SUMMARIES: third}


def expected_asks(recipe: ControlledRecipe, tasks: Mapping[str, Sequence[Task]]) -> list[Ask]:
    """The request to a model for each of these tasks, once."""
    return asks_of(recipe, [*chain.from_iterable(tasks.values())], attempt=1)


def _stand_ins(recipe: ControlledRecipe, tasks: Sequence[Task]) -> list[Written]:
    return [
        Written(
            id=task.id,
            article_id=task.article_id,
            side=task.side,
            # the id keeps each apart from the others
            text=f"{task.opening} {task.id} {' '.join([WORD] * recipe.sampling.max_tokens)}",
            issues=(),
            raw="",
            seed=0,
            attempts=0,
            model="",
            n_prompt_tokens=0,
        )
        for task in tasks
    ]
