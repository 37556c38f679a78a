"""Labelled summaries and what judges said of them, in tables: articles down, summaries across, nan for nothing."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...config.needs import Purpose
from ...corpora.controlled import ControlledSet, topics_of
from ...judges.batch import Spent
from ...records import Judgement
from ...resampling import Floats
from ...text import n_words
from .preference import PeoplesScores
from .probes import NO_EXCHANGES, Exchanges, Variant, places, variant_id

OTHER: dict[Purpose, Purpose] = {"coverage": "faithfulness", "faithfulness": "coverage"}
# set id -> scores of its summaries
Scores = Mapping[str, Sequence[float | None]]


@dataclass(frozen=True)
class JudgeStudy:
    """What judges said of summaries whose coverage and faithfulness are known: all that commands on judges compute from."""

    sets: Sequence[ControlledSet]
    # of each of their summaries by each judge, in the order of sets and summaries; of the sets in all variants among them
    judgements: Sequence[Judgement] = ()
    # what judges said of the plain ones when they were asked again
    again: Sequence[Judgement] = ()
    # summaries that people scored, and the judges' scores of them
    people: PeoplesScores | None = None
    of_people: Sequence[Judgement] = ()
    spent: Sequence[Spent] = ()
    # what the variants exchange, and the sets in all variants
    exchanges: Exchanges = NO_EXCHANGES
    asked: Sequence[ControlledSet] = ()
    # attribute -> (articles, summaries), nan for none, where people scored the summaries; None where they are controlled
    ratings: Mapping[str, Floats] | None = None

    @cached_property
    def _scores(self) -> dict[str, dict[str, Scores]]:
        """Scores of the plain round, the second round and of what people scored: judge -> set id -> scores."""
        rounds = {"first": self.judgements, "again": self.again, "people": self.of_people}
        return {name: _by_judge(judgements) for name, judgements in rounds.items()}

    @cached_property
    def judges(self) -> list[str]:
        """The judges that said something, in order."""
        return list(self._scores["first"])

    @property
    def n_summaries(self) -> int:
        """Number of summaries of all sets."""
        return sum(len(article.summaries) for article in self.sets)

    @cached_property
    def topics(self) -> list[str]:
        """The topic of each set."""
        return topics_of(self.sets)

    @cached_property
    def truths(self) -> dict[str, Floats]:
        """Attribute -> (articles, summaries): known by construction, or the mean of people's scores."""
        if self.ratings is not None:
            return dict(self.ratings)
        return {
            name: self.table([[getattr(truth, name) for truth in article.truths] for article in self.sets])
            for name in OTHER
        }

    @property
    def known_truths(self) -> list[Floats]:
        """The tables of attributes of which anything is known: people may have scored one alone."""
        return [table for table in self.truths.values() if not np.isnan(table).all()]

    @cached_property
    def lengths(self) -> Floats:
        """Words of each summary."""
        return self.of_texts(n_words)

    @cached_property
    def log_words(self) -> Floats:
        """Their logarithm; nan for none."""
        return np.asarray(np.log(np.where(self.lengths > 0, self.lengths, np.nan)))

    @cached_property
    def _made(self) -> dict[str, ControlledSet]:
        """The sets in all variants, by their ids."""
        return {article.id: article for article in self.asked}

    def variant(self, article: ControlledSet, variant: Variant) -> ControlledSet:
        """A set in a variant; as it is where nothing would change."""
        return self._made.get(variant_id(article.id, variant), article)

    def of_texts(self, number: Callable[[str], float]) -> Floats:
        """A number of each summary's text, (articles, summaries)."""
        return self.table([[number(s.text) for s in article.summaries] for article in self.sets])

    def table(self, rows: Iterable[Sequence[float | None]]) -> Floats:
        """A number for each summary, (articles, summaries); nan for None, and where a set has fewer summaries than another."""
        table = np.full((len(self.sets), max((len(article.summaries) for article in self.sets), default=0)), np.nan)
        for place, row in enumerate(rows):
            table[place, : len(row)] = np.array(row, dtype=float)
        return table

    def has_word(self, word: str) -> NDArray[np.bool_]:
        """Whether each summary has a word, (articles, summaries)."""
        pattern = re.compile(rf"\b{re.escape(word)}\b")
        return np.equal(self.of_texts(lambda text: float(bool(pattern.search(text)))), 1)

    def is_changed(self, variant: Variant) -> NDArray[np.bool_]:
        """Whether each summary's text is another in a variant, (articles, summaries)."""
        pairs = [(article, self.variant(article, variant)) for article in self.sets]
        rows = [[float(a.text != b.text) for a, b in zip(x.summaries, y.summaries, strict=True)] for x, y in pairs]
        return np.equal(self.table(rows), 1)

    @cached_property
    def is_longer(self) -> NDArray[np.bool_]:
        """Whether a summary is of the longer half of all, (articles, summaries)."""
        lengths = self.log_words[~np.isnan(self.log_words)]
        return self.log_words > (np.median(lengths) if len(lengths) else np.inf)

    @cached_property
    def earlier(self) -> Floats:
        """How much more of each summary stands in the first half of the source as it is than of the source turned round."""
        turned = (self._made[variant_id(article.id, "reversed")] for article in self.sets)
        return self.table([list(places(x) - places(y)) for x, y in zip(self.sets, turned, strict=True)])

    def scores(self, judge: str, variant: Variant = "plain", *, when: str = "first") -> Floats:
        """Scores of a judge, (articles, summaries); nan for none."""
        scores_by_set = self._scores[when].get(judge, {})
        return self.table([scores_by_set.get(variant_id(article.id, variant), []) for article in self.sets])

    def is_asked(self, judge: str, article: ControlledSet) -> bool:
        """Whether a judge was asked about an article."""
        return article.id in self._scores["first"].get(judge, {})

    def people_scores(self, judge: str) -> Floats | None:
        """Scores of a judge for the summaries that people scored, (documents, systems); None where it was not asked."""
        scores_by_set = self._scores["people"].get(judge)
        if self.people is None or scores_by_set is None:
            return None
        return np.array([scores_by_set[document.id] for document in self.people.documents], dtype=float)


def _by_judge(judgements: Sequence[Judgement]) -> dict[str, Scores]:
    """Judge -> set id -> scores, in the order of the judgements."""
    scores: dict[str, dict[str, list[float | None]]] = defaultdict(lambda: defaultdict(list))
    for judgement in judgements:
        scores[judgement.judge][judgement.request_id].append(judgement.score)
    return {name: dict(scores_by_set) for name, scores_by_set in scores.items()}
