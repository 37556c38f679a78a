"""The points of each article: its key points, their contraries, and the key points of the topic's other side."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from ...corpora.annotated import AnnotatedArticle
from ...prompts import PromptTemplate, load_template
from ...records import LeftOut, Message, Record, Text
from ...text import fold, words
from .writing import Task, Written

PROMPTS = Path(__file__).parent / "prompts"
KEY_POINTS, ADVERSARIAL, SUMMARIES = "key-points", "adversarial", "summaries"
# where points are put together, which asks no model
POINTS = "points"
NO_OPPOSITE = "no opposite points: write an article of the topic's other side, or 'opposite'"
# step -> its template, and the words that its sentences begin with
TEMPLATES = {KEY_POINTS: "key-point", ADVERSARIAL: "adversarial", SUMMARIES: "summary"}
OPENINGS = {KEY_POINTS: "The article argues", ADVERSARIAL: "The article", SUMMARIES: "The article"}


class ArticlePoints(Record):
    """The points that an article's summaries are made of: a line of `points.jsonl`."""

    article_id: Text
    topic: str
    side: str | None
    key_points: tuple[Text, ...]
    opposite: tuple[Text, ...]
    adversarial: tuple[Text, ...]


def side_of(article: AnnotatedArticle) -> str:
    """The article's side, "all" when it has none."""
    return article.side or "all"


def template(step: str) -> PromptTemplate:
    """The prompt of a step."""
    return load_template(TEMPLATES[step], PROMPTS)


def make_task(step: str, article: AnnotatedArticle, task_id: str, may_copy: bool = False, **fields: str) -> Task:
    """The task of writing one sentence of a step, whose template is filled with the fields."""
    text = template(step).fill(texts=fields)
    return Task(
        id=task_id,
        article_id=article.id,
        side=side_of(article),
        prompt=(Message(role="user", content=text),),
        opening=OPENINGS[step],
        may_copy=may_copy,
    )


def key_point_tasks(articles: Sequence[AnnotatedArticle]) -> list[Task]:
    """A task for each excerpt of the articles whose key points are not given; those of one passage stand together."""
    return [
        make_task(
            KEY_POINTS,
            article,
            f"{article.id}#{place}",
            topic=fold(article.topic),
            passage=article.passages[excerpt.passage],
            excerpt=excerpt.text,
        )
        for article in articles
        if not article.key_points
        for place, excerpt in enumerate(article.excerpts)
    ]


def key_points(articles: Sequence[AnnotatedArticle], written: Sequence[Written]) -> dict[str, tuple[str, ...]]:
    """The key points of each article, given or written; fewer than `n_key_points` where some could not be written."""
    texts = by_article(written)
    return {article.id: article.key_points or texts[article.id] for article in articles}


def by_article(written: Sequence[Written]) -> defaultdict[str, tuple[str, ...]]:
    """The texts of each article, in order, those that could not be written left out."""
    texts: defaultdict[str, tuple[str, ...]] = defaultdict(tuple)
    for sentence in written:
        if sentence.text is not None:
            texts[sentence.article_id] += (sentence.text,)
    return texts


def split_complete(
    articles: Sequence[AnnotatedArticle], points: Mapping[str, Sequence[str]]
) -> tuple[list[AnnotatedArticle], tuple[LeftOut, ...]]:
    """The articles all of whose key points are known, and the others by reason.

    Coverage is a share of all key points, so an article that lacks one has no ground truth.
    """
    complete, reasons = [], Counter[tuple[str, str]]()
    for article in articles:
        if not article.n_key_points:
            reasons[side_of(article), "no excerpt and no key point"] += 1
        elif len(points[article.id]) < article.n_key_points:
            reasons[side_of(article), "a key point could not be written"] += 1
        else:
            complete.append(article)
    return complete, counted(KEY_POINTS, "article", reasons)


