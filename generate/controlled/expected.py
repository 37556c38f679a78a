"""How many texts a recipe asks a model for, known before any is written."""

from collections import Counter
from collections.abc import Sequence

from ...corpora.controlled import AnnotatedArticle, controlled_plan
from ...records import Record
from .points import ADVERSARIAL, KEY_POINTS, SUMMARIES, side_of


class PromptCount(Record):
    """Texts of one step and side; each is asked for once, and again as often as its form is broken and attempts allow."""

    step: str
    side: str
    texts: int


def expected_prompts(articles: Sequence[AnnotatedArticle]) -> list[PromptCount]:
    """The texts of each step and side when every text can be written and no point repeats another."""
    counts: Counter[tuple[str, str]] = Counter()
    for article in articles:
        n = article.n_key_points
        if not n:
            continue
        side = side_of(article)
        counts[KEY_POINTS, side] += 0 if article.key_points else n
        counts[ADVERSARIAL, side] += n if article.adversarial is None else 0
        n_adversarial = n if article.adversarial is None else len(article.adversarial)
        n_opposite = _n_opposite(article, articles)
        counts[SUMMARIES, side] += 1 + bool(n_adversarial) + bool(n_opposite) + len(controlled_plan(n, n_opposite))
    steps = (KEY_POINTS, ADVERSARIAL, SUMMARIES)
    sides = list(dict.fromkeys(side for _, side in counts))
    return [PromptCount(step=step, side=side, texts=counts[step, side]) for step in steps for side in sides]


def without_opposite(articles: Sequence[AnnotatedArticle]) -> dict[str, int]:
    """Side -> articles that have key points but no opposite ones, so that no summary of theirs has any."""
    return dict(Counter(side_of(each) for each in articles if each.n_key_points and not _n_opposite(each, articles)))


def _n_opposite(article: AnnotatedArticle, articles: Sequence[AnnotatedArticle]) -> int:
    if article.opposite is not None:
        return len(article.opposite)
    return sum(other.n_key_points for other in article.others(articles))
