"""Annotated articles: what controlled sets are built from.

People marked in each passage the span that carries its argument (an excerpt). A key point says in one sentence what an excerpt
argues; where key points are not given, a model writes them. Articles of one topic belong together: the key points of one side
are the opposite points of the other. Source: Ri et al. 2025, section 3.1; docs/papers.md#ri-data.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, NonNegativeInt, ValidationError, model_validator

from ..records import Record, Text
from ..storage import local_path, read_text
from ..text import copy_key, fold
from ..text.digests import digest
from ..text.mistakes import explain
from .entries import read_lines, read_list, refuse_entries

# what stands for the annotated part of the bundled sample corpus
SAMPLE = "sample"
BUNDLED = Path(__file__).parent / "sample" / "annotated.jsonl"


def topic_marks(passages: Sequence[str], topic: str) -> list[str]:
    """What articles of one topic share one of: a passage, the whole source or the title, as copies have them (`copy_key`)."""
    texts = [f"passage {copy_key(text)}" for text in (*passages, "\n".join(passages))]
    return texts + [f"title {copy_key(topic)}"] * bool(topic)


def article_marks(passages: Sequence[str], topic: str) -> frozenset[str]:
    """Digests of what an article shares with others of its topic: who was trained on one of these has seen the article."""
    # those of judges that were trained before signs ceased to tell texts apart
    spelled = {"source": fold("\n".join(passages)), "topic": fold(topic).casefold()}
    earlier = (digest({name: text}) for name, text in spelled.items() if text)
    return frozenset((*map(digest, topic_marks(passages, topic)), *earlier))


class Excerpt(Record):
    """What a person marked in a passage as its argument."""

    # place of the passage in the article, counted from 0
    passage: NonNegativeInt
    # several marked spans are joined by spaces, so this need not stand in the passage as it is
    text: Text


class AnnotatedArticle(Record):
    """An article of one side and what is known of its arguments: a line of a file."""

    id: Text
    # articles of one topic have each other's key points as opposite points
    topic: Text
    side: Text | None = None
    passages: Annotated[tuple[Text, ...], Field(min_length=1)]
    excerpts: tuple[Excerpt, ...] = ()
    # one for each excerpt, in their order; empty lets a model write them
    key_points: tuple[Text, ...] = ()
    # key points turned into their contrary; None lets a model write one for each
    adversarial: tuple[Text, ...] | None = None
    # points of the topic's other side; None takes the key points of its other articles
    opposite: tuple[Text, ...] | None = None

    @model_validator(mode="after")
    def _points_fit(self) -> "AnnotatedArticle":
        last = max((excerpt.passage for excerpt in self.excerpts), default=0)
        if last >= len(self.passages):
            raise ValueError(
                f"an excerpt is of passage {last}, but there are {len(self.passages)}, counted from 0; mend the number"
            )
        if self.excerpts and self.key_points and len(self.excerpts) != len(self.key_points):
            raise ValueError(
                f"has {len(self.excerpts)} excerpts, but {len(self.key_points)} key points; write one for each, or none"
            )
        return self

    @property
    def n_key_points(self) -> int:
        """Key points that the article has, or will have once they are written."""
        return len(self.key_points) or len(self.excerpts)

    @property
    def marks(self) -> frozenset[str]:
        """Marks that a controlled set made of the article has."""
        return article_marks(self.passages, self.topic)

    def others(self, articles: Sequence["AnnotatedArticle"]) -> list["AnnotatedArticle"]:
        """The articles of the topic's other sides; one that does not tell its side is of no other."""
        sided = [article for article in articles if self.side and article.side not in (None, self.side)]
        return [article for article in sided if article.title_key == self.title_key]

    @cached_property
    def title_key(self) -> str:
        """What copies of its title share."""
        return copy_key(self.topic)


class _ReleasedExcerpt(BaseModel):
    # the passage, whole
    article: Text
    excerpt: Text


class _AnnotatedPoints(BaseModel):
    relevant: tuple[Text, ...]
    opposite: tuple[Text, ...]
    adversarial: tuple[Text, ...]


class _Released(BaseModel):
    topic: Text
    source: Annotated[tuple[Text, ...], Field(min_length=1)]
    excerpts: tuple[_ReleasedExcerpt, ...]
    evidence: _AnnotatedPoints


def read_annotated(path: str) -> list[AnnotatedArticle]:
    """The annotated articles of a file, in order.

    Args:
        path: JSON lines of `AnnotatedArticle`, the evidence file that the authors of PoliSum released, or "sample".

    Raises:
        StorageError: the file cannot be read.
        DataError: articles are wrong or do not go together; all mistakes are listed.
    """
    file = BUNDLED if path == SAMPLE else local_path(path)
    if path != SAMPLE and read_text(file).lstrip().startswith("["):
        return _read_released(file)
    first_line: dict[tuple[str, str], int] = {}

    def wrong(line: int, article: AnnotatedArticle) -> Iterator[str]:
        if article.opposite is not None:
            return
        if article.side is None:
            yield f"article {article.id!r} has neither a side nor opposite points; give it one of them"
        elif (earlier := first_line.setdefault((article.topic, article.side), line)) != line:
            yield (
                f"topic {article.topic!r} has an article of side {article.side!r} in line {earlier} already, so which articles "
                "answer each other is unclear; give each pair a topic of its own"
            )

    return read_lines(file, AnnotatedArticle, "id", wrong)


def _read_released(path: Path) -> list[AnnotatedArticle]:
    released, mistakes = read_list(path, _Released)
    articles = []
    for number, entry in released:
        place_of = {fold(passage): place for place, passage in enumerate(entry.source)}
        if strangers := [excerpt.article for excerpt in entry.excerpts if fold(excerpt.article) not in place_of]:
            wrong = f"{len(strangers)} excerpts are of passages that 'source' does not have: {strangers[0][:60]!r}"
            mistakes.append((number, wrong))
            continue
        excerpts = tuple(Excerpt(passage=place_of[fold(e.article)], text=e.excerpt) for e in entry.excerpts)
        try:
            # the released file does not say which side an entry is of
            article = AnnotatedArticle(
                id=f"{number:03d}-{digest(list(entry.source), 8)}",
                topic=entry.topic,
                passages=entry.source,
                excerpts=excerpts,
                key_points=entry.evidence.relevant,
                opposite=entry.evidence.opposite,
                adversarial=entry.evidence.adversarial,
            )
            articles.append(article)
        except ValidationError as error:
            mistakes.append((number, explain(error)))
    refuse_entries(path, "entry", mistakes)
    return articles
