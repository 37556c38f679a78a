"""Ratings by what was summarised: each article with the summaries that people rated, their texts and its own.

Ids, texts and repeated ratings are checked here, and all mistakes of a kind are told together.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from ....corpora.cells import cell_text
from ....corpora.controlled import ControlledSet, ControlledSummary
from ....corpora.summary_ids import ID_KEYS, UnlikeIdError, id_of, known_names, refuse_ids, unlike_ids
from ....errors import DataError
from ....evaluation.report.people.ratings import NoRatedTextError
from ....records import DocumentSet
from ....text import did_you_mean, some_of
from ....text.shown import shortened
from .columns import Rating, placed, ratings_of, read_rows, refuse
from .scales import RatingScale


@dataclass(frozen=True)
class RatingsRequest:
    """Ratings as the user gives them."""

    # CSV, TSV, Parquet, .xlsx, JSON lines or a JSON array
    file: Path
    # document sets that were summarised; None where the ratings have the texts
    documents: Sequence[DocumentSet] | None = None
    # social attribute of the documents, whose values are sides
    attribute: str | None = None
    # system -> its summaries by id, where the ratings do not have the texts
    summaries: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    # those that are taken; () takes all
    dimensions: Sequence[str] = ()
    # dimension, "" for all -> its worst and best score
    scales: Mapping[str, RatingScale] = field(default_factory=dict)

    @cached_property
    def sets(self) -> dict[str, DocumentSet]:
        """The document sets by their ids."""
        return {documents.id: documents for documents in self.documents or ()}

    def sides(self, set_id: str) -> tuple[str, ...]:
        """Sides of a document set; none where no attribute is named."""
        return self.sets[set_id].values(self.attribute) if self.attribute and set_id in self.sets else ()


@dataclass(frozen=True)
class RatedArticle:
    """What was summarised, as a whole or of one side, and the ratings of its summaries."""

    set_id: str
    # "" for all of it
    side: str
    # name of the system, or the text -> the ratings of that summary
    by_candidate: Mapping[str, Sequence[Rating]]
    topic: str = ""
    # what was summarised
    passages: tuple[str, ...] = ()
    # candidate -> text, of those that have one
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """SET, or SET/SIDE."""
        return f"{self.set_id}/{self.side}" if self.side else self.set_id

    @property
    def ratings(self) -> Iterator[Rating]:
        """All of its ratings."""
        return (rating for ratings in self.by_candidate.values() for rating in ratings)

    @property
    def as_set(self) -> ControlledSet:
        """The article as judges are asked about it; how many points its summaries have is not known, and not looked at."""
        summaries = tuple(ControlledSummary(text=text, relevant=0) for text in self.texts.values())
        return ControlledSet(
            id=self.id, topic=self.topic, side=self.side or None, passages=self.passages, n_key_points=0, summaries=summaries
        )  # fmt: skip


def read_articles(request: RatingsRequest, left_out: Counter[str]) -> list[RatedArticle]:
    """The articles of a file of ratings, in its order, each with at least one summary that has a text.

    Args:
        request: the file and what belongs to it.
        left_out: takes summaries without a text, by reason.

    Raises:
        StorageError: the file cannot be read.
        DataError: the file is none of ratings, or something in it is wrong; all mistakes of a kind are listed.
    """
    ratings = ratings_of(request.file, read_rows(request.file), request.dimensions)
    articles = _by_article(request, ratings)
    refuse([mistake for article in articles for mistake in _repeated(article)])
    mistakes: dict[str, list[str]] = defaultdict(list)
    whole = [_with_texts(request, article, left_out, mistakes) for article in articles]
    refuse([placed(text, places) for text, places in mistakes.items()])
    if not (rated := [article for article in whole if article.texts]):
        raise NoRatedTextError(
            f"{request.file}: has no rated summary with a text; add a column 'summary', or rate what systems wrote"
        )
    return rated


def _by_article(request: RatingsRequest, ratings: Sequence[Rating]) -> list[RatedArticle]:
    """The ratings by the article that they are of."""
    source, known = str(request.file), known_names(request.sets, by_topic=True)
    if request.sets:
        refuse_ids(source, [rating.row for rating in ratings], request.sets, ID_KEYS, "document set")
    articles: dict[tuple[str, str], dict[str, list[Rating]]] = defaultdict(lambda: defaultdict(list))
    unknown: dict[str, list[str]] = defaultdict(list)
    unlike: dict[str, None] = {}
    for rating in ratings:
        key = next(name for name in ID_KEYS if name in rating.row)
        name, side = cell_text(rating.row[key]).strip(), rating.side
        set_id, _, last = name.rpartition("/")
        try:
            if name not in request.sets and last in request.sides(set_id):
                # of one side, as `evenhand score --scope side` calls it
                name, side = set_id, last
            elif request.sets:
                name = id_of(rating.row, known, ID_KEYS)
        except UnlikeIdError as error:
            unlike[str(error)] = None
        except DataError as error:
            unknown[str(error)].append(rating.place)
        if not name:
            unknown[f"column {key!r} is empty; say what was summarised"].append(rating.place)
        articles[name, side][rating.candidate].append(rating)
    refuse(
        [
            *([unlike_ids(source, list(unlike))] if unlike else []),
            *(placed(text, places) for text, places in unknown.items()),
        ]
    )
    return [RatedArticle(name, side, by_candidate) for (name, side), by_candidate in articles.items()]


def _repeated(article: RatedArticle) -> Iterator[str]:
    """What is wrong with ratings that are there twice, and with texts of one summary that differ."""
    for candidate, ratings in article.by_candidate.items():
        first: dict[tuple[str, str], Rating] = {}
        texts: dict[str, str] = {}
        for rating in ratings:
            if rating.text:
                texts.setdefault(rating.text, rating.place)
            earlier = first.setdefault((rating.rater, rating.dimension), rating)
            if earlier is not rating:
                who = f"{rating.rater!r} has" if rating.rater else "nobody is named, and somebody has"
                remedy = "" if rating.rater else ", or name the raters in a column 'rater'"
                yield (
                    f"{rating.place}: {who} scored {rating.dimension!r} of this summary already, in {earlier.place} "
                    f"({_shown(earlier)} there, {_shown(rating)} here); take one out{remedy}"
                )
        if len(texts) > 1:
            places = some_of(list(texts.values()))
            yield f"{places}: {shortened(candidate)} has several texts of {shortened(article.id)}; give its ratings the same"
    if len({rating.documents for rating in article.ratings if rating.documents}) > 1:
        place = next(article.ratings).place
        yield f"{place}: {shortened(article.id)} has other documents in other rows; give its ratings the same"


def _shown(rating: Rating) -> str:
    return "no score" if rating.score is None else f"{rating.score:g}"


def _with_texts(
    request: RatingsRequest, article: RatedArticle, left_out: Counter[str], mistakes: dict[str, list[str]]
) -> RatedArticle:
    """The article with its summaries' texts and its own; what is missing is counted, or a mistake."""
    texts = {}
    for candidate, ratings in article.by_candidate.items():
        text = next((rating.text for rating in ratings if rating.text), None)
        if text is None and candidate not in request.summaries:
            near = did_you_mean(candidate, request.summaries)
            mistakes[
                f"no text of the summary by {shortened(candidate)}{near} Add a column 'summary', or give --summaries LABEL=FILE"
            ].append(ratings[0].place)
            continue
        text = (text or request.summaries[candidate].get(article.id, "")).strip()
        if text:
            texts[candidate] = text
        else:
            left_out["rated summaries without a text"] += 1
    documents = request.sets.get(article.set_id)
    if documents is None:
        passages = next((rating.documents for rating in article.ratings if rating.documents), ())
    elif article.side in request.sides(article.set_id):
        passages = tuple(document.text for document in documents.select(request.attribute or "", article.side))
    else:
        passages = tuple(document.text for document in documents.documents)
    if not passages:
        mistakes[
            "what was summarised is not known; give the document sets, or add a column 'documents' with their texts"
        ].append(next(article.ratings).place)
    topic = (documents.topic if documents else "") or article.set_id
    return replace(article, topic=topic, passages=passages, texts=texts)
