"""The stage that judges: requests and candidates in, judgements out.

Candidates go to the judges in fixed batches of requests. Judges that ask one language model are asked together, so that a
document is run once for all of its rubrics and candidates; every other judge is asked alone. What came of a batch is one line of
the journal, so an interrupted run redoes only the batch that was in flight, and in the same company. Judges on one model follow
each other batch by batch. Where there are several models, or several engines of one, each is loaded by a process of its own
(`replicas`); one whose verdicts are all in the cache is never loaded.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from operator import not_
from pathlib import Path
from typing import Any

from pydantic import Field

from ..errors import LeftOutError
from ..generate.backend import ANOTHER_MODEL, READ_IN_PART, Usage
from ..records import Judgement, LeftOut, Record, SummaryRequest
from ..runfolder.files import refuse_absent, with_candidates
from ..runfolder.journal import Journal
from ..runfolder.phases import CANDIDATES, JUDGEMENTS, REQUESTS, Phase
from ..runfolder.progress import Progress, progress_path
from ..runfolder.shards import WHOLE, Shard, refuse_servers, shard_folder
from ..runfolder.spending import spending
from ..runfolder.stages import Counts, Receipt, Stage, left_by
from ..runfolder.strays import begin_shard, say_strays
from ..storage import whole_file, write_record
from ..text.mistakes import listed
from . import open_judges
from .asking import AskingJudge, by_model
from .batch import JudgedBatch
from .cache import VerdictCache
from .journals import Told, done_by
from .judge import Judge
from .open_work import Done, batches_of, judge_open, keep_last, of_others, size_of
from .overflow import was_cut
from .replicas import judge_apart, teams_of
from .rubric import was_greedy, was_guided


class Prefill(Record):
    """Prompt tokens of one language model, and how many of them were run."""

    prompt_tokens: int
    prefilled_tokens: int
    prefix_cache_hit_rate: float


class JudgeCounts(Counts):
    """What the receipt says of the judgements, by judge where it is not of the candidates."""

    candidates: int
    scored: dict[str, int]
    # scores that rest on a source cut to fit the judge's model
    cut: dict[str, int] = Field(default_factory=dict, exclude_if=not_)
    # scores that are the grade that was written, where the expected one was asked for and a server gave no probabilities
    greedy: dict[str, int] = Field(default_factory=dict, exclude_if=not_)
    # scores of chats whose answers a server held to the grades
    guided: dict[str, int] = Field(default_factory=dict, exclude_if=not_)
    # False of those that ask a server, which promises nothing of its seeds; the others are absent
    repeatable: dict[str, bool] = Field(default_factory=dict, exclude_if=not_)
    # distinct inputs whose verdict came from the cache
    cached: dict[str, int]
    signatures: dict[str, str]
    # what a user should be told of the scores
    cautions: tuple[str, ...] = Field(default=(), exclude_if=not_)
    left_out: tuple[LeftOut, ...]
    # by model
    prefill: dict[str, Prefill] = Field(default_factory=dict, exclude_if=not_)


def judge(phase: Phase) -> tuple[Receipt, bool]:
    """Judge the candidates of a phase by all of its judges; the receipt, and whether the judgements were there already.

    Raises:
        DataError: the candidates are not there yet, or do not belong to the requests.
        LeftOutError: a judge left more unscored than limits.unscored allows; the file is written all the same.
    """
    judges = open_judges({name: phase.recipe.judges[name] for name in phase.judges})
    receipt, reused = judge_by(phase, judges, is_isolated=True)
    refuse_unscored(phase, receipt)
    return receipt, reused


def judge_by(phase: Phase, judges: Sequence[Judge], *, is_isolated: bool = False) -> tuple[Receipt, bool]:
    """Judge the candidates of a phase by these judges, however many they leave unscored.

    Args:
        phase: its candidates are judged.
        judges: all of its judges.
        is_isolated: whether judges on different models run in processes of their own, which open them anew: they must be the
            recipe's, and the resolved recipe must lie in the run folder.
    """
    stage = judge_stage(phase, judges)
    if (done := stage.finished()) is not None:
        return done, True
    with stage.begun() as end:
        with spending(phase.recipe.output, phase.recipe.limits.cost):
            place = _finish(phase, stage, judges, apart=is_isolated)
        return end(_write(phase, judges, Told(stage.journals(JudgedBatch), place))), False


def judge_stage(phase: Phase, judges: Sequence[Judge]) -> Stage:
    """The stage, with everything its judgements depend on.

    Raises:
        DataError: the candidates are not there yet, or not what was generated.
    """
    refuse_absent(phase, {REQUESTS: "generate", CANDIDATES: "generate"})
    generated = left_by("generate", phase.folder, REQUESTS, CANDIDATES)
    inputs: dict[str, Any] = {
        "requests": generated[REQUESTS],
        "candidates": generated[CANDIDATES],
        "judges": [[judge.name, judge.signature] for judge in judges],
    }
    if phase.copies:
        inputs["of_copies"] = phase.recipe.pairs.judge
    return Stage("judge", phase.folder, inputs, (JUDGEMENTS,))


def judge_shard(phase: Phase, shard: Shard) -> bool:
    """Judge a shard of a phase's candidates by all of its judges, into journals; False when the whole stage is done already.

    Raises:
        DataError: the candidates are not there yet, or do not belong to the requests.
        RecipeError: a server is asked, or shards that were begun are cut into other batches.
    """
    models_by_judge = [phase.recipe.judges[name].language_models for name in phase.judges]
    refuse_servers([model.backend for models in models_by_judge for model in models.values()])
    judges = open_judges({name: phase.recipe.judges[name] for name in phase.judges})
    stage = judge_stage(phase, judges)
    if stage.receipt() is not None:
        return False
    _finish(phase, stage, judges, apart=True, shard=shard)
    return True


def not_judged(phase: Phase) -> dict[str, int]:
    """Judge -> how many requests it has not judged, so far as the journals of all processes tell; only where there are any."""
    judges = open_judges({name: phase.recipe.judges[name] for name in phase.judges})
    done = done_by(judge_stage(phase, judges).journals(JudgedBatch))
    n_open: Counter[str] = Counter()
    for request, candidates in with_candidates(phase.folder):
        n_open.update(
            name
            for name in phase.judges
            if request.id not in done[name] and any(phase.is_judged(candidate, name) for candidate in candidates)
        )
    return dict(n_open)


def _write(phase: Phase, judges: Sequence[Judge], results: Told) -> JudgeCounts:
    """Write the stage's file of what the journals tell; what it holds."""
    counts = _JudgingCounts(judges)
    with whole_file(phase.folder / JUDGEMENTS) as file:
        for request, candidate in (pair for batch in batches_of(phase, 1) for pair in batch):
            counts.n_candidates += 1
            for each in judges:
                if phase.is_judged(candidate, each.name):
                    judgement = results.judgement(each.name, candidate.id)
                    counts.add(request, judgement)
                    write_record(file, judgement)
    return counts.total(results, [name for name in phase.judges if _asks_server(phase, name)])


