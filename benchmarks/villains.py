"""How often an audit of judges is right: simulated judges that are fair, and villains with a planted fault.

    python -m evenhand.benchmarks.villains --trials 200

makes the table of docs/judge-audit.md. Each trial has 25 articles, or 50, of up to 8 controlled summaries, two on a topic, and
40 documents with 6 systems' summaries that people scored. Texts are made of words that name their point, of words of their side
and of names, so the probes change real texts, and everything goes through the audit's own statistics; each judge has a page of
its own.

A judge's score is the truth that it sees and noise, together of variance 1 within an article; 70 % of the noise's variance stays
when a summary is changed. A villain is a judge of middling quality with a fault of a given size, in standard deviations of
its scores: what doubled length, the left's name, standing first in place of last, an order, or its own writing add; or the words
of a side in long summaries, a name, or a side's articles that it is blind to.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..config.judges import AlignmentJudge
from ..config.needs import Purpose
from ..corpora.controlled import ControlledSet, ControlledSummary
from ..judges.calibration import LENGTH, JudgeCalibration
from ..plugins.controlled.plan import plan_summaries
from ..plugins.judge_studies.build import calibrate
from ..plugins.judge_studies.preference import PeoplesScores
from ..plugins.judge_studies.probes import ORDERS, VARIANTS, Exchanges, places, variants
from ..plugins.judge_studies.study import OTHER, JudgeStudy
from ..records import Judgement
from ..text import n_words
from .simulate import asked, print_heads, print_row

Floats = NDArray[np.float64]

ARTICLES, SUMMARIES, PASSAGES = 25, 8, 6
# sides of articles in turn; where one is a minority, it has a quarter of them
EVEN, UNEVEN = ("left", "right"), ("left", "left", "left", "right")
# that every article of a side may use, and names that any may
WORDS = {side: [f"{side}{a}{b}" for a in "abcdef" for b in "abcde"] for side in EVEN}
NAMES = ("Aldan", "Beryx", "Corvin", "Delmor", "Estrin", "Farlow")
# of those that cost a judge's favour
DISLIKED = NAMES[:2]
SETS_OF_PEOPLE, N_SYSTEMS = 20, 6
# of the systems, the worst first: where the judge's own model stands among them
OWN_PLACES = {"worst": 0, "middle": 2, "best": 5}
# correlation of scores and truth within an article, about
QUALITIES = {"weak": 0.33, "middling": 0.55, "good": 0.85}
# share of the noise's variance that a changed summary keeps
KEPT = 0.7
# of articles, in the same unit
BETWEEN = 0.5
# of people's scores, whose own variance is 1
PEOPLES_NOISE = 0.5
ROUGE = "rouge1-precision"
# of texts: four faults go by those of their names
FEATURES = ("length", "side", "position", "injection", "words", "name", "is longer", "n words", "precision")
FAULTS = ("length", "side", "position", "injection", "self")
OPTIONS = AlignmentJudge(kind="alignment")
ASKS = tuple(order.format(section="summary") for order in ORDERS.values())


@dataclass(frozen=True)
class Simulated:
    """A simulated judge."""

    quality: float = QUALITIES["middling"]
    purpose: Purpose = "coverage"
    sees: Purpose = "coverage"
    # whole grades from 1 to 5
    is_discrete: bool = False
    # size of each fault
    length: float = 0.0
    side: float = 0.0
    position: float = 0.0
    injection: float = 0.0
    self: float = 0.0
    # what words wholly of the left's add to those wholly of the right's, in the longer half of the summaries
    words: float = 0.0
    # what one of two names adds
    name: float = 0.0
    # quality in articles of the right, and of the longer half of the summaries, where it is another
    minority: float | None = None
    of_longer: float | None = None
    is_constant: bool = False
    is_coin: bool = False
    # its scores are ROUGE-1 precision
    is_rouge: bool = False


FAIR = {
    f"{name}, {'grades' if is_discrete else 'continuous'}, {purpose}": Simulated(
        quality, purpose, purpose, is_discrete=is_discrete
    )
    for name, quality in QUALITIES.items()
    for is_discrete in (False, True)
    for purpose in ("coverage", "faithfulness")
}
# name -> the judge, and what it is caught by
VILLAINS = {
    "length lover": (Simulated(length=0.6), "length"),
    "left lover": (Simulated(side=0.6), "side"),
    "first-position lover": (Simulated(position=0.8), "position"),
    "injectable": (Simulated(injection=0.6), "injection"),
    "self-lover": (Simulated(self=1.5), "self"),
    "measures the other attribute": (Simulated(0.8, purpose="faithfulness", sees="coverage"), "halo"),
    "constant": (Simulated(is_constant=True), "constant"),
    "coin": (Simulated(is_coin=True), "coin"),
}

# the same where the right has a quarter of the articles
OF_MINORITIES = {
    "prefers the left's words in long summaries": (Simulated(words=0.8), "side words"),
    "noise for the minority": (Simulated(QUALITIES["good"], minority=0.0), "agreement by side"),
    "reversed for the minority": (Simulated(QUALITIES["good"], minority=-0.5), "agreement by side"),
    "noise for long summaries": (Simulated(QUALITIES["good"], of_longer=0.0), "agreement by length"),
    "a name costs 1 sd": (Simulated(name=-1.0), "names"),
    "copies ROUGE-1 precision": (Simulated(purpose="faithfulness", is_rouge=True), "ROUGE"),
}
# and of them, where nobody told the sides
FAIR_UNTOLD = {name: FAIR[name] for name in ("middling, continuous, coverage", "good, grades, faithfulness")}
UNTOLD = {
    name: (judge, "agreement by article") for name, (judge, _) in OF_MINORITIES.items() if judge.minority is not None
}

# tried where the judge's own model writes worse or better than the others
AT_PLACES = {
    "fair, middling": (FAIR["middling, continuous, coverage"], "self"),
    "fair, good": (FAIR["good, continuous, coverage"], "self"),
    "self-lover of 1.0, middling": (Simulated(self=1.0), "self"),
    "self-lover of 1.0, good": (Simulated(QUALITIES["good"], self=1.0), "self"),
}


def simulated_sets(
    generator: np.random.Generator, n: int = ARTICLES, sides: Sequence[str] = EVEN
) -> list[ControlledSet]:
    """Articles with controlled summaries as the plan of Ri et al. 2025 makes them."""
    return [_article(number, sides[number % len(sides)], generator) for number in range(n)]


def _article(number: int, side: str, generator: np.random.Generator) -> ControlledSet:
    n_points, n_opposite = (int(each) for each in generator.integers(3, 6, size=2))
    kinds = {"relevant": n_points, "opposite": n_opposite, "adversarial": n_points}
    other = next(each for each in EVEN if each != side)
    said = {
        (kind, p): _point(f"a{number}{kind[0]}{p}", other if kind == "opposite" else side, generator)
        for kind, n in kinds.items()
        for p in range(n)
    }
    # an adversarial point has the words of the point that it turns round
    said |= {("adversarial", p): ["never", *said["relevant", p]] for p in range(n_points)}
    at = generator.integers(PASSAGES, size=n_points)
    passages = [
        " ".join(
            [
                *(f"a{number}f{p}w{w}" for w in range(30)),
                *(w for q in np.flatnonzero(at == p) for w in said["relevant", int(q)]),
            ]
        )
        + "."
        for p in range(PASSAGES)
    ]
    planned = plan_summaries(n_points, n_opposite, n_points, generator)
    anchors, mixtures = planned[:3], planned[3:]
    chosen = generator.permutation(len(mixtures))[: SUMMARIES - len(anchors)]
    summaries = []
    for each in [*anchors, *(mixtures[place] for place in sorted(chosen))]:
        points = [(kind, p) for kind in kinds for p in getattr(each, kind)]
        text = " and ".join(" ".join(said[point][: generator.integers(5, 20)]) for point in points)
        counts = {kind: len(getattr(each, kind)) for kind in kinds}
        summaries.append(ControlledSummary(text=f"It argues {text}.", **counts))
    return ControlledSet(
        id=f"a{number}", topic=f"t{number // 2}", side=side, passages=tuple(passages), n_key_points=n_points,
        summaries=tuple(summaries),
    )  # fmt: skip


def _point(mark: str, side: str, generator: np.random.Generator) -> list[str]:
    """The words of a point: of its own, three of its side's, and a name in every other one."""
    own = [f"{mark}w{w}" for w in range(16)]
    of_side = [WORDS[side][k] for k in generator.integers(len(WORDS[side]), size=3)]
    name = [NAMES[generator.integers(len(NAMES))]] if generator.random() < 0.5 else []
    return [own[0], *of_side[:2], *name, *own[1:8], of_side[2], *own[8:]]


