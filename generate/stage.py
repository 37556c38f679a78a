"""The stage that makes candidates: documents in, requests and candidates out.

Requests go to the engine in batches, and a finished batch is one line of the journal; of a method that asks in rounds, so
is each finished round of the batch that is under way. An interrupted run redoes the round that was in flight with the same asks
and the same seeds, so it ends with the same candidates as an undisturbed one. What changes only speed or memory may be changed in
between: requests that are in the journal stay as they are, and the others are cut into batches anew.
"""

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from operator import not_
from pathlib import Path
from typing import Any

from pydantic import Field

from ..config import without_speed
from ..config.generate import METHOD_SECTIONS, options_key
from ..corpora import load_corpus, split_sets
from ..corpora.splits import choose
from ..errors import DataError, LeftOutError
from ..records import REFUSAL, Candidate, Failure, LeftOut, SummaryRequest, Turn, is_none
from ..runfolder.journal import Batches, Journal
from ..runfolder.phases import CANDIDATES, FAILURES, REQUESTS, TURNS, Phase
from ..runfolder.progress import progress_path
from ..runfolder.shards import WHOLE, Shard, refuse_servers, shard_folder
from ..runfolder.spending import spending
from ..runfolder.stages import Counts, Receipt, Stage
from ..runfolder.strays import begin_shard, say_strays
from ..storage import make_folder, whole_file, write_jsonl, write_record
from ..text.digests import digest
from .backend import ANOTHER_MODEL, READ_IN_PART, Backend, Usage
from .backends import NO_MODEL, open_backend_of, signature_of
from .batches import FinishedBatch, JournalContents, JournalLine, batch_name
from .method import AGAIN, Draw, DrawnReply, Job, draw_seed, draws
from .methods import METHODS
from .replicas import generate_apart, is_apart
from .reply_text import THOUGHT, TRAILING
from .requests import Requests, refuse_fixed_documents
from .rounds import KeptRounds
from .step_prompts import step_signatures
from .threads import Made

# what is left out where a request has other answers
ANSWER = "answer"
# which of several answers of a step it is
ON_THE_WAY = re.compile(r"-\d+$")
# issue of what was taken off around a summary -> how a warning begins
CLEANED = {
    THOUGHT: "a train of thought was taken off",
    TRAILING: "text behind the summary's first paragraph or its turn was cut off",
}


class GenerateCounts(Counts):
    """What the receipt says, over all processes that worked at the stage."""

    requests: int
    candidates: int
    # of the candidates that a model wrote
    tokens: int
    # the cost where a candidate is not one ask: all asks and all generated tokens, candidates included; none without a model
    turns: int | None = Field(default=None, exclude_if=is_none)
    turn_tokens: int | None = Field(default=None, exclude_if=is_none)
    # drafts that were drawn again, by reason
    drawn_again: dict[str, int] = Field(default_factory=dict, exclude_if=not_)
    prompt_tokens: int
    prefilled_tokens: int
    prefix_cache_hit_rate: float | None
    # candidates by side
    contract_kept: dict[str, int]
    contract_issues: dict[str, int]
    # issues of candidates by side
    issues_by_side: dict[str, dict[str, int]] = Field(default_factory=dict, exclude_if=not_)
    stopped_by_max_tokens: int
    # answers on the way to a candidate: feedback, critiques, summaries of parts
    steps_stopped_by_max_tokens: int = Field(default=0, exclude_if=not_)
    # False where a server drew them, which promises nothing of its seeds
    repeatable: bool = Field(default=True, exclude_if=bool)
    # warnings
    cautions: tuple[str, ...] = Field(default=(), exclude_if=not_)
    left_out: tuple[LeftOut, ...]


def phase_requests(phase: Phase) -> Requests:
    """The requests of a phase: the split's document sets, each side, drawn down to `sample` where the recipe says so.

    Raises:
        DataError: the corpus is wrong, or sets of one topic stand on both sides of the split.
        RecipeError: as `Requests`, or the method and the prompt template do not go together.
    """
    recipe = phase.recipe
    if recipe.generate.options.lays_out_anew:
        refuse_fixed_documents(recipe.task, recipe.generate.method)
    sets = split_sets(load_corpus(recipe.corpus), recipe.corpus, recipe.seed, trains=recipe.rounds > 0)[phase.split]
    section = phase.split_section
    requests = Requests(choose(sets, section), recipe.corpus, recipe.task)
    if section.sample is None or section.sample >= len(requests):
        return requests
    # every round draws anew, from a generator of its own
    generator = random.Random(digest([recipe.name, recipe.seed, phase.split, phase.round]))  # noqa: S311
    return requests.drawn(sorted(generator.sample(range(len(requests)), section.sample)))