def _asks_server(phase: Phase, name: str) -> bool:
    return any(model.backend.server for model in phase.recipe.judges[name].language_models.values())


def _finish(
    phase: Phase, stage: Stage, judges: Sequence[Judge], *, apart: bool, shard: Shard = WHOLE
) -> dict[str, int]:
    """Put what the journals lack into them, of the whole stage or of a shard; the place of each request among all."""
    groups = by_model(judges)
    teams = teams_of(phase, groups) if apart else []
    journals = stage.journals(JudgedBatch, shard)
    done_elsewhere, done = of_others(phase, groups, shard), done_by(journals)
    if shard.name:
        sections = [f"judges.{each.name}" for each in judges]
        has_others = any(done[name] & ids for name, ids in done_elsewhere.items())
        begin_shard(phase, stage, shard, sections=sections, has_others=has_others)
    # all mistakes are found before the first judge is asked
    path = progress_path(shard_folder(phase.recipe.output, shard) / phase.name, stage.name)
    progress, place = _progress(phase, path, judges, done, done_elsewhere)
    if not shard.name and any(progress.is_open(each.name) for each in judges):
        say_strays(phase, stage)
    for name, ids in done_elsewhere.items():
        done[name] |= ids
    with closing(VerdictCache()) as cache:
        keep_last(phase, journals, judges, cache)
        journal = Journal(stage.journal_path(shard.part()), JudgedBatch)
        elsewhere = [team.judges for team in teams]
        for group in groups:
            # to look for what is open is to read all candidates
            if group not in elsewhere and any(progress.is_open(each.name) for each in group):
                for new in judge_open(phase, group, batches_of(phase, size_of(group)), done, cache, journal):
                    for name, n in new.items():
                        progress.add(n, name)
    judge_apart(phase, stage, teams, done, progress, shard)
    return place


def _progress(
    phase: Phase, path: Path, judges: Sequence[Judge], done: Done, done_elsewhere: Done
) -> tuple[Progress, dict[str, int]]:
    """What each judge has judged, of how much that is not others'; and the place of each request among all."""
    n_total: Counter[str] = Counter({each.name: 0 for each in judges})
    n_done: Counter[str] = Counter()
    place: dict[str, int] = {}
    for request, candidates in with_candidates(phase.folder):
        place[request.id] = len(place)
        for name in n_total:
            n = sum(phase.is_judged(candidate, name) for candidate in candidates) * (
                request.id not in done_elsewhere[name]
            )
            n_total[name] += n
            n_done[name] += n * (request.id in done[name])
    return Progress(path, "judgements", n_total, n_done), place


