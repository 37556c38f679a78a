"""Rated summaries in the form in which judges are studied: sets of summaries, and as their truth the mean of people's scores.

A rating that cannot be used is counted by its reason or refused; none is invented. What is unusual in the scores, as a rater who
gives one score to all or goes against all others, is said and changes nothing.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ....config.needs import Purpose
from ....corpora.controlled import ControlledSet, ControlledSummary
from ....corpora.summary_ids import ID_KEYS, UnlikeIdError, id_of, known_names, refuse_ids
from ....errors import DataError
from ....fairness.groups.coverage import over
from ....judges.benchmark import ATTRIBUTES
from ....records import DocumentSet
from ....resampling import Floats
from ....storage import file_digest, listed
from ....text import did_you_mean, some_of
from ....text.shown import shortened
from .columns import Rating, ratings_of, read_rows
from .scales import RatingScale, oriented, remarks

SUMMARIES = "--summaries LABEL=FILE"


@dataclass(frozen=True)
class RatingsRequest:
    """Ratings as the user gives them."""

    # CSV, TSV, Parquet, JSON lines or a JSON array
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


@dataclass(frozen=True)
class RatedSummaries:
    """Summaries that people scored, articles down and summaries across."""

    # name of the file and digest of its content
    file: str
    digest: str
    # how many points their summaries have is not known, and not looked at
    sets: list[ControlledSet]
    # dimension, and dimension of a group of raters -> (articles, summaries, raters), higher is better, nan where nobody scored
    scores: Mapping[str, Floats]
    # names of the raters; () where nobody is named
    raters: tuple[str, ...]
    # dimension -> -1 where the file's lower scores are better
    signs: Mapping[str, float]
    # dimension, "" for all -> its scale, where one was stated
    scales: Mapping[str, RatingScale]
    # what is to be known of them, a sentence each
    notes: tuple[str, ...]

    @property
    def truths(self) -> dict[str, Floats]:
        """Dimension -> mean score of each summary, (articles, summaries); nan where nobody scored it."""
        return {
            name: np.asarray(over(np.nansum(cube, axis=2), (~np.isnan(cube)).sum(axis=2)))
            for name, cube in self.scores.items()
        }

    def first(self, limit: int | None) -> "RatedSummaries":
        """Those of the first articles alone; all for None."""
        scores = {name: cube[:limit] for name, cube in self.scores.items()}
        return replace(self, sets=self.sets[:limit], scores=scores)

    def for_purposes(self, dimensions: Mapping[Purpose, str]) -> "RatedSummaries":
        """Those of the dimensions that judges are to measure, under the names of these, as shares of the scale in [0, 1].

        Args:
            dimensions: purpose -> dimension; a purpose that is absent is the dimension of that name, if there is one.

        Raises:
            DataError: there is none for either purpose.
        """
        names = {purpose: dimensions.get(purpose) or self._named(purpose) for purpose in ATTRIBUTES}
        scores = {purpose: self._share(name) for purpose, name in names.items() if name}
        if not scores:
            raise DataError(
                f"{self.file}: no dimension is called coverage or faithfulness, which are what judges are to measure; say which "
                f"is: --dimension coverage=NAME. Its dimensions are {', '.join(self.scores)}"
            )
        told = "; ".join(f"{purpose} is {name!r}" for purpose, name in names.items() if name and name != purpose)
        notes = (*self.notes, f"People's scores count as shares of their scale{f'; {told}' if told else ''}.")
        absent = next(iter(scores.values()))
        all_scores = {purpose: scores.get(purpose, np.full_like(absent, np.nan)) for purpose in ATTRIBUTES}
        return replace(self, scores=all_scores, signs=dict.fromkeys(ATTRIBUTES, 1.0), notes=notes)

    def _named(self, purpose: str) -> str | None:
        return next((name for name in self.scores if name.casefold() == purpose), None)

    def _share(self, dimension: str) -> Floats:
        """Scores of a dimension as shares of the way from the worst to the best, stated or given, in [0, 1]."""
        cube = self.scores[dimension]
        scale = self.scales.get(dimension, self.scales.get(""))
        low, high = (
            sorted(self.signs[dimension] * end for end in scale) if scale else (np.nanmin(cube), np.nanmax(cube))
        )
        return np.asarray((cube - low) / (high - low if high > low else 1.0))


# an article's ratings: candidate -> its ratings
_Article = dict[str, list[Rating]]


def read_rated(request: RatingsRequest) -> RatedSummaries:
    """The summaries that people scored.

    Raises:
        StorageError: the file cannot be read.
        DataError: the file is none of ratings, or ids, texts or scores in it are wrong; all mistakes of a kind are listed.
    """
    ratings = ratings_of(request.file, read_rows(request.file), request.dimensions)
    articles = _articles(request, ratings)
    ratings = [rating for article in articles.values() for group in article.values() for rating in group]
    _refuse_twice(articles)
    signs = oriented(request.file, ratings, request.scales)
    sets, candidates, left_out = _sets(request, articles)
    raters = list(dict.fromkeys(rating.rater for rating in ratings if rating.score is not None))
    scores = _scores(sets, candidates, articles, raters, signs)
    names = tuple(name for name in raters if name)
    left_out["ratings without a score"] = sum(rating.score is None for rating in ratings)
    notes = [f"Left out: {n:,} {reason}." for reason, n in left_out.items() if n]
    return RatedSummaries(
        file=request.file.name,
        digest=file_digest(request.file),
        sets=sets,
        scores=scores,
        raters=names,
        signs=signs,
        scales=request.scales,
        notes=(*remarks(scores, signs, names, request.scales), *notes),
    )


def _articles(request: RatingsRequest, ratings: Sequence[Rating]) -> dict[tuple[str, str], _Article]:
    """(id of a set, side) -> the ratings of its summaries, in the order of the file."""
    source = str(request.file)
    sets = {documents.id: documents for documents in request.documents or ()}
    known = known_names(sets, by_topic=True)
    if sets:
        refuse_ids(source, [rating.row for rating in ratings], sets, ID_KEYS, "document set")
    articles: dict[tuple[str, str], _Article] = defaultdict(lambda: defaultdict(list))
    unknown: dict[str, list[str]] = defaultdict(list)
    unlike: dict[str, None] = {}
    for rating in ratings:
        side, row = rating.side, rating.row
        key = next(name for name in ID_KEYS if name in row)
        try:
            name = id_of(row, known, ID_KEYS) if sets else str(row[key] if row[key] is not None else "").strip()
        except UnlikeIdError as error:
            unlike[str(error)] = None
            continue
        except DataError as error:
            # of one side, as `evenhand score --scope side` calls it
            set_id, slash, of_side = str(row[key]).rpartition("/")
            if not slash or set_id not in sets or of_side not in _values(sets[set_id], request.attribute):
                unknown[str(error)].append(rating.place)
                continue
            name, side = set_id, of_side
        if not name:
            unknown[f"column {key!r} is empty; say what was summarised"].append(rating.place)
            continue
        articles[name, side][rating.candidate].append(rating)
    mistakes = [_placed(places, text) for text, places in unknown.items()]
    if unlike:
        mistakes.insert(
            0,
            f"{source}: ids differ from the documents' only by capitals, white space or characters that nobody sees: "
            f"{some_of(list(unlike))}; write them as the documents have them",
        )
    if mistakes:
        raise DataError(listed(mistakes))
    return articles


def _placed(places: Sequence[str], text: str) -> str:
    """A mistake where it stands first, and how often it stands elsewhere."""
    distinct = list(dict.fromkeys(places))
    more = f"; the same in {len(distinct) - 1:,} more rows" if len(distinct) > 2 else ""
    more = f"; the same in {distinct[1]}" if len(distinct) == 2 else more
    return f"{distinct[0]}: {text}{more}"


def _values(documents: DocumentSet, attribute: str | None) -> tuple[str, ...]:
    return documents.values(attribute) if attribute else ()


def _refuse_twice(articles: Mapping[tuple[str, str], _Article]) -> None:
    """Refuse a rating that is there twice, and texts of one summary that differ."""
    mistakes = []
    for (name, side), article in articles.items():
        for candidate, ratings in article.items():
            first: dict[tuple[str, str], Rating] = {}
            for rating in ratings:
                earlier = first.setdefault((rating.rater, rating.dimension), rating)
                if earlier is not rating:
                    who = f"{rating.rater!r} has" if rating.rater else "nobody is named, and somebody has"
                    remedy = "" if rating.rater else ", or name the raters in a column 'rater'"
                    mistakes.append(
                        f"{rating.place}: {who} scored {rating.dimension!r} of this summary already, in {earlier.place} "
                        f"({earlier.score} there, {rating.score} here); take one out{remedy}"
                    )
            texts: dict[str, str] = {}
            for rating in ratings:
                if rating.text:
                    texts.setdefault(rating.text, rating.place)
            if len(texts) > 1:
                places = some_of(list(texts.values()))
                mistakes.append(
                    f"{places}: {shortened(candidate)} has several texts of {shortened(name)}{f'/{side}' if side else ''}; "
                    "give its ratings the same"
                )
    if mistakes:
        raise DataError(listed(mistakes))


def _sets(
    request: RatingsRequest, articles: Mapping[tuple[str, str], _Article]
) -> tuple[list[ControlledSet], dict[str, list[str]], Counter[str]]:
    """The sets as judges are asked about them, by their ids the candidates of their summaries, and what is left out."""
    sets, candidates, mistakes = list[ControlledSet](), dict[str, list[str]](), list[str]()
    left_out: Counter[str] = Counter()
    by_id = {documents.id: documents for documents in request.documents or ()}
    for (name, side), article in articles.items():
        texts = {}
        for candidate, ratings in article.items():
            called = f"{name}/{side}" if side else name
            text = next((rating.text for rating in ratings if rating.text), None)
            if text is None:
                of_system = request.summaries.get(candidate)
                if of_system is None:
                    near = did_you_mean(candidate, request.summaries) if request.summaries else "."
                    mistakes.append(
                        f"{ratings[0].place}: no text of the summary by {shortened(candidate)}{near} Add a column 'summary', or "
                        f"give {SUMMARIES}"
                    )
                    continue
                text = of_system.get(called, of_system.get(name))
            if not (text or "").strip():
                left_out["rated summaries without a text"] += 1
                continue
            texts[candidate] = text or ""
        first = next(iter(article.values()))[0]
        try:
            passages = _passages(by_id.get(name), first, side, request.attribute)
        except DataError as error:
            mistakes.append(f"{first.place}: {error}")
            continue
        if texts:
            set_id = f"{name}/{side}" if side else name
            topic = by_id[name].topic if name in by_id else ""
            summaries = tuple(ControlledSummary(text=text, relevant=0) for text in texts.values())
            sets.append(
                ControlledSet(
                    id=set_id,
                    topic=topic or name,
                    side=side or None,
                    passages=passages,
                    n_key_points=0,
                    summaries=summaries,
                )
            )
            candidates[set_id] = list(texts)
    if mistakes:
        raise DataError(listed(mistakes))
    if not sets:
        raise DataError(f"{request.file}: has no rated summary with a text")
    return sets, candidates, left_out


def _passages(documents: DocumentSet | None, first: Rating, side: str, attribute: str | None) -> tuple[str, ...]:
    """What a summary is compared with: the documents of its set, or of its side."""
    if documents is None:
        if not first.documents:
            raise DataError(
                "what was summarised is not known; give the document sets, or add a column 'documents' with their texts"
            )
        return first.documents
    chosen = documents.documents
    if side and side in _values(documents, attribute):
        chosen = tuple(documents.select(attribute or "", side))
    return tuple(document.text for document in chosen)


def _scores(
    sets: Sequence[ControlledSet],
    candidates: Mapping[str, Sequence[str]],
    articles: Mapping[tuple[str, str], _Article],
    raters: Sequence[str],
    signs: Mapping[str, float],
) -> dict[str, Floats]:
    """Dimension, and of each group of raters -> (articles, summaries, raters), nan where nobody scored."""
    by_id = {f"{name}/{side}" if side else name: article for (name, side), article in articles.items()}
    shape = len(sets), max(len(article.summaries) for article in sets), max(1, len(raters))
    cubes: dict[str, Floats] = defaultdict(lambda: np.full(shape, np.nan))
    rater_places = {name: place for place, name in enumerate(raters)}
    groups = {
        rating.group for article in articles.values() for row in article.values() for rating in row if rating.group
    }
    for row, article in enumerate(sets):
        for column, candidate in enumerate(candidates[article.id]):
            for rating in by_id[article.id][candidate]:
                if rating.score is None:
                    continue
                place = row, column, rater_places[rating.rater]
                score = signs[rating.dimension] * rating.score
                cubes[rating.dimension][place] = score
                if rating.group and len(groups) > 1:
                    cubes[f"{rating.dimension}, {rating.group}"][place] = score
    return (
        {name: cubes[name] for name in sorted(cubes, key=list(signs).index) if name in cubes}
        if not groups
        else dict(cubes)
    )
