"""Which articles are of one topic, whatever their topics are called."""

from collections.abc import Sequence

from ...storage import digest
from ...text import fold
from ..splits import joined
from .annotated import AnnotatedArticle
from .reader import ControlledSet


def topics_of(articles: Sequence[AnnotatedArticle | ControlledSet]) -> list[str]:
    """For each article, the name of its topic, in the spelling of the first article that is of it.

    Articles are of one topic where they have one title, white space and case aside, or a passage in common, directly or by way of
    others. An article without a title that shares no passage is a topic of its own, named by its id.
    """
    marks = [
        sorted({*article.marks, *(digest({"passage": fold(text).casefold()}) for text in article.passages)})
        for article in articles
    ]
    names: dict[str, str] = {}
    return [
        names.setdefault(root, article.topic or article.id)
        for root, article in zip(joined(marks), articles, strict=True)
    ]