def generate(phase: Phase) -> tuple[Receipt, bool]:
    """Make the candidates of a phase; the receipt, and whether they were there already.

    Raises:
        DataError: the corpus is wrong.
        LeftOutError: more requests failed than limits.failed allows; the files are written all the same.
    """
    requests = phase_requests(phase)
    stage = generate_stage(phase, requests)
    receipt = done = stage.finished()
    if receipt is None:
        with spending(phase.recipe.output, phase.recipe.limits.cost), stage.begun() as end:
            write_jsonl(phase.folder / REQUESTS, requests)
            finish(phase, stage, requests)
            receipt = end(_write(phase, stage, requests))
    failed = sum(row.count for row in receipt.left_out if row.what != ANSWER)
    total = receipt.counted(GenerateCounts).requests
    if failed > phase.recipe.limits.failed * total:
        raise LeftOutError(
            f"{phase.folder / FAILURES}: {failed} of {total} requests have no candidate, more than limits.failed "
            f"{phase.recipe.limits.failed} allows; the file names each reason. Mend them, or raise limits.failed"
        )
    return receipt, done is not None


def generate_shard(phase: Phase, shard: Shard) -> bool:
    """Make a shard of the candidates of a phase, into journals; False when the whole stage is done already.

    Raises:
        DataError: the corpus is wrong.
        RecipeError: a server is asked, or shards that were begun are cut into other batches.
    """
    refuse_servers([phase.recipe.generate])
    requests = phase_requests(phase)
    stage = generate_stage(phase, requests)
    if stage.receipt() is not None:
        return False
    make_folder(stage.folder)
    finish(phase, stage, requests, shard)
    return True


def not_generated(phase: Phase) -> tuple[int, int, set[Path]]:
    """How many requests are not finished, so far as journals of all processes tell, of how many; and journals that overlap."""
    requests = phase_requests(phase)
    kept = JournalContents(generate_stage(phase, requests).journals(JournalLine), requests.sides())
    return len(requests) - len(kept.done), len(requests), kept.overlapping


def generate_stage(phase: Phase, requests: Requests) -> Stage:
    """The stage, with everything its candidates depend on.

    Raises:
        DataError: the adapter of the phase's policy is not there.
    """
    recipe = phase.recipe
    if phase.adapter is not None and not phase.adapter.is_dir():
        raise DataError(
            f"{phase.name}: its policy has the adapter {phase.adapter}, which is not there; train that round first "
            "(evenhand loop RECIPE does it), or mend model.adapter"
        )
    section = recipe.generate
    method, key = METHODS[phase.method], options_key(phase.method)
    options = section.options if phase.method == section.method else METHOD_SECTIONS[phase.method]()
    own = section.model_copy(update={"plans": phase.plans, "method": phase.method})
    asked = without_speed(own.model_dump(mode="json", exclude={"python", *(section.model_extra or {})}))
    if type(options).model_fields:
        asked[key] = options.chosen()
    inputs: dict[str, Any] = {
        "run": [recipe.name, recipe.seed, phase.name],
        "requests": requests.digest,
        "generate": asked,
        "model": signature_of(phase),
        **method.inputs(recipe),
    }
    if package := METHODS.package(phase.method):
        inputs["package"] = package
    prompts = step_signatures(recipe, phase.method)
    if prompts:
        inputs["prompts"] = prompts
    # a method with prompts of its own asks more than once
    turns = [TURNS] if prompts or options.asks_again else []
    return Stage("generate", phase.folder, inputs, (REQUESTS, CANDIDATES, FAILURES, *turns))


def _write(phase: Phase, stage: Stage, requests: Requests) -> GenerateCounts:
    """Write the stage's files from its journals; what they hold."""
    counts = _GenerationCounts(requests.sides(), is_repeatable=phase.recipe.generate.server is None)
    parts = {CANDIDATES: "candidates", FAILURES: "failures", TURNS: "turns"}
    with ExitStack() as opened:
        files = {
            part: opened.enter_context(whole_file(phase.folder / name))
            for name, part in parts.items()
            if name in stage.outputs
        }
        for batch in JournalContents(stage.journals(JournalLine), requests.sides()):
            counts.add(batch)
            for part, file in files.items():
                for record in getattr(batch, part):
                    write_record(file, record)
    return counts.total()


