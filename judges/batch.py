"""One batch of requests before the judges that are asked together: what is known, what is asked, what came of it."""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TypeVar

from tqdm import tqdm

from ..config.needs import Against
from ..extras import no_bars
from ..generate.backend import Usage, Used
from ..records import Candidate, Judgement, Record, SummaryRequest
from ..runfolder.gpus import visible_gpus
from ..text import fold
from ..text.digests import canonical_json
from .asking import LanguageModelJudge, by_model, companies, score_together
from .cache import Judged, VerdictCache
from .documents import labelled_documents
from .judge import Judge, JudgeInput, JudgeOfJudges, Verdict
from .python_code import request_text

T = TypeVar("T")

MISSING_REFERENCE = {
    "source": "no source text",
    "opposing": "no documents of other sides",
    "key_points": "no key points listed",
    "documents": "no documents with an attribute value",
    "sources": "no source text",
    "candidates": "no other candidate",
    "source_and_candidates": "no source text",
    "request": "no request",
}
# judgements of a batch on a processor, at most, unless one request has more: what an interruption can lose, and a step of the
# bar, which takes about half a minute of a language model of 0.5B; a GPU is fast, and full with many alone
JUDGEMENTS_TOGETHER = 32
# what judges read that compare the candidates of a request
COMPARING: tuple[Against, ...] = ("candidates", "source_and_candidates")


class JudgedBatch(Used):
    """What the judges that are asked together said of one batch of requests: a line of the journal."""

    judgements: tuple[Judgement, ...]
    # judge -> distinct inputs whose verdict came from the cache
    cached: dict[str, int]


class Spent(Record):
    """What a batch took that was not wholly in the cache."""

    # that were asked together
    judges: tuple[str, ...]
    # judgements that were not cached, of all of them
    asked: int
    seconds: float
    prompt_tokens: int


# a judge and what it is to score
JudgeWork = tuple[Judge, Sequence[JudgeInput]]


def judge_work(judges: Sequence[Judge], candidates: Sequence[tuple[SummaryRequest, Candidate]]) -> list[JudgeWork]:
    """What each judge is to score of these candidates."""
    return [(judge, judge_inputs(judge.against, candidates)) for judge in judges]


def judge_held(
    judges: Sequence[Judge], candidates: Sequence[tuple[SummaryRequest, Candidate]], cache: VerdictCache
) -> list[Judgement]:
    """A judgement of every candidate by every judge, whose models stay open; scores are taken from the cache and kept there."""
    judgements: list[Judgement] = []
    for group in by_model(judges):
        for company in companies(group):
            work = judge_work(company, candidates)
            batch = score_batch(work, cache)
            keep_verdicts(batch, work, cache)
            judgements += batch.judgements
    return judgements


def judge_together(
    judges: Sequence[Judge],
    items: Sequence[T],
    inputs_of: Callable[[Against | None, Sequence[T]], Sequence[JudgeInput]],
    *,
    cache_file: Path | None = None,
    spent: list[Spent] | None = None,
) -> list[Judgement]:
    """A judgement of every input by every judge, judge by judge, in the order of the items.

    Scores come from the cache where it has them, and are kept there batch by batch, of few judgements whatever the judges'
    `requests_per_batch`. Judges on one model are asked together, and a model is closed before the next is loaded.

    Args:
        judges: all of them.
        items: requests, of which a judge takes some at a time.
        inputs_of: what a judge is to score of some items.
        cache_file: another cache than the usual one.
        spent: gets what each batch took.
    """
    by_judge: dict[str, list[Judgement]] = {judge.name: [] for judge in judges}
    n_inputs = len(inputs_of(None, items))
    with (
        closing(VerdictCache(cache_file)) as cache,
        tqdm(total=len(judges) * n_inputs, unit="judgement", disable=no_bars()) as bar,
    ):
        for group in by_model(judges):
            with ExitStack() as models:
                for judge in group:
                    models.callback(judge.close)
                size = _batch_size(group, n_inputs / max(1, len(items)))
                for start, company in product(range(0, len(items), size), companies(group)):
                    some = items[start : start + size]
                    work = [(judge, inputs_of(judge.against, some)) for judge in company]
                    start_time = time.perf_counter()
                    batch = score_batch(work, cache)
                    if spent is not None:
                        spent.append(_spent(work, batch, time.perf_counter() - start_time))
                    keep_verdicts(batch, work, cache)
                    for judgement in batch.judgements:
                        by_judge[judgement.judge].append(judgement)
                    bar.update(len(batch.judgements))
    return [each for judgements in by_judge.values() for each in judgements]


