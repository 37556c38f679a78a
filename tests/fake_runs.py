"""A run on disk as the earlier stages leave it, small enough to be scored by hand."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from evenhand.config import Recipe
from evenhand.generate.stage import generate_stage, phase_requests
from evenhand.judges import open_judges
from evenhand.judges.stage import judge_stage
from evenhand.records import (
    Candidate,
    CandidateGroup,
    Contract,
    Document,
    DocumentSet,
    Failure,
    Judgement,
    Message,
    Perspective,
    Sampling,
    ScoredCandidate,
    SummaryRequest,
)
from evenhand.rerank.stage import rerank_stage
from evenhand.runfolder.files import scores_of
from evenhand.runfolder.phases import (
    ADAPTER,
    BEST,
    CANDIDATES,
    FAILURES,
    GROUPS,
    JUDGEMENTS,
    LEDGER,
    PAIRS,
    REQUESTS,
    TRAINING,
    open_phase,
    phases,
)
from evenhand.runfolder.stages import Counts, Receipt, Stage, read_receipt
from evenhand.storage import write_json, write_jsonl, write_text
from evenhand.train.stage import training_stage

# what one candidate got: a score or None of each judge, by name or in the order of the recipe (reward, then report)
Scores = Mapping[str, float | None] | tuple[float | None, ...]

RECIPE: dict[str, Any] = {
    "name": "small",
    "seed": 7,
    "model": {"name": "tiny"},
    "generate": {"backend": "scripted", "plans": {"nucleus": {"candidates": 3, "top_p": 0.9}}},
    "judges": {
        "fit": {"kind": "alignment"},
        "overlap": {"kind": "rouge"},
    },
    "reward": {"judges": ["fit"]},
    "evaluation": {"judges": ["overlap"], "resamples": 500, "examples": 2},
    "rounds": 1,
}

# request -> (fit, overlap) of its three candidates, untrained and trained; fit is the reward
UNTRAINED = {
    "a/left": [(0.1, 0.2), (0.3, 0.5), (0.2, 0.2)],  # mean overlap 0.3, of the best 0.5
    "a/right": [(0.1, 0.1), (0.2, 0.3), (0.3, 0.2)],  # 0.2, 0.2
    "b/left": [(0.4, 0.4), (0.1, 0.4), (0.2, 0.4)],  # 0.4, 0.4
    "b/right": [(0.4, 0.3), (0.5, 0.3), (0.6, 0.3)],  # 0.3, 0.3
    "c/left": [(0.9, 0.7), (0.1, 0.1), (0.2, 0.1)],  # 0.3, 0.7
    "c/right": [(0.1, 0.0), (0.2, 0.1), (0.4, 0.5)],  # 0.2, 0.5
    "d/left": [(0.5, 0.6), (0.6, 0.6), (0.7, 0.6)],  # 0.6, 0.6
    "d/right": [(0.3, 0.1), (0.1, 0.1), (0.2, 0.1)],  # 0.1, 0.1
}
# mean of the eight means: (0.3+0.2+0.4+0.3+0.3+0.2+0.6+0.1)/8 = 0.3; left 0.4, right 0.2
# mean of the best:        (0.5+0.2+0.4+0.3+0.7+0.5+0.6+0.1)/8 = 0.4125
TRAINED = {request: [(f, o + 0.1) for f, o in rows] for request, rows in UNTRAINED.items()}


class FakeRun:
    """Writes the files that generating, judging and reranking leave."""

    UNTRAINED = UNTRAINED
    TRAINED = TRAINED

    def __init__(self, output: Path, **changes: Any) -> None:
        self.recipe = Recipe.model_validate({**RECIPE, **changes, "output": output})
        self.texts: dict[str, str] = {}

    def request(self, request_id: str, sides: Sequence[str] = ("left", "right"), topic: str = "") -> SummaryRequest:
        """The request "a/left" of set "a", whose documents name their side."""
        set_id, side = request_id.split("/")
        documents = tuple(
            Document(
                id=f"{set_id}/{s}",
                text=self.texts.get(f"{set_id}/{s}", f"The {s} of {set_id}."),
                attributes={"stance": s},
            )
            for s in sides
        )
        return SummaryRequest(
            id=request_id,
            document_set=DocumentSet(id=set_id, topic=topic or f"Topic {set_id}", documents=documents, split="test"),
            perspective=Perspective(attribute="stance", value=side),
            contract=Contract(opening=f"The {side.capitalize()}", sentences=1),
            template="test:000000",
            prompt=(Message(role="user", content=f"Summarise {request_id}."),),
        )

    def write(
        self,
        phase: str,
        scores: Mapping[str, Sequence[Scores]],
        *,
        without: Sequence[str] = (),
        candidate: Callable[[str, int], dict[str, Any]] = lambda request, index: {},
        request: Callable[[str], dict[str, Any]] = lambda request: {},
    ) -> None:
        """Write a phase.

        Args:
            phase: its name.
            scores: request id -> scores of its candidates.
            without: ids of further requests of which nothing could be generated.
            candidate: changes of a candidate, by request id and index.
            request: changes of a request's set-up, by id.
        """
        folder = open_phase(self.recipe, phase).folder
        requests = [self.request(i, **request(i)) for i in [*scores, *without]]
        every = [self._group(phase, r, scores.get(r.id, ()), candidate) for r in requests]
        scored = [c for group in every for c in group.candidates]
        write_jsonl(folder / REQUESTS, requests)
        write_jsonl(folder / CANDIDATES, [c.candidate for c in scored])
        write_jsonl(folder / FAILURES, [self._failure(r) for r in requests if r.id in without])
        write_jsonl(folder / JUDGEMENTS, [self._judgement(c, j) for c in scored for j in c.scores])
        write_jsonl(folder / GROUPS, map(scores_of, every))
        asked = {"prompt_tokens": 0, "prefilled_tokens": 0, "prefix_cache_hit_rate": None}
        contract = {"contract_kept": {}, "contract_issues": {}, "stopped_by_max_tokens": 0}
        counts = {
            "requests": len(requests),
            "candidates": len(scored),
            "tokens": 0,
            **asked,
            **contract,
            "left_out": [],
        }
        self.receipt(phase, "generate", counts)

    def receipt(self, phase: str, stage: str, counts: dict[str, Any], seconds: float = 1.5) -> None:
        """Leave a receipt."""
        receipt = Receipt(
            stage=stage, inputs="0" * 16, outputs={}, seconds=seconds, counts=counts, versions={"evenhand": "0.1.0"}
        )
        path = open_phase(self.recipe, phase).folder / "receipts" / f"{stage}.json"
        write_json(path, receipt.model_dump(mode="json"))

    def finish(self) -> None:
        """Leave the receipts of a finished run of the recipe; what was not written of a round is made up."""
        for phase in phases(self.recipe):
            if phase.round is not None and not (phase.folder / ADAPTER).is_dir():
                write_text(phase.folder / ADAPTER / "adapter_config.json", '{"base_model_name_or_path": "tiny"}')
                write_text(phase.folder / ADAPTER / "adapter_model.safetensors", "weights")
            if phase.round is not None and not (phase.folder / REQUESTS).is_file():
                self.write(phase.name, {"t/left": [(0.1,), (0.2,), (0.3,)]})
            for name, content in {BEST: "", LEDGER: "{}", PAIRS: "{}\n", TRAINING: '{"log_history": []}'}.items():
                if not (phase.folder / name).is_file() and (phase.round is not None or name in (BEST, LEDGER)):
                    write_text(phase.folder / name, content)
            self._finish(generate_stage(phase, phase_requests(phase)))
            self._finish(judge_stage(phase, open_judges({name: self.recipe.judges[name] for name in phase.judges})))
            self._finish(rerank_stage(phase))
            if phase.round is not None:
                self._finish(training_stage(phase, processes=1))

    def _finish(self, stage: Stage) -> None:
        old = read_receipt(stage.receipt_path)
        stage.receipt_path.unlink(missing_ok=True)
        stage.run(lambda: Counts.model_validate(old.counts if old else {"left_out": []}))

    def _group(self, phase: str, request: SummaryRequest, rows: Sequence[Scores], change: Any) -> CandidateGroup:
        scored = []
        judges = open_phase(self.recipe, phase).judges
        for index, row in enumerate(rows):
            scores = dict(zip(judges, row, strict=True)) if isinstance(row, tuple) else dict(row)
            rewards = [scores.get(judge) for judge in self.recipe.reward.judges]
            known = [reward for reward in rewards if reward is not None]
            reward = sum(known) / len(known) if len(known) == len(rewards) else None
            made = self._candidate(phase, request, index, change(request.id, index))
            scored.append(ScoredCandidate(candidate=made, scores=scores, reward=reward))
        rewarded = [s for s in scored if s.reward is not None]
        best = max(rewarded, key=lambda s: (s.reward, -s.candidate.index)).candidate.id if rewarded else None
        return CandidateGroup(
            request_id=request.id,
            set_id=request.document_set.id,
            side=request.side,
            prompt=request.prompt,
            candidates=tuple(scored),
            best_id=best,
        )

    def _candidate(self, phase: str, request: SummaryRequest, index: int, changes: dict[str, Any]) -> Candidate:
        text = changes.pop("text", f"The {request.side.capitalize()} says {index}.")
        values = {
            "id": f"{phase}:{request.id}#{index}", "request_id": request.id, "text": text, "raw_text": text,
            "contract_ok": True, "method": "zero-shot", "plan": "nucleus", "sampling": Sampling(), "index": index,
            "seed": index, "model": f"tiny@{phase}", "prompt_digest": "0" * 16, "n_prompt_tokens": 10,
            "n_tokens": len(text.split()), "finish_reason": "stop",
        }  # fmt: skip
        return Candidate.model_validate(values | changes)

    def _failure(self, request: SummaryRequest) -> Failure:
        return Failure(request_id=request.id, side=request.side, reason="too_long", detail="prompt of 9,000 tokens")

    def _judgement(self, scored: ScoredCandidate, judge: str) -> Judgement:
        score = scored.scores[judge]
        return Judgement(
            candidate_id=scored.candidate.id,
            request_id=scored.candidate.request_id,
            judge=judge,
            signature=f"{judge}|judge:{self.recipe.judges[judge].kind}|v:0.1.0",
            score=score,
            unscored=None if score is not None else "no verdict at end of reply",
        )


@pytest.fixture
def make_run(tmp_path: Path) -> Callable[..., FakeRun]:
    """Opens an empty run; keyword arguments change the recipe."""
    return lambda **changes: FakeRun(tmp_path / "run", **changes)


@pytest.fixture
def small_run(make_run: Callable[..., FakeRun]) -> FakeRun:
    """Four sets, two sides, three candidates; training added 0.1 to every overlap and nothing to the reward."""
    run = make_run()
    run.write("evaluation/base", UNTRAINED)
    run.write("evaluation/round-00", TRAINED)
    return run