def finish(phase: Phase, stage: Stage, requests: Requests, shard: Shard = WHOLE) -> None:
    """Put what the journals lack into them, of the whole stage or of a shard.

    Raises:
        EvenhandError: the model cannot be opened, a process of the stage refused or died, or the stage's shards were cut into
            other batches.
    """
    section = phase.recipe.generate
    kept = JournalContents(stage.journals(JournalLine, shard), requests.sides())
    progress = progress_path(shard_folder(phase.recipe.output, shard) / phase.name, stage.name)
    batches = Batches(requests, section.requests_per_batch, "requests", progress, shard)
    if shard.name:
        begin_shard(phase, stage, shard, sections=["generate"], has_others=batches.has_others(kept.done))
    elif len(kept.done) < len(requests):
        say_strays(phase, stage)
    if is_apart(phase.recipe):
        generate_apart(phase, stage, requests, batches, kept)
    elif open_batches := batches.open(kept.done):
        journal = Journal(stage.journal_path(shard.part()), JournalLine)
        make_batches(phase, requests, batches.counted(open_batches).through(open_batches), journal, kept)


def make_batches(
    phase: Phase,
    requests: Requests,
    batches: Iterable[range],
    journal: Journal[JournalLine],
    contents: JournalContents,
) -> None:
    """Make batches in this process, whose journal keeps the rounds of each until it has the batch's own line.

    To ask for the first batch is to say that the model is open, and for the next one that the last is in the journal.
    """
    order = draws(phase.plans)
    with closing(open_backend_of(phase)) as backend:
        for places in batches:
            batch = requests[places.start : places.stop]
            ids = [request.id for request in batch]
            rounds = KeptRounds(
                backend, batch_name(ids), contents.rounds(ids), lambda each: journal.append([JournalLine(each)])
            )
            journal.append([JournalLine(make_batch(phase, rounds, batch, order))])


def make_batch(
    phase: Phase, backend: Backend, requests: Sequence[SummaryRequest], order: Sequence[Draw]
) -> FinishedBatch:
    """What comes of one batch; its tokens are all that `backend` has counted so far."""
    recipe = phase.recipe
    seeds = [[draw_seed(recipe.name, recipe.seed, phase.name, r.id, draw) for draw in order] for r in requests]
    job, method = Job(phase.method, backend, requests, order, seeds, recipe), METHODS[phase.method]
    replies = method.summarise(job)
    candidates: list[Candidate] = []
    failures: list[Failure] = []
    for (request, drawn), row in zip(job.drawn(), replies, strict=True):
        answers = [DrawnReply(*each, reply) for each, reply in zip(drawn, row, strict=True)]
        refused = [answer for answer in answers if answer.reply.finish_reason == "failed"]
        is_lost = len(refused) == len(answers) or (refused and method.needs_all)
        for each in refused[:1] if is_lost else refused:
            failures.append(
                Failure(
                    request_id=request.id,
                    side=request.side,
                    reason=each.reply.reason,
                    detail=each.reply.error,
                    index=None if is_lost else each.draw.index,
                )
            )
        if not is_lost:
            answered = [answer for answer in answers if answer.reply.finish_reason != "failed"]
            candidates += method.candidates(job, request, answered)
    return FinishedBatch(
        request_ids=tuple(request.id for request in requests),
        candidates=tuple(candidates),
        failures=tuple(failures),
        turns=tuple(turn for row in replies for reply in row if isinstance(reply, Made) for turn in reply.turns),
        **backend.usage.fields,
    )