def _batch_size(group: Sequence[Judge], n_summaries: float) -> int:
    """Requests of a batch for judges that hold one model, of requests with so many summaries on average."""
    size = min(judge.requests_per_batch for judge in group)
    if visible_gpus() or any(isinstance(judge, LanguageModelJudge) and judge.is_served for judge in group):
        return size
    n_judgements = n_summaries * max(map(len, companies(group)))
    return max(1, min(size, int(JUDGEMENTS_TOGETHER / max(1.0, n_judgements))))


def _spent(work: Sequence[JudgeWork], batch: JudgedBatch, seconds: float) -> Spent:
    n_asked = sum(len(inputs) for _, inputs in work) - sum(batch.cached.values())
    names = tuple(judge.name for judge, _ in work)
    return Spent(judges=names, asked=max(n_asked, 0), seconds=seconds, prompt_tokens=batch.prompt_tokens)


def score_batch(work: Sequence[JudgeWork], cache: VerdictCache) -> JudgedBatch:
    """Ask judges of one company about everything that is not in the cache, each distinct input once.

    Args:
        work: the judges that are asked together, each with its inputs.
        cache: is read, and written where a judge asks others; `keep_verdicts` writes what this returns.
    """
    sheets = [_open_sheet(judge, inputs, cache) for judge, inputs in work]
    open_work = [(sheet.judge, list(sheet.asked.values())) for sheet in sheets]
    judge, inputs = open_work[0]
    if isinstance(judge, JudgeOfJudges) and inputs:
        # which is alone in its company
        results, used = _by_members(judge, inputs, cache)
    else:
        results, used = score_together(open_work)
    fresh = [dict(zip(sheet.asked, verdicts, strict=True)) for sheet, verdicts in zip(sheets, results, strict=True)]
    judgements = [
        judgement for sheet, verdicts in zip(sheets, fresh, strict=True) for judgement in sheet.judgements(verdicts)
    ]
    return JudgedBatch(
        judgements=tuple(judgements),
        cached={sheet.judge.name: sheet.n_cached for sheet in sheets},
        **used.fields,
    )


def _by_members(
    judge: JudgeOfJudges, inputs: Sequence[JudgeInput], cache: VerdictCache
) -> tuple[list[list[Verdict]], Usage]:
    """As `score_together`; what the members say comes from the cache where it has it, and is kept there."""
    used, by_member = Usage(), dict[str, list[Verdict]]()
    for company in (each for group in by_model(judge.members) for each in companies(group)):
        own_work = [(member, inputs) for member in company]
        batch = score_batch(own_work, cache)
        keep_verdicts(batch, own_work, cache)
        used.add_used(batch)
        for judgement in batch.judgements:
            by_member.setdefault(judgement.judge, []).append(_verdict(judgement))
    return [judge.combine(inputs, by_member)], used


def keep_verdicts(batch: JudgedBatch, work: Sequence[JudgeWork], cache: VerdictCache) -> None:
    """Put what a batch says into the cache; what already exists stays.

    Args:
        batch: judgements by some of the judges on some of their inputs.
        work: the judges, each with its inputs.
        cache: is written.
    """
    judges = {judge.name: judge for judge, _ in work}
    inputs = {(judge.name, each.candidate_id): each for judge, inputs_of_judge in work for each in inputs_of_judge}
    verdicts: dict[str, dict[Judged, Verdict]] = {}
    for judgement in batch.judgements:
        judge = judges[judgement.judge]
        # without an attempt nobody was asked
        if judge.against is not None and judgement.attempts:
            judged = _judged(judge, inputs[judgement.judge, judgement.candidate_id])
            verdicts.setdefault(judge.signature, {})[judged] = _verdict(judgement)
    for signature, of_signature in verdicts.items():
        cache.keep(signature, of_signature)


def _verdict(judgement: Judgement) -> Verdict:
    return Verdict(judgement.score, judgement.unscored, judgement.raw, judgement.attempts)


