"""The summaries of each article: which points each is made of, its prompt, and the set that comes of them."""

from collections.abc import Mapping, Sequence

import numpy as np

from ...corpora.annotated import AnnotatedArticle
from ...corpora.controlled import ControlledSet, ControlledSummary
from ...records import Record, Text
from ...text import fold
from ...text.digests import digest
from .plan import plan_summaries
from .points import SUMMARIES, ArticlePoints, make_task
from .recipe import ControlledRecipe
from .writing import Task, Written


class PlannedText(Record):
    """A summary to be written, and the points that it is made of: a line of `plan.jsonl`."""

    id: Text
    article_id: Text
    side: str | None
    # places in the article's lists of points
    relevant: tuple[int, ...]
    opposite: tuple[int, ...]
    adversarial: tuple[int, ...]
    # the points themselves, in the order in which the prompt lists them
    points: tuple[Text, ...]

    def kind(self, n_key_points: int) -> str:
        """What the summary is in the plan of its article: an anchor, a part of the key points, or a mixture."""
        if self.adversarial or not self.relevant:
            return "adversarial only" if self.adversarial else "opposite only"
        if self.opposite:
            return "mixture"
        return "all key points" if len(self.relevant) == n_key_points else "some key points"


def plan_article(recipe: ControlledRecipe, points: ArticlePoints) -> list[PlannedText]:
    """The planned summaries of an article.

    Draws come from a generator of the article's own, so that other articles of the file do not change them. Points are listed
    in random order: otherwise what is unfaithful would always stand last.
    """
    generator = np.random.default_rng(int(digest([recipe.name, recipe.seed, points.article_id]), 16))
    planned = plan_summaries(len(points.key_points), len(points.opposite), len(points.adversarial), generator)
    plan = []
    for place, planned_summary in enumerate(planned):
        texts = [points.key_points[i] for i in planned_summary.relevant]
        texts += [points.opposite[i] for i in planned_summary.opposite]
        texts += [points.adversarial[i] for i in planned_summary.adversarial]
        plan.append(
            PlannedText(
                id=f"{points.article_id}#{place}",
                article_id=points.article_id,
                side=points.side,
                relevant=planned_summary.relevant,
                opposite=planned_summary.opposite,
                adversarial=planned_summary.adversarial,
                points=tuple(generator.permutation(np.array(texts, dtype=object)).tolist()),
            )
        )
    return plan


def summary_tasks(articles: Mapping[str, AnnotatedArticle], plan: Sequence[PlannedText]) -> list[Task]:
    """The task of each planned summary; one of a single point may be that point as it is."""
    return [
        make_task(
            SUMMARIES,
            articles[planned.article_id],
            planned.id,
            may_copy=len(planned.points) == 1,
            points="\n".join(f"- {fold(point)}" for point in planned.points),
        )
        for planned in plan
    ]


def controlled_set(
    article: AnnotatedArticle, points: ArticlePoints, plan: Sequence[PlannedText], written: Mapping[str, Written]
) -> ControlledSet | None:
    """The controlled set of an article, its summaries in the order of the plan; None when none was written.

    Args:
        article: what the summaries are of.
        points: its points.
        plan: its planned summaries.
        written: what came of each, by id.
    """
    summaries = tuple(
        ControlledSummary(
            text=text,
            relevant=len(planned.relevant),
            opposite=len(planned.opposite),
            adversarial=len(planned.adversarial),
        )
        for planned in plan
        if (text := written[planned.id].text) is not None
    )
    if not summaries:
        return None
    return ControlledSet(
        id=article.id,
        topic=article.topic,
        side=article.side,
        passages=article.passages,
        n_key_points=len(points.key_points),
        key_points=points.key_points,
        summaries=summaries,
    )