class _GenerationCounts:
    """Counts over all processes that worked at the stage, because the journal has each batch's own."""

    def __init__(self, sides: Mapping[str, str], *, is_repeatable: bool) -> None:
        self._sides, self._is_repeatable = sides, is_repeatable
        self._used = Usage()
        self._n_candidates = self._n_written = self._n_tokens = self._n_turns = self._turn_tokens = self._n_cut = 0
        self._n_empty = self._n_empty_cut = 0
        self._kept: Counter[str] = Counter()
        self._issues: Counter[tuple[str, str]] = Counter()
        self._cut_steps: Counter[str] = Counter()
        # of requests all of whose candidates are refusals, by side
        self._only_refusals: Counter[str] = Counter()
        self._failures: Counter[tuple[str, str, str]] = Counter()
        self._drawn_again: Counter[str] = Counter()

    def add(self, batch: FinishedBatch) -> None:
        """Count a batch."""
        written = [c for c in batch.candidates if c.model != NO_MODEL]
        self._used.add_used(batch)
        self._n_candidates += len(batch.candidates)
        self._n_written += len(written)
        self._n_tokens += sum(c.n_tokens for c in written)
        self._n_turns += len(batch.turns)
        self._turn_tokens += sum(turn.n_tokens for turn in batch.turns)
        self._n_cut += sum(c.finish_reason == "length" for c in batch.candidates)
        empty = [c for c in batch.candidates if not c.text]
        self._n_empty += len(empty)
        self._n_empty_cut += sum(c.finish_reason == "length" for c in empty)
        self._kept.update(self._sides[c.request_id] for c in batch.candidates if c.contract_ok)
        self._issues.update((self._sides[c.request_id], issue) for c in batch.candidates for issue in c.issues)
        answered = {c.request_id for c in batch.candidates if not c.is_refusal}
        refused = {c.request_id for c in batch.candidates if c.is_refusal} - answered
        self._only_refusals.update(self._sides[each] for each in refused)
        self._cut_steps.update(
            ON_THE_WAY.sub("", turn.role)
            for turn in batch.turns
            if not turn.is_candidate and turn.finish_reason == "length"
        )
        self._failures.update((f.side, f.reason, "request" if f.index is None else ANSWER) for f in batch.failures)
        self._drawn_again.update(drawn_again(batch.turns))

    def total(self) -> GenerateCounts:
        """All counts."""
        hit_rate = self._used.hit_rate
        asks_apart = self._n_turns or self._n_written < self._n_candidates
        issues: Counter[str] = Counter()
        by_side: dict[str, Counter[str]] = {}
        for (side, issue), n in self._issues.items():
            issues[issue] += n
            by_side.setdefault(side, Counter())[issue] += n
        return GenerateCounts(
            requests=len(self._sides),
            candidates=self._n_candidates,
            tokens=self._n_tokens,
            turns=self._n_turns if asks_apart else None,
            turn_tokens=self._turn_tokens if asks_apart else None,
            drawn_again=dict(self._drawn_again),
            prompt_tokens=self._used.prompt_tokens,
            prefilled_tokens=self._used.prefilled_tokens,
            prefix_cache_hit_rate=None if hit_rate is None else round(hit_rate, 4),
            contract_kept=dict(self._kept),
            contract_issues=dict(issues),
            issues_by_side={side: dict(found) for side, found in by_side.items()},
            stopped_by_max_tokens=self._n_cut,
            steps_stopped_by_max_tokens=sum(self._cut_steps.values()),
            repeatable=self._is_repeatable or not self._n_written,
            cautions=tuple(self._cautions()),
            left_out=LeftOut.rows(("side", "reason", "what"), self._failures, stage="generate"),
        )

    def _cautions(self) -> Iterator[str]:
        if n := self._used.partial_prompts:
            yield f"{n} answers rest on prompts that the server {READ_IN_PART}"
        for name, n in sorted(self._used.other_models.items()):
            yield f"{n} answers are of {name!r}, {ANOTHER_MODEL}"
        if self._n_empty:
            said = f"{self._n_empty} of {self._n_candidates} candidates are empty"
            if self._n_empty_cut:
                said += (
                    f", and {self._n_empty_cut} of these stopped at max_tokens, which a model that thinks first may use up; "
                    "raise max_tokens of the plans"
                )
            yield said
        for issue, what in CLEANED.items():
            if said := self._by_side(issue):
                yield f"{what} in {said}"
        if said := self._by_side(REFUSAL):
            yield f"the model declined to summarise in {said}; a refusal is never the best where there is a summary"
        if self._only_refusals:
            n = sum(self._only_refusals.values())
            yield (
                f"{n} of {len(self._sides)} requests have refusals and no summary at all ({_counted(self._only_refusals)}): what "
                "is chosen for them is a refusal"
            )
        for step, n in sorted(self._cut_steps.items()):
            yield (
                f"{n} answers of the step {step!r} stopped at max_tokens, and stand in the next prompts as they were cut; raise "
                "the step's tokens in the section of the method"
            )

    def _by_side(self, issue: str) -> str:
        """In how many of how many candidates there is an issue, and on which sides; "" where in none."""
        found = Counter({side: n for (side, name), n in self._issues.items() if name == issue})
        return f"{found.total()} of {self._n_candidates} candidates ({_counted(found)})" if found else ""


def _counted(by_side: Mapping[str, int]) -> str:
    """ "left 2, right 1"."""
    return ", ".join(f"{side} {n}" for side, n in sorted(by_side.items()))


def drawn_again(turns: Sequence[Turn]) -> dict[str, int]:
    """For a receipt: how many summaries were drawn again, and of how many the second draw was kept; {} where none was."""
    second = [turn for turn in turns if turn.role == AGAIN]
    return {"drawn": len(second), "kept": sum(turn.is_candidate for turn in second)} if second else {}