@dataclass(frozen=True)
class _Sheet:
    """One judge's part of a batch."""

    judge: Judge
    inputs: Sequence[JudgeInput]
    # verdicts that need no asking: cached ones, and of inputs that cannot be judged
    known: dict[Judged, Verdict]
    n_cached: int
    # distinct inputs to ask about
    asked: dict[Judged, JudgeInput]

    def judgements(self, fresh: dict[Judged, Verdict]) -> list[Judgement]:
        """A judgement of each input, in order."""
        verdicts = self.known | fresh
        return [
            Judgement(
                candidate_id=judge_input.candidate_id,
                request_id=judge_input.request_id,
                judge=self.judge.name,
                signature=self.judge.signature,
                **vars(verdicts[_judged(self.judge, judge_input)]),
            )
            for judge_input in self.inputs
        ]


def _open_sheet(judge: Judge, inputs: Sequence[JudgeInput], cache: VerdictCache) -> _Sheet:
    distinct = {_judged(judge, judge_input): judge_input for judge_input in inputs}
    if judge.against is None:
        return _Sheet(judge, inputs, {}, 0, distinct)
    # inputs that the judge need not be asked about at all, and why
    missing = MISSING_REFERENCE[judge.against]
    refused = {
        (reference, text): Verdict(None, missing if text.strip() else "empty summary", attempts=0)
        for reference, text in distinct
        if not (reference.strip() and text.strip())
    }
    wanted = [judged for judged in distinct if judged not in refused]
    cached = cache.find(judge.signature, wanted, judge.low, judge.high)
    known = refused | cached
    open_inputs = {judged: each for judged, each in distinct.items() if judged not in known}
    return _Sheet(judge, inputs, known, len(cached), open_inputs)


def _judged(judge: Judge, judge_input: JudgeInput) -> Judged:
    """What tells inputs apart: the texts, so that equal ones are judged once; for a judge without reference the candidate."""
    return (judge_input.candidate_id, "") if judge.against is None else (judge_input.reference, judge_input.text)


def judge_inputs(against: Against | None, candidates: Sequence[tuple[SummaryRequest, Candidate]]) -> list[JudgeInput]:
    """The candidates, each with the text of its request that a judge compares it with."""
    templates: dict[str, JudgeInput] = {}
    for request, _ in candidates:
        if request.id not in templates:
            templates[request.id] = _of_request(request, against)
    if against in COMPARING:
        templates = {
            name: replace(template, reference=_company(template, candidates, has_source=against != "candidates"))
            for name, template in templates.items()
        }
    return [
        replace(
            templates[request.id], candidate_id=candidate.id, text=candidate.text, contract_ok=candidate.contract_ok
        )
        for request, candidate in candidates
    ]


def _company(
    of_request: JudgeInput, candidates: Sequence[tuple[SummaryRequest, Candidate]], *, has_source: bool
) -> str:
    """The texts of a request's candidates, spelt out; "" where there is one, or no source, of a judge that reads it, too.

    Summaries of copies answer another prompt, and refusals none.
    """
    answers = [each for request, each in candidates if request.id == of_request.request_id and each.answers_request]
    texts = [candidate.text for candidate in answers if not candidate.is_refusal]
    if has_source:
        source = of_request.reference
        return canonical_json({"candidates": texts, "source": source}) if source.strip() else ""
    return canonical_json(texts) if len(answers) > 1 else ""


def _of_request(request: SummaryRequest, against: Against | None) -> JudgeInput:
    """What the inputs of a request have in common."""
    bare = JudgeInput(candidate_id="", request_id=request.id, text="", contract_ok=False, reference="")
    if against is None or against == "candidates":
        return bare
    if against == "documents":
        labelled = labelled_documents(request)
        return replace(bare, reference=labelled.text, labelled=labelled)
    reference = reference_text(request, against)
    if against == "sources":
        return replace(bare, reference=reference, sources=tuple(d.text for d in request.source_documents))
    return replace(bare, reference=reference)


def reference_text(request: SummaryRequest, against: Against) -> str:
    """The text of this request that a summary of it is compared with; "" when the document set has none."""
    if against == "documents":
        return labelled_documents(request).text
    if against == "request":
        return request_text(request)
    if against == "sources":
        return canonical_json([document.text for document in request.source_documents])
    if against == "key_points":
        listed_points = request.document_set.key_points
        sides = listed_points if request.perspective is None else (request.side,)
        return "\n".join(fold(point) for side in sides for point in listed_points.get(side, ()))
    return request.opposing if against == "opposing" else request.source