class _JudgingCounts:
    """Counts of the judgements."""

    def __init__(self, judges: Sequence[Judge]) -> None:
        self._judges = judges
        self.n_candidates = 0
        self._unscored: Counter[tuple[str, str, str]] = Counter()
        self._scored: Counter[str] = Counter()
        self._cut: Counter[str] = Counter()
        self._greedy: Counter[str] = Counter()
        self._guided: Counter[str] = Counter()

    def add(self, request: SummaryRequest, judgement: Judgement) -> None:
        """Count a judgement."""
        name = judgement.judge
        if judgement.unscored:
            self._unscored[name, request.side, f"{name}: {judgement.unscored}"] += 1
        self._scored[name] += judgement.score is not None
        self._cut[name] += was_cut(judgement.raw)
        self._greedy[name] += judgement.score is not None and was_greedy(judgement.raw)
        self._guided[name] += judgement.score is not None and was_guided(judgement.raw)

    def total(self, results: Told, on_servers: Sequence[str]) -> JudgeCounts:
        """All counts, with those of the journal, and which judges ask servers."""
        return JudgeCounts(
            candidates=self.n_candidates,
            scored={each.name: self._scored[each.name] for each in self._judges},
            cut={name: count for name, count in self._cut.items() if count},
            greedy={name: count for name, count in self._greedy.items() if count},
            guided={name: count for name, count in self._guided.items() if count},
            repeatable=dict.fromkeys(on_servers, False),
            cached={each.name: results.cached[each.name] for each in self._judges},
            signatures={each.name: each.signature for each in self._judges},
            cautions=tuple(self._cautions(results)),
            left_out=LeftOut.rows(("judge", "side", "reason"), self._unscored, stage="judge", what="judgement"),
            prefill=_prefill(self._judges, results.used),
        )

    def _cautions(self, results: Told) -> Iterator[str]:
        if n := sum(used.partial_prompts for used in results.used.values()):
            yield f"{n} grades rest on prompts that the server {READ_IN_PART}"
        other_models = sum((used.other_models for used in results.used.values()), Counter[str]())
        for name, n in sorted(other_models.items()):
            yield f"{n} grades are of {name!r}, {ANOTHER_MODEL}"
        for name, n in self._greedy.items():
            if n:
                yield (
                    f"{n} of {self._scored[name]} grades of {name} are whole ones, as they were written: the server gave no "
                    "probabilities to make expected grades of"
                )


def _prefill(judges: Sequence[Judge], used_by: Mapping[tuple[str, ...], Usage]) -> dict[str, Prefill]:
    """Prompt tokens of each language model and how many of them were run, over all processes that worked at the stage."""
    usage: dict[str, Usage] = {}
    model_of = {each.name: each.model for each in judges if isinstance(each, AskingJudge)}
    for names, used in used_by.items():
        for model in {model_of[name] for name in names if name in model_of}:
            usage.setdefault(model, Usage()).add(used.prompt_tokens, used.prefilled_tokens)
    return {
        model: Prefill(
            prompt_tokens=used.prompt_tokens,
            prefilled_tokens=used.prefilled_tokens,
            prefix_cache_hit_rate=round(used.hit_rate, 4),
        )
        for model, used in usage.items()
        if used.hit_rate is not None
    }


def refuse_unscored(phase: Phase, receipt: Receipt) -> None:
    """Refuse to go on when a judge left too much unscored.

    Raises:
        LeftOutError: the share of a judge exceeds limits.unscored; all such judges are listed with their reasons.
    """
    limit = phase.recipe.limits.unscored
    mistakes, again = [], ""
    counts = receipt.counted(JudgeCounts)
    for name, scored in counts.scored.items():
        rows = [row for row in counts.left_out if row.judge == name]
        unscored = sum(row.count for row in rows)
        if unscored <= limit * (scored + unscored):
            continue
        reasons = ", ".join(f"{row.reason} ({row.side} {row.count})" for row in rows)
        models = phase.recipe.judges[name].language_models.values()
        if cache := next(filter(None, (model.backend.traits.cache for model in models)), None):
            again = (
                f". What servers answered stays in {cache.path}, and they are asked again only when it is forgotten: "
                "`evenhand cache --clear` forgets all answers and judgements, EVENHAND_CACHE=FOLDER uses another cache"
            )
        mistakes.append(f"{unscored} of {scored + unscored} candidates are unscored: {reasons}")
    if mistakes:
        raise LeftOutError(
            f"{phase.folder / JUDGEMENTS}: more is unscored than limits.unscored {limit} allows\n{listed(mistakes)}\n"
            "the file is written and names each reason; mend the judge, or raise limits.unscored; to ask the same judge again, "
            f"delete {phase.folder / 'receipts' / 'judge.json'}{again}"
        )