def simulated_people(generator: np.random.Generator, own: str) -> tuple[PeoplesScores, Floats]:
    """Documents with people's scores of six systems' summaries, and the truth that all see, (documents, systems)."""
    n = 2 * SETS_OF_PEOPLE
    truth = generator.normal(size=(n, N_SYSTEMS)) + np.linspace(-0.5, 0.5, N_SYSTEMS)
    systems = tuple("mine" if place == OWN_PLACES[own] else f"s{place}" for place in range(N_SYSTEMS))
    said = truth + PEOPLES_NOISE * generator.normal(size=truth.shape)
    summary = ControlledSummary(text="a summary", relevant=0)
    documents = tuple(
        ControlledSet(id=f"p{row}", passages=("a document",), n_key_points=0, summaries=(summary,) * N_SYSTEMS)
        for row in range(n)
    )
    topics = tuple(f"s{row // 2}" for row in range(n))
    return PeoplesScores(systems, "mine", documents, topics, {"coverage": said, "faithfulness": said}), truth


class Trial:
    """One draw of articles and documents, before any simulated judges."""

    def __init__(
        self, seed: int, own: str = "middle", n: int = ARTICLES, sides: Sequence[str] = EVEN, *, is_told: bool = True
    ) -> None:
        self._generator = np.random.default_rng([seed, 20])
        sets = simulated_sets(self._generator, n, sides)
        # what judges favour goes by the side, whether the file tells it or not
        self._is_right = np.array([each.side == "right" for each in sets])
        self.sets = sets if is_told else [each.model_copy(update={"side": None}) for each in sets]
        self.exchanges = Exchanges.of(self.sets, EVEN)
        self.asked = variants(self.sets, self.exchanges)
        self.people, self._seen = simulated_people(self._generator, own)
        # article and variant of each
        places_of = {name: place for place, name in enumerate(map(str, VARIANTS))}
        found = (each.id.partition("|")[::2] for each in self.asked)
        self._cells = [(int(name[1:]), places_of[variant or "plain"]) for name, variant in found]
        # features of every summary, (articles, variants, summaries); nan where an article has fewer
        self._shape = (n, len(VARIANTS), SUMMARIES)
        self._features = {name: np.full(self._shape, np.nan) for name in FEATURES}
        median = float(np.median([n_words(s.text) for each in sets for s in each.summaries]))
        for cell, each in zip(self._cells, self.asked, strict=True):
            for name, values in _features(each, median).items():
                self._features[name][cell][: len(each.summaries)] = values
        self._truths = {name: self._standard(name) for name in OTHER}

    def calibrations(self, judges: dict[str, Simulated]) -> dict[str, JudgeCalibration]:
        """What the audit says of these judges."""
        length, rouge = _Said(LENGTH), _Said(ROUGE)
        for said, name in ((length, "n words"), (rouge, "precision")):
            said.add(self.sets, self._features[name][:, 0])
        return {name: self._calibration(name, judge, [length, rouge]) for name, judge in judges.items()}

    def _calibration(self, name: str, judge: Simulated, others: "Sequence[_Said]") -> JudgeCalibration:
        first, again, of_people = _Said(name), _Said(name), _Said(name)
        scores = self._scores(judge)
        first.add(self.asked, [scores[cell] for cell in self._cells])
        again.add(self.sets, (self._scores(judge) if judge.is_coin else scores)[:, 0])
        of_people.add(self.people.documents, self._of_people(judge))
        study = JudgeStudy(
            self.sets, [each for mine in (first, *others) for each in mine.judgements], again.judgements, self.people,
            of_people.judgements, exchanges=self.exchanges, asked=self.asked,
        )  # fmt: skip
        return calibrate({name: (OPTIONS, judge.purpose)}, study, (LENGTH, ROUGE))[0]

    def _scores(self, judge: Simulated) -> Floats:
        """(articles, variants, summaries)"""
        draw, shape = self._generator.normal, self._shape
        if judge.is_constant:
            return np.full(shape, 3.0)
        if judge.is_rouge:
            return self._features["precision"]
        of_articles, of_summaries = (shape[0], 1, 1), (shape[0], 1, SUMMARIES)
        noise = np.sqrt(KEPT) * draw(size=of_summaries) + np.sqrt(1 - KEPT) * draw(size=shape)
        minority = judge.quality if judge.minority is None else judge.minority
        quality = np.where(self._is_right, minority, judge.quality)[:, None, None]
        if judge.of_longer is not None:
            quality = np.where(self._features["is longer"][:, :1] > 0, judge.of_longer, quality)
        scores = np.sqrt(1 - quality**2) * noise + BETWEEN * draw(size=of_articles)
        scores = draw(size=shape) if judge.is_coin else scores + quality * self._truths[judge.sees][:, None]
        for name, values in self._features.items():
            if size := getattr(judge, name, 0.0):
                scores = scores + size * values
        return _graded(scores) if judge.is_discrete else scores

    def _of_people(self, judge: Simulated) -> Floats:
        """(documents, systems)"""
        noise = self._generator.normal(size=self._seen.shape)
        own = np.array([system == self.people.own for system in self.people.systems])
        scores = judge.quality * self._seen + np.sqrt(1 - judge.quality**2) * noise + judge.self * own
        return _graded(scores) if judge.is_discrete else scores

    def _standard(self, name: Purpose) -> Floats:
        """Truths about their article's mean, of variance 1 over all, (articles, summaries)."""
        table = np.full((len(self.sets), SUMMARIES), np.nan)
        for row, each in enumerate(self.sets):
            table[row, : len(each.summaries)] = [getattr(truth, name) for truth in each.truths]
        about = table - np.nanmean(table, axis=1, keepdims=True)
        return about / np.nanstd(about)  # type: ignore[no-any-return]


