"""Controlled summaries before judges: what each judge says of each summary.

Scores come from the cache where it has them and are kept there batch by batch, so an interrupted benchmark goes on where it
stopped. Judges on one model follow each other, and a model is closed before the next is loaded.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, closing

from tqdm import tqdm

from ...config import JudgeOptions, RougeJudge, RuleJudge
from ...corpora.controlled import ControlledSet
from ...errors import RecipeError
from ...judges.cache import Judged, VerdictCache, cache_path
from ...judges.judge import Against, Judge, JudgeInput, Verdict
from ...records import Judgement

LENGTH = "length"
# what every table shows beside the judges that are asked for: measures that need no model
BASELINES: dict[str, JudgeOptions] = {
    LENGTH: RuleJudge(kind="length"),
    **{
        f"{kind}-{measure}": RougeJudge.model_validate({"kind": "rouge", "type": kind, "measure": measure})
        for kind in ("rouge1", "rouge2", "rougeL")
        for measure in ("recall", "precision")
    },
}


def with_baselines(options: Mapping[str, JudgeOptions]) -> dict[str, JudgeOptions]:
    """The judges asked for, and the baselines after them.

    Raises:
        RecipeError: a judge has a baseline's name and is another judge.
    """
    taken = [name for name in options if options[name] != BASELINES.get(name, options[name])]
    if taken:
        raise RecipeError(f"judge {taken[0]!r} has the name of a baseline that is always shown; give it another name")
    return {**options, **BASELINES}


def has_nothing_to_judge(options: JudgeOptions) -> str | None:
    """Why a judge cannot be tried on controlled summaries; None when it can."""
    if options.kind == "contract":
        return "controlled summaries have no output contract"
    return "controlled sets have no documents of other sides" if options.against == "opposing" else None


def judge_sets(judges: Sequence[Judge], sets: Sequence[ControlledSet]) -> list[Judgement]:
    """A judgement of every summary by every judge, judge by judge, in the order of the sets."""
    found: dict[str, list[Judgement]] = {}
    n_summaries = sum(len(each.summaries) for each in sets)
    with (
        closing(VerdictCache(cache_path())) as cache,
        tqdm(total=len(judges) * n_summaries, unit="judgement", disable=None) as bar,
    ):
        for group in _by_model(judges):
            with ExitStack() as models:
                for judge in group:
                    models.callback(judge.close)
                for judge in group:
                    found[judge.name] = list(_judged(judge, sets, cache, bar))
    return [judgement for judge in judges for judgement in found[judge.name]]


def _by_model(judges: Sequence[Judge]) -> Iterable[list[Judge]]:
    groups: dict[str, list[Judge]] = {}
    for judge in judges:
        groups.setdefault(judge.loads or judge.name, []).append(judge)
    return groups.values()


def _judged(judge: Judge, sets: Sequence[ControlledSet], cache: VerdictCache, bar: tqdm) -> Iterable[Judgement]:
    for start in range(0, len(sets), judge.requests_per_batch):
        inputs = [
            each for one in sets[start : start + judge.requests_per_batch] for each in _inputs(judge.against, one)
        ]
        for each, verdict in zip(inputs, _verdicts(judge, inputs, cache), strict=True):
            yield Judgement(
                candidate_id=each.candidate_id,
                request_id=each.request_id,
                judge=judge.name,
                signature=judge.signature,
                score=verdict.score,
                unscored=verdict.unscored,
                raw=verdict.raw,
                attempts=verdict.attempts,
            )
        bar.update(len(inputs))


def _verdicts(judge: Judge, inputs: Sequence[JudgeInput], cache: VerdictCache) -> list[Verdict]:
    """The verdicts, each distinct pair of texts judged once."""
    if judge.against is None:
        return judge.score(inputs)
    distinct: dict[Judged, JudgeInput] = {(each.reference, each.text): each for each in inputs}
    known = {
        judged: Verdict(None, f"no {judge.against} text", attempts=0) for judged in distinct if not judged[0].strip()
    }
    known |= cache.find(judge.signature, [judged for judged in distinct if judged not in known])
    asked = {judged: each for judged, each in distinct.items() if judged not in known}
    fresh = dict(zip(asked, judge.score(list(asked.values())), strict=True)) if asked else {}
    cache.keep(judge.signature, fresh)
    return [(known | fresh)[each.reference, each.text] for each in inputs]


def _inputs(against: Against | None, controlled: ControlledSet) -> list[JudgeInput]:
    texts = {"source": controlled.source, "key_points": "\n".join(controlled.key_points), "opposing": ""}
    reference = texts[against] if against else ""
    return [
        JudgeInput(
            candidate_id=f"{controlled.id}#{place}",
            request_id=controlled.id,
            text=summary.text,
            contract_ok=True,
            reference=reference,
        )
        for place, summary in enumerate(controlled.summaries)
    ]
