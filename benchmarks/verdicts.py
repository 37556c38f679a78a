"""How often pages see a difference where there is none, of few document sets.

    python -m evenhand.benchmarks.verdicts --trials 200

makes the table of docs/run-folder.md#verdicts. A report is of systems whose scores come from one distribution, scores of a set
being alike and judges agreeing in part. An audit is of two systems that both draw sentences at random; a bias study is of the
simulated summarizer "random", which does the same, on some of the sample documents.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

from ..config import BiasRecipe
from ..evaluation.audit.conclusions import conclude
from ..evaluation.audit.plan import AuditPlan
from ..evaluation.bias.findings import describe
from ..evaluation.bias.inputs import make_inputs
from ..evaluation.bias.measure import gather, take_measures
from ..evaluation.bias.persons import FoundPersons, known_persons
from ..evaluation.bias.summarise import Summary, summary_seed
from ..evaluation.bias.summarizer import simulate
from ..evaluation.checkpoint.build import evidence_of
from ..evaluation.checkpoint.findings import TRAINING, TRAINING_BEST, Evidence
from ..evaluation.pages.words import UNSURE
from ..evaluation.systems.compare import Comparer
from ..evaluation.systems.contents import JudgeNote
from ..evaluation.systems.systems import Asked
from ..resampling import LEAST_SETS, Bootstrap
from .calibration import Corpus, drawn_sets, items, measured, shares
from .simulate import asked, print_heads, print_row

HEADS = (
    "report: any difference", "by intervals alone", "training, where only reranking differs", "half a deviation, found",
    "audit", "bias study",
)  # fmt: skip
# sample documents
N_SAMPLE = 12
SIDES = ("left", "right")
SYSTEMS = ("zero-shot", "rerank", "DPO", "DPO+RR")
JUDGES = [JudgeNote(name=name, signature="", role="report", better="higher") for name in ("a", "b", "c", "d")]
PLAN = Bootstrap(resamples=1000)


def report(n_sets: int, seed: int, gain: float = 0.0, reranked: float = 0.0) -> Evidence:
    """What a report says of equal systems.

    Args:
        n_sets: document sets.
        seed: of the scores.
        gain: by how many standard deviations training raises every score.
        reranked: by how many reranking does.
    """
    generator = np.random.default_rng([n_sets, seed])
    requests = [Asked(f"{k}/{side}", str(k), side, (None, None), "") for k in range(n_sets) for side in SIDES]
    of_set = generator.normal(size=(len(SYSTEMS), n_sets, 1))
    of_judge = generator.exponential(size=(len(JUDGES), len(SYSTEMS), n_sets, len(SIDES)))
    values = of_set + of_judge
    deviation = values.std()
    values[:, 2:] += gain * deviation
    values[:, 1::2] += reranked * deviation
    scores = {
        judge.name: {system: values[j, s].ravel().tolist() for s, system in enumerate(SYSTEMS)}
        for j, judge in enumerate(JUDGES)
    }
    return evidence_of(Comparer(requests, PLAN), JUDGES, scores, 9, is_trained=True)


def clear_in_report(found: Evidence) -> bool:
    """Whether a sentence says that systems differ, or that a side gains more."""
    return any(each.verdict != UNSURE for each in (*found.differences, *(gap.gap for gap in found.gain_gaps)))


def clear_of_training(found: Evidence) -> bool:
    """Whether a sentence says that training makes a difference."""
    told = (*found.differences, *(gap.gap for gap in found.gain_gaps))
    return any(each.verdict != UNSURE for each in told if each.subject in (TRAINING, TRAINING_BEST))


def clear_by_interval(found: Evidence) -> bool:
    """Whether one would, did intervals decide alone."""
    told = (*found.differences, *(gap.gap for gap in found.gain_gaps))
    return any(each.low is not None and each.high is not None and not each.low <= 0 <= each.high for each in told)


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
    found = (
        [clear_in_report(each) for each in equal],
        [clear_by_interval(each) for each in equal],
        [clear_of_training(report(n, seed, reranked=3.0)) for seed in range(trials)],
        [clear_in_report(report(n, seed, 0.5)) for seed in range(trials)],
        [differs_in_audit(n, seed) for seed in range(trials)],
        [leans_in_bias_study(n, seed) for seed in range(trials if n <= N_SAMPLE else 0)],
    )
    return [f"{100 * sum(each) / len(each):.1f}" if each else "" for each in found]


def main() -> None:
    """Print the table."""
    given = asked(__doc__, (200, "pages of each kind"), ([4, 5, 6, 8, 12, 30], "document sets of a page"))
    print_heads("sets", *HEADS)
    for n in given.sets:
        print_row(n, *said(n, given.trials))


if __name__ == "__main__":
    main()