def adversarial_tasks(articles: Sequence[AnnotatedArticle], points: Mapping[str, Sequence[str]]) -> list[Task]:
    """A task for each key point of the articles whose adversarial points are not given."""
    return [
        make_task(ADVERSARIAL, article, f"{article.id}#{place}", statement=fold(point))
        for article in articles
        if article.adversarial is None
        for place, point in enumerate(points[article.id])
    ]


def article_points(
    article: AnnotatedArticle,
    articles: Sequence[AnnotatedArticle],
    points: Mapping[str, tuple[str, ...]],
    adversarial: Mapping[str, tuple[str, ...]],
) -> tuple[ArticlePoints, Counter[tuple[str, str]]]:
    """All points of an article, and by kind and side how many are left out because their words are those of another one.

    A point that stands twice, or on both sides, would make a summary of one point count as one of two, or a faithful one as
    unfaithful.

    Args:
        article: one whose key points are complete.
        articles: all articles; opposite points come from those of the same topic, also from incomplete ones.
        points: the key points of every article.
        adversarial: the adversarial points that were written, by article.
    """
    opposite = article.opposite
    if opposite is None:
        opposite = tuple(
            point for opposing_article in article.others(articles) for point in points[opposing_article.id]
        )
    turned = adversarial[article.id] if article.adversarial is None else article.adversarial
    own_points = distinct(points[article.id])
    opposites, contraries = (distinct(texts, own_points) for texts in (opposite, turned))
    side = side_of(article)
    left_out = Counter(
        {
            ("key point", side): len(points[article.id]) - len(own_points),
            ("opposite point", side): len(opposite) - len(opposites),
            ("adversarial point", side): len(turned) - len(contraries),
        }
    )
    result = ArticlePoints(
        article_id=article.id,
        topic=article.topic,
        side=article.side,
        key_points=own_points,
        opposite=opposites,
        adversarial=contraries,
    )
    return result, left_out


def distinct(points: Sequence[str], excluded: Collection[str] = ()) -> tuple[str, ...]:
    """The points, in order, without those whose words are those of an earlier one or of one that is excluded."""
    seen = {tuple(words(text)) for text in excluded}
    distinct_points = []
    for point in points:
        if (key := tuple(words(point))) not in seen:
            distinct_points.append(point)
            seen.add(key)
    return tuple(distinct_points)


def repeated(counts: Sequence[Counter[tuple[str, str]]]) -> tuple[LeftOut, ...]:
    """The points of all articles that were left out because they repeat another one."""
    total = sum(counts, Counter[tuple[str, str]]())
    return LeftOut.rows(("what", "side"), total, stage=POINTS, reason="repeats another point")


def left_without_opposite(points: Sequence[ArticlePoints]) -> tuple[LeftOut, ...]:
    """The articles that have no opposite points, so that no summary of theirs has any."""
    sides = Counter((article.side or "all", NO_OPPOSITE) for article in points if not article.opposite)
    return counted(POINTS, "summaries with opposite points, of an article", sides)


def unwritten(step: str, label: str, written: Sequence[Written]) -> tuple[LeftOut, ...]:
    """The texts that no attempt gave, by side and by what was wrong with the last attempt."""
    return counted(
        step, label, Counter((sentence.side, sentence.issues[-1]) for sentence in written if sentence.text is None)
    )


def counted(step: str, label: str, reasons: Counter[tuple[str, str]]) -> tuple[LeftOut, ...]:
    """Counts by side and reason as records, in their order."""
    return LeftOut.rows(("side", "reason"), reasons, stage=step, what=label)


def without_opposite(articles: Sequence[AnnotatedArticle]) -> dict[str, int]:
    """Side -> articles that have key points but no opposite ones, so that no summary of theirs has any."""
    return dict(
        Counter(side_of(article) for article in articles if article.n_key_points and not _n_opposite(article, articles))
    )


def _n_opposite(article: AnnotatedArticle, articles: Sequence[AnnotatedArticle]) -> int:
    if article.opposite is not None:
        return len(article.opposite)
    return sum(opposing_article.n_key_points for opposing_article in article.others(articles))
