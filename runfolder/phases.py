"""The run folder: its phases, and the names of the files in them.

    <output>/
      recipe.yaml  date.txt  manifest.json  logs/
      round-00/            candidates of the train sets under the policy that the round starts from, judged and paired
        requests, candidates, failures, judgements, groups, best, pairs .jsonl   ledger.json   checkpoints/  adapter/
        groups.jsonl     ids, scores and rewards of all candidates; `files` puts texts beside them
        turns.jsonl      what was said on the way to the candidates, of methods that ask more than once
      evaluation/base/     candidates of the test sets under the untrained model
      evaluation/round-00/ the same under the policy that round 0 ended with; only of the rounds in evaluation.rounds
      report/              index.html  report.json  report.md  tables/

A phase is one of those folders: which document sets, which policy, which judges.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..config import Plan, Recipe, SplitSection
from ..config.recipe_file import differing_keys, dump_recipe, load_recipe
from ..errors import RecipeError, StorageError
from ..records import Candidate
from ..text.digests import digest
from .dates import dated_run
from .processes import hold, refuse_held
from .shards import SHARDS, WHOLE, Shard, shard_folder

ROUND = re.compile(r"round-(\d\d)")
# the evaluation of the model that the first round starts from
BASE = "evaluation/base"

# the recipe in a run folder, every default spelled out
RESOLVED = "recipe.yaml"
REQUESTS = "requests.jsonl"
CANDIDATES = "candidates.jsonl"
FAILURES = "failures.jsonl"
TURNS = "turns.jsonl"
JUDGEMENTS = "judgements.jsonl"
GROUPS = "groups.jsonl"
BEST = "best.jsonl"
PAIRS = "pairs.jsonl"
LEDGER = "ledger.json"
ADAPTER = "adapter"
CHECKPOINTS = "checkpoints"
TRAINING = "training.json"


@dataclass(frozen=True)
class Phase:
    """One folder of a run: candidates of one split under one policy."""

    recipe: Recipe
    # "round-00", "evaluation/base" or "evaluation/round-00"
    name: str
    # the round whose adapter the policy has; None for the policy that the recipe starts from
    after_round: int | None

    @property
    def folder(self) -> Path:
        """Where the phase's files lie."""
        return self.recipe.output / self.name

    @property
    def split(self) -> Literal["train", "test"]:
        """The split that the phase's requests come from."""
        return "test" if self.name.startswith("evaluation/") else "train"

    @property
    def split_section(self) -> SplitSection:
        """Section of the recipe on the phase's split."""
        return self.recipe.corpus.test if self.split == "test" else self.recipe.corpus.train

    @property
    def round(self) -> int | None:
        """Number of the round, counted from 0; None for an evaluation."""
        match = ROUND.fullmatch(self.name)
        return int(match.group(1)) if match else None

    @property
    def adapter(self) -> Path | None:
        """Adapter folder of the phase's policy; None for the model without an adapter."""
        if self.after_round is None:
            return self.recipe.model.adapter
        return self.recipe.output / round_name(self.after_round) / ADAPTER

    @property
    def method(self) -> str:
        """The method that makes the candidates; some are for training alone."""
        generate = self.recipe.generate
        return generate.unseen_method if self.split == "test" else generate.method

    @property
    def plans(self) -> dict[str, Plan]:
        """The sampling plans of the candidates."""
        test_plans = self.recipe.evaluation.plans if self.split == "test" else None
        return test_plans or self.recipe.generate.plans

    @property
    def has_candidates(self) -> bool:
        """Whether a run draws candidates for it: a round on pairs of its own (train.pairs) is trained alone."""
        return self.round is None or self.recipe.train.pairs is None

    @property
    def n_candidates(self) -> int:
        """Candidates of one request over all plans."""
        return sum(plan.candidates for plan in self.plans.values())

    @property
    def answer_tokens(self) -> int:
        """Tokens of a candidate, at most."""
        return max(plan.max_tokens for plan in self.plans.values())

    @property
    def copies(self) -> str:
        """Copies of the sets that the method summarises besides, in words; "" for none."""
        generate = self.recipe.generate
        return generate.options.copies if self.method == generate.method else ""

    @property
    def judges(self) -> tuple[str, ...]:
        """Names of the judges that score this phase: the reward's, the report's when it evaluates, else that of the pairs."""
        names = self.recipe.reward.judges
        if self.split == "train" and self.recipe.pairs.judge:
            names += (self.recipe.pairs.judge,)
        if self.split == "test":
            names += self.recipe.evaluation.judges
        return tuple(dict.fromkeys(names))

    def is_judged(self, candidate: Candidate, judge: str) -> bool:
        """Whether a judge is asked about a candidate: summaries of copies of a set are for pairs, and have no reward."""
        return candidate.answers_request or judge == self.recipe.pairs.judge


@contextmanager
def hold_run(recipe: Recipe, shard: Shard = WHOLE) -> Iterator[bool]:
    """Be the only command that writes in the recipe's run folder, or a child of it that works by the same recipe; see `hold`.

    Within it chat templates are given the day on which the run began.

    Shards may work at the same time, and nothing else beside them.

    Raises:
        StorageError: another command is at work there, or the folder cannot be written.
    """
    with hold(shard_folder(recipe.output, shard), digest(dump_recipe(recipe))) as is_child:
        if not is_child:
            folders = [recipe.output] if shard.name else sorted((recipe.output / SHARDS).glob("*-of-*"))
            for folder in folders:
                refuse_held(folder)
        with dated_run(recipe.output):
            yield is_child


def resolved_recipe(recipe: Recipe, readers: str, shard: Shard = WHOLE) -> Path:
    """The file of the resolved recipe, which processes of a stage read; a path from the root, which none takes for an option.

    Raises:
        StorageError: it is not there.
    """
    path = shard_folder(recipe.output, shard) / RESOLVED
    if not path.is_file():
        raise StorageError(f"{path}: the resolved recipe is not there, and {readers} read it")
    return path.absolute()


def changed_keys(recipe: Recipe, path: Path | None = None) -> list[str]:
    """Dotted keys in which the recipe differs from the one at `path`, by default that of the last command in its run folder."""
    try:
        earlier = load_recipe(path or recipe.output / RESOLVED)
    except RecipeError:
        # of a version that knew other keys, or damaged; the next command writes it again
        return []
    # the same folder may be written in several ways
    return [key for key in differing_keys(earlier, recipe) if key != "output"]


def round_name(number: int) -> str:
    """Name of a round's phase: "round-00"."""
    return f"round-{number:02d}"


def open_phase(recipe: Recipe, name: str) -> Phase:
    """The phase of that name.

    Raises:
        RecipeError: the recipe has no such phase; those it has are listed.
    """
    for phase in phases(recipe):
        if phase.name == name:
            return phase
    known = ", ".join(phase.name for phase in phases(recipe))
    raise RecipeError(f"phase {name!r}: this recipe has {recipe.rounds} rounds and the phases {known}")


def phases(recipe: Recipe) -> list[Phase]:
    """All phases of a run in the order in which the loop works through them."""
    return [Phase(recipe, round_name(r), r - 1 if r else None) for r in range(recipe.rounds)] + evaluations(recipe)


def evaluations(recipe: Recipe) -> list[Phase]:
    """The phases of the test sets: of the untrained model, then of each round that is evaluated."""
    rounds = (Phase(recipe, f"evaluation/{round_name(r)}", r) for r in recipe.evaluated_rounds)
    return [Phase(recipe, BASE, None), *rounds]
