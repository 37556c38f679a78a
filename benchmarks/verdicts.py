"""How often pages see a difference where there is none, of few document sets.

    python -m evenhand.benchmarks.verdicts --trials 200

makes the table "Verdicts" of benchmarks/RESULTS.md. A report is of systems whose scores come from one distribution, scores
of a set being alike and judges agreeing in part. A comparison is of three entries of equal candidates, of which the reward
knows nothing that judges do. An audit is of two systems that both draw sentences at random; a bias study is of the simulated
summarizer "random", which does the same, on some of the sample documents.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np

from ..config import Recipe
from ..evaluation.audit.conclusions import conclude
from ..evaluation.audit.plan import AuditPlan
from ..evaluation.pages.words import UNSURE
from ..evaluation.report.checkpoint.evidence import evidence_of
from ..evaluation.report.checkpoint.findings import TRAINING, TRAINING_BEST, Evidence
from ..evaluation.report.comparison.build import build_comparison
from ..evaluation.report.comparison.contents import Comparison, Cost
from ..evaluation.report.comparison.entries import NEARNESS, Entry
from ..evaluation.report.systems.compare import Comparer
from ..evaluation.report.systems.contents import JudgeNote
from ..evaluation.report.systems.ranked import Ranked
from ..evaluation.report.systems.systems import TRAIT, WORDS, PolicyOutput, RequestOutline
from ..plugins.bias.recipe import BiasRecipe
from ..plugins.bias.study.evidence import gather
from ..plugins.bias.study.findings import describe
from ..plugins.bias.study.inputs import make_inputs
from ..plugins.bias.study.measure import take_measures
from ..plugins.bias.study.persons import FoundPersons, known_persons
from ..plugins.bias.study.summarise import Summary, summary_seed
from ..plugins.bias.study.summarizer import simulate
from ..resampling import LEAST_SETS, Bootstrap, Floats
from ..runfolder.phases import open_phase
from .calibration import Corpus, drawn_sets, items, measured, shares
from .simulate import asked, print_heads, print_row

HEADS = (
    "report: any difference", "each test at 5 %", "training, where only reranking differs",
    "training by half a deviation, found",
    "comparison: any difference", "between entries, where only reranking differs", "a better entry, found", "audit", "bias study",
)  # fmt: skip
KIND_HEADS = (
    "equal: headline", "equal: anything", "each test at 5 %", "better by half a deviation: headline", "anything",
)  # fmt: skip
# sample documents
N_SAMPLE = 12
SIDES = ("left", "right")
# judges, systems, sets, sides
Shape = tuple[int, int, int, int]
Random = np.random.Generator
Scores = Callable[[Random, Shape, float, float], Floats]
SYSTEMS = ("zero-shot", "rerank", "DPO", "DPO+RR")
JUDGES = [JudgeNote(name=name, signature="", role="report", better="higher") for name in ("a", "b", "c", "d")]
# no verdict rests on draws of intervals
PLAN = Bootstrap(resamples=100)
# of a comparison: entries, candidates of a request, and the judge that chooses among them
ENTRIES, N_CANDIDATES, REWARD = ("first", "second", "third"), 3, "fit"
RECIPE = {
    "name": "equal entries", "output": "equal-entries", "rounds": 0, "model": {"name": "none"},
    "generate": {"backend": "scripted", "plans": {"nucleus": {"candidates": N_CANDIDATES}}},
    # of equal options they would be one judge
    "judges": {
        name: {"kind": "rouge", "type": kind, "measure": measure}
        for name, (kind, measure) in zip(
            (*(judge.name for judge in JUDGES), REWARD), product(("rouge1", "rouge2", "rougeL"), ("recall", "precision")),
            strict=False,
        )
    },
    "reward": {"judges": [REWARD]},
    "evaluation": {"judges": [judge.name for judge in JUDGES], "resamples": PLAN.resamples},
}  # fmt: skip


def asked_of(n_sets: int) -> list[RequestOutline]:
    """A request for each side of every set."""
    return [RequestOutline(f"{k}/{side}", str(k), side, (None, None), "") for k in range(n_sets) for side in SIDES]


def report(n_sets: int, seed: int, gain: float = 0.0, reranked: float = 0.0, kind: str = "skewed sums") -> Evidence:
    """What a report says of equal systems.

    Args:
        n_sets: document sets.
        seed: of the scores.
        gain: by how many standard deviations training raises every score, before it becomes a grade.
        reranked: by how many reranking does.
        kind: of the scores, see `KINDS`.
    """
    generator = np.random.default_rng([n_sets, seed])
    requests = asked_of(n_sets)
    values = KINDS[kind](generator, (len(JUDGES), len(SYSTEMS), n_sets, len(SIDES)), gain, reranked)
    scores = {
        judge.name: {system: values[j, s].ravel().tolist() for s, system in enumerate(SYSTEMS)}
        for j, judge in enumerate(JUDGES)
    }
    return evidence_of(Comparer(requests, PLAN), JUDGES, scores, 9)


def raised(values: Floats, gain: float, reranked: float) -> Floats:
    """The scores with what training and reranking add, in standard deviations."""
    deviation = values.std()
    values[:, 2:] += gain * deviation
    values[:, 1::2] += reranked * deviation
    return values


def skewed_sums(generator: Random, shape: Shape, gain: float, reranked: float) -> Floats:
    """Normal by set, and exponential by judge."""
    of_set = generator.normal(size=(shape[1], shape[2], 1))
    return raised(of_set + generator.exponential(size=shape), gain, reranked)


def graded(
    cuts: Sequence[float] | None, of_topic: float = 0.7, of_system: float = 0.0, *, has_tails: bool = False
) -> Scores:
    """Grades of 1 to 5 by where the cuts are, in deviations of what they are of; without cuts the numbers themselves.

    Args:
        cuts: four of them, ascending.
        of_topic: how much all systems share in a set.
        of_system: how much both sides of a set share under one system.
        has_tails: whether some scores are far away.
    """

    def scores(generator: Random, shape: Shape, gain: float, reranked: float) -> Floats:
        _, systems, n_sets, sides = shape
        found = of_topic * generator.normal(size=(1, 1, n_sets, 1)) + of_system * generator.normal(
            size=(systems, n_sets, 1)
        )
        found = found + 0.7 * generator.normal(size=(systems, n_sets, sides)) + 0.7 * generator.normal(size=shape)
        found = raised(found + (0.3 * generator.standard_t(2, size=shape) if has_tails else 0.0), gain, reranked)
        return found if cuts is None else 1.0 + (found[..., None] > np.array(cuts) * found.std()).sum(axis=-1)

    return scores


KINDS: dict[str, Scores] = {
    "skewed sums": skewed_sums,
    "grades": graded((-1.2, -0.4, 0.4, 1.2)),
    "skewed grades": graded((-2.4, -1.6, -0.8, 0.0)),
    "many ties": graded((-3.0, -2.5, -2.0, 0.9)),
    "clustered": graded((-1.2, -0.4, 0.4, 1.2), of_system=1.2),
    "heavy tails": graded(None, has_tails=True),
}


def headline_is_clear(found: Evidence) -> bool:
    """Whether a judge that decides sees what training does."""
    told = (each for each in found.differences if (each.pair, each.side) == (TRAINING, None))
    return any(each.is_clear for each in told)


def clear_in_report(found: Evidence) -> bool:
    """Whether a sentence says that systems differ, that a side gains more, or that one is behind."""
    return any(each.is_clear for each in (*found.differences, *found.gain_gaps, *found.score_gaps))


def clear_of_training(found: Evidence) -> bool:
    """Whether a sentence says that training makes a difference."""
    told = (*found.differences, *found.gain_gaps)
    return any(each.is_clear for each in told if each.pair in (TRAINING, TRAINING_BEST))


def clear_alone(found: Evidence) -> bool:
    """Whether one would, were each test at 5 %."""
    tested = (*found.differences, *found.gain_gaps, *found.score_gaps)
    return any(each.p_value is not None and each.p_value <= 1 - PLAN.level for each in tested)


def comparison(n_sets: int, seed: int, gain: float = 0.0, reranked: float = 0.0) -> Comparison:
    """What a comparison says of equal entries, whose judges' scores are of the set, the request and the candidate.

    Args:
        n_sets: document sets.
        seed: of the scores.
        gain: of the last entry, in standard deviations of what is a candidate's own.
        reranked: how much of the reward's scores is in the judges' own.
    """
    generator = np.random.default_rng([n_sets, seed])
    recipe, requests = Recipe.model_validate(RECIPE), tuple(asked_of(n_sets))
    length = TRAIT + WORDS
    names = [*recipe.judges, length, TRAIT + NEARNESS]
    of_request = generator.normal(size=(len(names), n_sets, 1, 1)) + generator.normal(size=(len(names), n_sets, 2, 1))
    entries = []
    for label in ENTRIES:
        own = generator.exponential(size=(len(names), n_sets, len(SIDES), N_CANDIDATES))
        scores = of_request + generator.normal(size=(len(names), n_sets, len(SIDES), 1)) + own
        scores += gain * (label == ENTRIES[-1])
        columns = dict(zip(names, scores.reshape(len(names), len(requests), N_CANDIDATES), strict=True))
        columns |= {judge.name: columns[judge.name] + reranked * columns[REWARD] for judge in JUDGES}
        columns[length] = 20 + np.round(columns[length])
        index = np.tile(np.arange(N_CANDIDATES, dtype=float), (len(requests), 1))
        drawn = Ranked(np.full(len(requests), N_CANDIDATES), columns[REWARD], index, columns, {})
        output = PolicyOutput(
            label, open_phase(recipe, "evaluation/base"), requests, drawn.ranked_by(columns[REWARD]),
            model="none", candidates="", signatures={name: name for name in recipe.judges},
        )  # fmt: skip
        entries.append(Entry(label, output, Cost(label=label, calls=1, tokens=1, prefilled=None), label))
    return build_comparison(entries)


def clear_in_comparison(found: Comparison) -> bool:
    """Whether anything is said to be better: between entries, of a choice by reward, or for the worst side."""
    told = (*found.tests, *found.baselines)
    return any(each.is_clear for each in told) or any(each.choice for each in found.worst_sides)


def clear_between_entries(found: Comparison) -> bool:
    """Whether an entry is said to be better than another at the same number of candidates."""
    return any(each.is_clear for each in found.tests if each.k == each.reference_k)


def names_the_better(found: Comparison) -> bool:
    """Whether the headline does."""
    return f"{ENTRIES[-1]} better" in found.title


def differs_in_audit(n_sets: int, seed: int) -> bool:
    """Whether an audit tells two fair systems apart, by a vote or in its table of differences."""
    generator = np.random.default_rng([n_sets, seed])
    corpus = Corpus((5, 2, 1), n_sets, 0.3)
    family, documents = shares(corpus.values), drawn_sets(corpus, generator)
    one, other = (items(corpus, documents, generator) for _ in "ab")
    both = [measured(family, other, "reference"), measured(family, one)]
    found = conclude(both, ["reference", "system"], AuditPlan(bootstrap=PLAN, least_group=LEAST_SETS))
    told = {each.verdict for each in found.differences} | {each.verdict for each in found.votes}
    return bool(told - {UNSURE, "not measured", "too few sets"})


def leans_in_bias_study(n_documents: int, seed: int) -> bool:
    """Whether a bias study of random sentences says that anything leans."""
    recipe = BiasRecipe.model_validate(
        {"name": "study", "output": Path("study"), "seed": seed, "inputs": {"assignments": 2}, "simulated": "random"}
        | {"measures": {"persons": "known", "encoder": None, "resamples": 100}}
    )
    inputs = make_inputs(recipe)
    ids = [each.doc_id for each in inputs.documents]
    chosen = set(np.random.default_rng(seed).choice(ids, n_documents, replace=False).tolist())
    drawn = tuple(each for each in inputs.inputs if each.original_id in chosen)
    summaries = []
    for each in drawn:
        text = simulate("random", each.text, summary_seed(recipe, each))
        summaries.append(Summary(input_id=each.id, text=text, reason=None, raw=text))
    persons = {
        each.id: FoundPersons(
            input_id=each.id,
            in_summary=known_persons(made.text or "", tuple(each.entities.values())),
            in_input=known_persons(each.text, tuple(each.entities.values())),
        )
        for each, made in zip(drawn, summaries, strict=True)
    }
    evidence = gather(replace(inputs, inputs=drawn), recipe.inputs.setting, summaries, persons)
    found = describe(take_measures(recipe, evidence), evidence.groups, recipe.measures.level)
    return any(measure.verdict == "leans" for measure in found)


def said(n: int, trials: int) -> list[str]:
    """Of so many trials with n sets those in which something is said, per cent, below `HEADS`."""
    equal = [report(n, seed) for seed in range(trials)]
    entries = [comparison(n, seed) for seed in range(trials)]
    found = (
        [clear_in_report(each) for each in equal],
        [clear_alone(each) for each in equal],
        [clear_of_training(report(n, seed, reranked=3.0)) for seed in range(trials)],
        [clear_of_training(report(n, seed, 0.5)) for seed in range(trials)],
        [clear_in_comparison(each) for each in entries],
        [clear_between_entries(comparison(n, seed, reranked=3.0)) for seed in range(trials)],
        [names_the_better(comparison(n, seed, 0.6)) for seed in range(trials)],
        [differs_in_audit(n, seed) for seed in range(trials)],
        [leans_in_bias_study(n, seed) for seed in range(trials if n <= N_SAMPLE else 0)],
    )
    return [f"{100 * sum(each) / len(each):.1f}" if each else "" for each in found]


def said_of_kind(n: int, kind: str, trials: int) -> list[str]:
    """Of reports of such scores, per cent, below `KIND_HEADS`."""
    equal = [report(n, seed, kind=kind) for seed in range(trials)]
    better = [report(n, seed, 0.5, kind=kind) for seed in range(trials)]
    found = (
        map(headline_is_clear, equal), map(clear_in_report, equal), map(clear_alone, equal), map(headline_is_clear, better),
        map(clear_in_report, better),
    )  # fmt: skip
    return [f"{100 * sum(each) / trials:.1f}" for each in found]


def main() -> None:
    """Print the table."""
    given = asked(__doc__, (200, "pages of each kind"), ([4, 5, 6, 8, 12, 30], "document sets of a page"))
    print_heads("sets", "scores", *KIND_HEADS)
    for n, kind in product(given.sets, KINDS):
        print_row(n, kind, *said_of_kind(n, kind, given.trials))
    print_heads("sets", *HEADS)
    for n in given.sets:
        print_row(n, *said(n, given.trials))


if __name__ == "__main__":
    main()
