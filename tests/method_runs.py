"""What tests of methods share: a recipe on the scripted backend, and a backend that keeps what it was asked."""

from dataclasses import replace

from evenhand.config import Plan, Recipe
from evenhand.generate.method import Job, draws
from evenhand.generate.scripted import ScriptedBackend

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
