"""What judges said of controlled summaries in all variants, in tables: articles down, summaries across, nan for nothing."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ....config.needs import Purpose
from ....corpora.controlled import ControlledSet, topics_of
from ....judges.batch import Spent
from ....records import Judgement
from ....text import n_words
from ..meta.scoring import Scores, scores_by_judge, table_of
from .figures import Floats
from .preference import PeoplesScores
from .probes import Exchanges, Variant, places, variant_id

OTHER: dict[Purpose, Purpose] = {"coverage": "faithfulness", "faithfulness": "coverage"}


@dataclass(frozen=True)
class Answers:
    """What judges said of the summaries in all variants, and of the plain ones when they were asked again."""

    sets: Sequence[ControlledSet]
    # the same in all variants
    asked: Sequence[ControlledSet]
    judgements: Sequence[Judgement]
    again: Sequence[Judgement] = ()
    # names of two sides
    tellers: tuple[str, str] = ("left", "right")
    # summaries that people scored, and the judges' scores of them
    people: PeoplesScores | None = None
    of_people: Sequence[Judgement] = ()
    spent: Sequence[Spent] = ()
    # what the variants exchange; None takes what the sets give
    exchanges: Exchanges | None = None

    @cached_property
    def _scores(self) -> dict[str, dict[str, Scores]]:
        """Of the three: judge -> set id -> scores."""
        found = {"first": self.judgements, "again": self.again, "people": self.of_people}
        return {name: scores_by_judge(mine) for name, mine in found.items()}

    @cached_property
    def topics(self) -> list[str]:
        """Of each set."""
        return topics_of(self.sets)

    @cached_property
    def truths(self) -> dict[Purpose, Floats]:
        """Attribute -> (articles, summaries)."""
        return {
            name: table_of(self.sets, [[getattr(truth, name) for truth in each.truths] for each in self.sets])
            for name in OTHER
        }

    @cached_property
    def log_words(self) -> Floats:
        """Logarithm of each summary's words."""
        counts = [[n_words(summary.text) for summary in each.summaries] for each in self.sets]
        with np.errstate(divide="ignore"):
            logs = np.log(table_of(self.sets, counts))
        return np.where(np.isinf(logs), np.nan, logs)

    @cached_property
    def exchanged(self) -> Exchanges:
        """What the variants exchange."""
        return self.exchanges or Exchanges.of(self.sets, self.tellers)

    def of_texts(self, number: Callable[[str], float]) -> Floats:
        """A number of each summary's text, (articles, summaries)."""
        return table_of(self.sets, [[number(s.text) for s in each.summaries] for each in self.sets])

    def has_word(self, word: str) -> NDArray[np.bool_]:
        """Whether each summary has a word, (articles, summaries)."""
        pattern = re.compile(rf"\b{re.escape(word)}\b")
        return np.equal(self.of_texts(lambda text: float(bool(pattern.search(text)))), 1)

    def is_changed(self, variant: Variant) -> NDArray[np.bool_]:
        """Whether each summary's text is another in a variant, (articles, summaries)."""
        made = {each.id: each.summaries for each in self.asked}
        both = [(each.summaries, made.get(variant_id(each.id, variant), each.summaries)) for each in self.sets]
        rows = [[float(one.text != two.text) for one, two in zip(*its, strict=True)] for its in both]
        return np.equal(table_of(self.sets, rows), 1)

    @cached_property
    def is_longer(self) -> NDArray[np.bool_]:
        """Whether a summary is of the longer half of all, (articles, summaries)."""
        known = self.log_words[~np.isnan(self.log_words)]
        return self.log_words > (np.median(known) if len(known) else np.inf)

    @cached_property
    def earlier(self) -> Floats:
        """How much more of each summary stands in the first half of the source as it is than of the source turned round."""
        turned = {each.id: each for each in self.asked}
        rows = [places(each) - places(turned[variant_id(each.id, "reversed")]) for each in self.sets]
        return table_of(self.sets, [list(row) for row in rows])

    def scores(self, judge: str, variant: Variant = "plain", *, when: str = "first") -> Floats:
        """Of a judge, (articles, summaries); nan for none."""
        mine = self._scores[when].get(judge, {})
        return table_of(self.sets, [mine.get(variant_id(each.id, variant), []) for each in self.sets])

    def is_asked(self, judge: str, each: ControlledSet) -> bool:
        """Whether a judge was asked about an article."""
        return each.id in self._scores["first"].get(judge, {})

    def people_scores(self, judge: str) -> Floats | None:
        """Of a judge, (documents, systems); None where it was not asked."""
        mine = self._scores["people"].get(judge)
        if self.people is None or mine is None:
            return None
        return np.array([mine[each.id] for each in self.people.documents], dtype=float)