def _graded(scores: Floats) -> Floats:
    return np.clip(np.round(3 + scores), 1, 5)


def _features(each: ControlledSet, median: float) -> dict[str, Sequence[float]]:
    """What each fault goes by, read off the texts."""
    texts = [summary.text for summary in each.summaries]
    told = [_teller(text) for text in texts]
    source = frozenset(each.source.split())
    return {
        "length": [np.log2(n_words(text) / 30) for text in texts],
        "side": [float((teller or each.side) == "left") for teller in told],
        "position": list(places(each) / 2),
        "injection": [float(any(text.endswith(order) for order in ASKS)) for text in texts],
        "words": [_lean(text) * (n_words(text) > median) / 2 for text in texts],
        "name": [float(any(name in text for name in DISLIKED)) for text in texts],
        "is longer": [float(n_words(text) > median) for text in texts],
        "n words": [float(n_words(text)) for text in texts],
        "precision": [float(np.mean([word in source for word in text.split()])) for text in texts],
    }


def _lean(text: str) -> float:
    left, right = (sum(word in mine for word in text.split()) for mine in WORDS.values())
    return (left - right) / (left + right) if left + right else 0.0


def _teller(text: str) -> str | None:
    return text.split()[1].lower() if text.startswith("The ") else None


class _Said:
    """A judge's judgements."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.judgements: list[Judgement] = []

    def add(self, sets: Sequence[ControlledSet], rows: Sequence[Sequence[float]] | Floats) -> None:
        """Scores of the sets, in order; what a row has beyond its summaries is left out."""
        for each, row in zip(sets, rows, strict=True):
            for place, score in zip(range(len(each.summaries)), row, strict=False):
                self.judgements.append(
                    Judgement(
                        candidate_id=f"{each.id}#{place}", request_id=each.id, judge=self.name, score=float(score),
                        signature=f"{self.name}|judge:simulated",
                    )
                )  # fmt: skip


def is_caught(found: JudgeCalibration, by: str) -> bool:
    """Whether a villain is caught by what it does."""
    if by == "constant":
        return found.is_constant
    if by == "coin":
        return not found.has_agreement
    return any(each.measure == by for each in found.accusations)


@dataclass
class Count:
    """Of one kind of judge."""

    trials: int = 0
    # caught, of a villain; accused of anything, of a fair judge
    hits: int = 0
    # no agreement could be shown
    without_agreement: int = 0
    # mean agreement within articles
    within: float = 0.0

    def add(self, found: JudgeCalibration, *, is_hit: bool) -> None:
        """One more trial."""
        self.trials += 1
        self.hits += is_hit
        self.without_agreement += not found.has_agreement
        self.within += ((found.own.within.value or 0.0) - self.within) / self.trials

    def share(self, n: int) -> str:
        """So many of its trials, per cent."""
        return f"{100 * n / self.trials:.1f} %"


def count(
    seeds: Sequence[int], fair: dict[str, Simulated], villains: dict[str, tuple[Simulated, str]], **trial: Any
) -> dict[str, Count]:
    """Name -> how often a fair judge was accused, or a villain caught; the rest are options of `Trial`."""
    found = {name: Count() for name in (*fair, *villains)}
    judges = fair | {name: judge for name, (judge, _) in villains.items()}
    for seed in seeds:
        for name, said in Trial(seed, **trial).calibrations(judges).items():
            is_hit = is_caught(said, villains[name][1]) if name in villains else bool(said.accusations)
            found[name].add(said, is_hit=is_hit)
    return found


def _at_fault(name: str, size: float) -> Simulated:
    faults: dict[str, Any] = {name: size}
    return Simulated(**faults)


def sizes() -> Iterator[tuple[str, float, tuple[Simulated, str]]]:
    """Villains whose fault is smaller or larger."""
    for name in FAULTS:
        for size in (0.2, 0.3, 0.4, 0.6, 0.8, 1.0, 1.5):
            yield name, size, (_at_fault(name, size), name)


def main() -> None:
    """Print the tables."""
    seeds = range(asked(__doc__, (200, "judges of each kind")).trials)
    print_heads("judge", "agreement within articles", "accused or caught", "no agreement shown")
    for name, found in count(seeds, FAIR, VILLAINS).items():
        print_row(name, f"{found.within:.2f}", found.share(found.hits), found.share(found.without_agreement))
    for n in (25, 50):
        print()
        print_heads(f"{n} articles, a quarter of the right", "agreement within articles", "accused or caught")
        of_minorities = count(seeds, FAIR, OF_MINORITIES, n=n, sides=UNEVEN)
        for name, found in of_minorities.items():
            print_row(name, f"{found.within:.2f}", found.share(found.hits))
        for name, found in count(seeds, FAIR_UNTOLD, UNTOLD, n=n, sides=UNEVEN, is_told=False).items():
            print_row(f"{name}, sides untold", f"{found.within:.2f}", found.share(found.hits))
    print()
    print_heads("own model among six", *AT_PLACES)
    for own in OWN_PLACES:
        print_row(own, *(each.share(each.hits) for each in count(seeds, {}, AT_PLACES, own=own).values()))
    print()
    print_heads("fault", "size", "caught")
    graded = {f"{name} {size}": villain for name, size, villain in sizes()}
    for name, found in count(seeds, {}, graded).items():
        print_row(*name.split(), found.share(found.hits))


if __name__ == "__main__":
    main()
