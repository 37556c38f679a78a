"""What tests of methods share: a recipe on the scripted backend, and a backend that keeps what it was asked."""

from dataclasses import dataclass, field, replace
from typing import Any

from evenhand.config import Plan, Recipe
from evenhand.generate import zero_shot
from evenhand.generate.batches import FinishedBatch
from evenhand.generate.method import DrawnReply, Job, draws
from evenhand.generate.scripted import ScriptedBackend
from evenhand.generate.stage import _GenerationCounts

SAMPLED = {"nucleus": {"candidates": 2, "max_tokens": 20}}


def make_recipe(method, output="runs/none", **generate):
    values = {
        "name": "methods",
        "output": output,
        "model": {"name": "none"},
        "generate": {"backend": "scripted", "method": method, "plans": SAMPLED} | generate,
        "judges": {"overlap": {"kind": "rouge"}},
        "reward": {"judges": ["overlap"]},
        "evaluation": {"judges": ["overlap"]},
        "rounds": 0,
    }
    return Recipe.model_validate(values)


class Noting(ScriptedBackend):
    """A scripted backend that keeps the asks of each call."""

    def __init__(self, script, **options):
        super().__init__(script, **options)
        self.calls = []

    def complete(self, asks):
        self.calls.append(list(asks))
        return super().complete(asks)


class Filtering(Noting):
    """A scripted backend whose answers are filtered where `is_filtered(ask)` says so."""

    def __init__(self, script, is_filtered):
        super().__init__(script)
        self._is_filtered = is_filtered

    def complete(self, asks):
        replies = super().complete(asks)
        filtered = {"finish_reason": "failed", "reason": "refused by the server", "error": "filtered"}
        return [
            replace(reply, text="", **filtered) if self._is_filtered(ask) else reply
            for ask, reply in zip(asks, replies, strict=True)
        ]


def order(candidates=2):
    return draws({"nucleus": Plan(candidates=candidates, max_tokens=20)})


def seeds_of(requests, n):
    """Seeds that differ between all draws: 100, 101, ... 200, 201, ..."""
    return [[100 * (i + 1) + draw for draw in range(n)] for i in range(len(requests))]


def job(backend, requests, order, seeds, recipe=None):
    """What a method is given."""
    recipe = recipe or make_recipe("zero-shot")
    return Job(recipe.generate.method, backend, requests, order, seeds, recipe)


def drawn_candidates(requests, answer, module=zero_shot, method="zero-shot", **options):
    """The backend that was asked, two candidates of each request, and the turns that led to them."""
    backend = Noting(answer)
    work = job(backend, requests, order(), seeds_of(requests, 2), make_recipe(method, **options))
    rows = module.summarise(work)
    candidates = [
        work.candidate(request, DrawnReply(*drawn, reply))
        for (request, pairs), row in zip(work.drawn(), rows, strict=True)
        for drawn, reply in zip(pairs, row, strict=True)
    ]
    turns = [turn for row in rows for reply in row for turn in getattr(reply, "turns", ())]
    return backend, candidates, turns


def counted(requests, candidates, turns=()):
    """What a stage counts of them."""
    counts = _GenerationCounts({request.id: request.side for request in requests}, is_repeatable=True)
    ids = tuple(request.id for request in requests)
    counts.add(
        FinishedBatch(
            request_ids=ids,
            candidates=tuple(candidates),
            failures=(),
            turns=tuple(turns),
            prompt_tokens=0,
            prefilled_tokens=0,
        )
    )
    return counts.total()


@dataclass(frozen=True)
class Step:
    """A step of a method, for which a recipe may name a prompt of its own."""

    method: str
    # fields that its prompt may have, and of each group must have one
    known: frozenset[str]
    needed: tuple[tuple[str, ...], ...]
    # a prompt that has what it must
    whole: str
    # of the method, where it takes the step
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def section(self):
        """Key of the method's options in a recipe."""
        return self.method.replace("-", "_")


def own_prompts(folder, texts, method, more=None, **options):
    """A recipe of the method whose steps have files of these texts."""
    prompts = dict(more or {})
    for step, text in texts.items():
        path = folder / f"{step}.txt"
        path.write_text(text)
        prompts[step] = str(path)
    return make_recipe(method, **{method.replace("-", "_"): {"rounds": 1, "prompts": prompts} | options})


def first_prompts(method, requests, recipe, script):
    """The first prompt of each call."""
    backend = Noting(script)
    method.summarise(job(backend, requests, order(1), seeds_of(requests, 1), recipe))
    return [asks[0].prompt for asks in backend.calls]
