"""Racing: how many judgements of a costly judge the best of n can be found without.

    python -m evenhand.benchmarks.racing
    python -m evenhand.benchmarks.racing --judged runs/x/evaluation/base --reward coverage faithfulness --costly faithfulness

Cheap judges score all candidates of a request. A line through their scores, fitted within requests that the costly judges have
judged in full, gives each candidate its promise. There are two rules:

    steps      The costly judges take the most promising first. Before each candidate its reward is predicted: its promise, plus
               what the candidates judged so far had beyond theirs, on average. The race ends where the best reward so far exceeds
               the prediction by more than a slack; the candidates that are left are predicted lower still.
    one call   Candidates whose promise lies within a slack of the highest are judged together, and no others.

The slack is calibrated on whole requests: a request judged in full tells the slack that its race would have needed to reach its
best candidate. With a line from elsewhere, and among requests that are exchangeable with m such ones, a slack at the
ceil((m + 1) * keep)-th smallest of the needs keeps the best with a chance of at least `keep`, whatever the line's errors look
like; where m is too small for that, nothing is spared.
Source: split conformal prediction, Lei et al. 2018 (arXiv:1604.04173), section 2.2, with the need as score.

The first table is simulated: rewards and promise are normal and correlate by r within requests, and requests differ in level. The
others are of candidates that judges have scored in full (`--judged`): each document set is raced with the line of the others, and
with the slack that those need, each by the line of all but itself (a jackknife: near `keep`, and not proven). "tokens" are those
of the prompts that the costly judges would run, of those that they run for all candidates, each beginning that prompts of a
request share run once; "anew" where each step runs the documents anew, as an engine does that keeps nothing between calls.
Besides the judges' scores, the logarithm of a candidate's words tells of its promise.
"""

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..config import Recipe
from ..config.recipe_file import load_recipe
from ..errors import DataError
from ..extras import need
from ..generate.backend import prompt_tokens
from ..judges import open_judges
from ..judges.batch import judge_inputs
from ..judges.rubric import Rubric
from ..models import locate
from ..records import Candidate, SummaryRequest
from ..runfolder.files import with_judgements
from ..runfolder.phases import RESOLVED
from ..text import words
from . import Breakdown, Report, bench_options, count, run_bench
from .judging import shared_minimum

Floats = NDArray[np.float64]

STEPS, ONE_CALL = "steps", "one call"
RULES = (STEPS, ONE_CALL)
LEVELS = (0.9, 0.95, 0.98)
# of the judgements
SHARE = 0.6
# correlations of promise and reward within requests
CORRELATIONS = (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9)
CANDIDATES = (8, 12, 16)


@dataclass(frozen=True)
class Field:
    """The candidates of one request, judged in full."""

    set_id: str
    # scores by the cheap judges, and the logarithm of the words, (candidates, judges + 1)
    cheap: Floats
    # (candidates,)
    rewards: Floats
    # token ids of the costly judges' prompts, by candidate; empty where they are not known
    prompts: Sequence[Sequence[list[int]]] = field(default=(), repr=False)


@dataclass(frozen=True)
class Raced:
    """What came of the races."""

    # share of the requests whose best candidate was judged
    kept: float
    # share of the candidates that were judged, mean over requests
    judged: float
    # tokens to run of those for all candidates: with the documents kept between steps, and without
    tokens: tuple[float, float] | None = None


def fit_line(fields: Sequence[Field]) -> Floats:
    """Slopes of the reward on the cheap scores within requests, (judges,): least squares, the shortest where many fit."""
    cheap = np.concatenate([each.cheap - each.cheap.mean(axis=0) for each in fields])
    rewards = np.concatenate([each.rewards - each.rewards.mean() for each in fields])
    slopes: Floats = np.linalg.lstsq(cheap, rewards)[0]
    return slopes


class Race:
    """The race among the candidates of one request, whose rewards are known here and come one by one in earnest.

    Args:
        promise: of each candidate; the first drawn of equal ones goes first.
        rewards: theirs.
        rule: one of RULES.
    """

    def __init__(self, promise: Floats, rewards: Floats, rule: str) -> None:
        self.order = np.argsort(-promise, kind="stable")
        ordered, found = promise[self.order], rewards[self.order]
        beyond = np.cumsum(found - ordered)[:-1] / np.arange(1, len(found))
        # of each candidate from the second on, in order: by how much those before it lead
        self.leads = (
            np.maximum.accumulate(found)[:-1] - (ordered[1:] + beyond) if rule == STEPS else ordered[0] - ordered[1:]
        )
        self._best = int(np.argmax(found))

    @property
    def need(self) -> float:
        """The smallest slack with which the race reaches the best candidate; -inf where it runs first."""
        return float(self.leads[: self._best].max(initial=-math.inf))

    def n_judged(self, slack: float) -> int:
        """How many candidates are judged before the race ends."""
        over = np.flatnonzero(self.leads > slack)
        return int(over[0]) + 1 if len(over) else len(self.order)

    def keeps(self, slack: float) -> bool:
        """Whether the best candidate is judged."""
        return self._best < self.n_judged(slack)


def slack_for(needs: Sequence[float], keep: float) -> float:
    """The slack that keeps the best with a chance of `keep`, in (0, 1); inf where there are too few needs to tell."""
    rank = math.ceil((len(needs) + 1) * keep)
    return sorted(needs)[rank - 1] if rank <= len(needs) else math.inf


def slack_within(races: Sequence[Race], share: float) -> float:
    """The largest slack with which these races judge at most a share of their candidates."""
    known = sorted({lead for race in races for lead in race.leads})
    n = sum(len(race.order) for race in races)
    over = bisect_right(known, share * n, key=lambda slack: sum(race.n_judged(slack) for race in races))
    return known[over - 1] if over else -math.inf


def leave_sets_out(fields: Sequence[Field], rule: str, slack_of: Callable[[Sequence[Race]], float]) -> Raced:
    """Race each request with the line and the slack of the other document sets."""
    races: dict[int, Race] = {}
    for name in dict.fromkeys(each.set_id for each in fields):
        line = fit_line([each for each in fields if each.set_id != name])
        races |= {
            i: Race(each.cheap @ line, each.rewards, rule) for i, each in enumerate(fields) if each.set_id == name
        }
    kept, judged, tokens = [], [], []
    for i, race in races.items():
        slack = slack_of([other for j, other in races.items() if fields[j].set_id != fields[i].set_id])
        n = race.n_judged(slack)
        kept.append(race.keeps(slack))
        judged.append(n / len(race.order))
        tokens.append(run_tokens(fields[i].prompts, race.order[:n].tolist()))
    shares = None
    if all(total for total, _, _ in tokens):
        total, together, anew = np.sum(tokens, axis=0)
        shares = (float(together / total), float(anew / total))
    return Raced(float(np.mean(kept)), float(np.mean(judged)), shares)


def run_tokens(prompts: Sequence[Sequence[list[int]]], judged: Sequence[int]) -> tuple[int, int, int]:
    """Tokens to run for all candidates; for the judged ones, documents kept between them; and documents run anew for each."""
    if not prompts:
        return 0, 0, 0
    mine = [prompts[place] for place in judged]
    return (
        shared_minimum([prompt for each in prompts for prompt in each]),
        shared_minimum([prompt for each in mine for prompt in each]),
        sum(shared_minimum(each) for each in mine),
    )


def correlation(fields: Sequence[Field]) -> float:
    """Correlation of promise and reward within requests, over all of them; the line of a set is that of the others."""
    both = []
    for each in fields:
        line = fit_line([other for other in fields if other.set_id != each.set_id])
        promise = each.cheap @ line
        both.append(np.stack([promise - promise.mean(), each.rewards - each.rewards.mean()]))
    return float(np.corrcoef(np.concatenate(both, axis=1))[0, 1])


def simulated(n: int, r: float, rule: str, keep: float, requests: int) -> Raced:
    """As many races, with the slack of as many others."""
    generator = np.random.default_rng(n)
    races = []
    for _ in range(2 * requests):
        promise = r * generator.normal(size=n)
        rewards = promise + math.sqrt(1 - r**2) * generator.normal(size=n) + generator.normal()
        races.append(Race(promise, rewards, rule))
    slack = slack_for([race.need for race in races[:requests]], keep)
    own = races[requests:]
    kept = np.mean([race.keeps(slack) for race in own])
    return Raced(float(kept), float(np.mean([race.n_judged(slack) / n for race in own])))


def judged_fields(
    folders: Sequence[Path], reward: Sequence[str], by: Sequence[str], costly: Sequence[str]
) -> list[Field]:
    """The requests of phases whose candidates have been judged by the same judges; candidates that lack a score are left out.

    Args:
        folders: the phases'.
        reward: judges of which more is better. The reward is the mean of their scores, each over its standard deviation within
            requests, so that all of them move it alike.
        by: further judges that tell of a candidate's promise.
        costly: those of the reward that race.

    Raises:
        DataError: they are of fewer than two document sets, or a judge of the reward scores all candidates of a request alike.
    """
    recipe = next(load_recipe(each / RESOLVED) for each in folders[0].parents if (each / RESOLVED).is_file())
    prompts = Prompts(recipe, costly)
    cheap = [name for name in (*reward, *by) if name not in costly]
    read = []
    for request, candidates, judgements in chain.from_iterable(map(with_judgements, folders)):
        scores: dict[str, dict[str, float | None]] = {each.id: {} for each in candidates}
        for each in judgements:
            scores[each.candidate_id][each.judge] = each.score
        mine = [each for each in candidates if all(scores[each.id][name] is not None for name in (*reward, *by))]
        if len(mine) > 1:
            columns = {name: np.array([scores[each.id][name] for each in mine], dtype=float) for name in (*reward, *by)}
            columns["words"] = np.array([math.log1p(len(words(each.text))) for each in mine])
            read.append((request.document_set.id, columns, prompts.of(request, mine)))
    if len({set_id for set_id, _, _ in read}) < 2:
        raise DataError(
            f"{folders[0]}: a race is tried on one document set with what others tell, and fewer than two have a request of "
            f"which two candidates have scores by {', '.join((*reward, *by))}"
        )
    spread = {name: math.sqrt(np.mean([columns[name].var() for _, columns, _ in read])) for name in reward}
    if flat := [name for name, value in spread.items() if not value]:
        raise DataError(f"{folders[0]}: judge {flat[0]!r} scores all candidates of a request alike; leave it out")
    return [
        Field(
            set_id,
            np.stack([columns[name] for name in (*cheap, "words")], axis=1),
            np.mean([columns[name] / spread[name] for name in reward], axis=0),
            asked,
        )
        for set_id, columns, asked in read
    ]


class Prompts:
    """What the costly judges of a recipe ask, as token ids; nothing for judges without prompts of one round."""

    def __init__(self, recipe: Recipe, costly: Sequence[str]) -> None:
        opened = open_judges({name: recipe.judges[name] for name in costly})
        self._judges = [judge for judge in opened if isinstance(judge, Rubric)]
        tokenizers = need("transformers", "benchmark 'racing'").AutoTokenizer
        self._tokenizers: dict[str, Any] = {
            name: tokenizers.from_pretrained(locate(model.name, model.revision), trust_remote_code=False)
            for name in costly
            for model, _ in recipe.judges[name].language_models.values()
        }

    def of(self, request: SummaryRequest, candidates: Sequence[Candidate]) -> list[list[list[int]]]:
        """The prompts of each candidate; [] without judges."""
        pairs = [(request, each) for each in candidates]
        asked = [
            [
                prompt_tokens(self._tokenizers[judge.name], judge.prompt(each))
                for each in judge_inputs(judge.against, pairs)
            ]
            for judge in self._judges
        ]
        return [list(each) for each in zip(*asked, strict=True)]


def simulated_rows(requests: int) -> Iterator[Mapping[str, Any]]:
    """What races of the highest level spare, by candidates and correlation."""
    for n in CANDIDATES:
        for r in CORRELATIONS:
            found = {"candidates": n, "r": r}
            for rule in RULES:
                raced = simulated(n, r, rule, LEVELS[-1], requests)
                found |= {f"kept, {rule}": raced.kept, f"judged, {rule}": raced.judged}
            yield found


def judged_rows(fields: Sequence[Field]) -> Iterator[Mapping[str, Any]]:
    """What races among judged candidates spare: by rule and level, and what they keep within a share of the judgements."""
    slacks: dict[str, Callable[[Sequence[Race]], float]] = {
        f"keep {keep:.0%}": partial(_slack_of_level, keep) for keep in LEVELS
    }
    slacks[f"judge {SHARE:.0%}"] = partial(slack_within, share=SHARE)
    for rule in RULES:
        for asked, slack_of in slacks.items():
            raced = leave_sets_out(fields, rule, slack_of)
            found = {"rule": rule, "asked": asked, "kept": raced.kept, "judged": raced.judged}
            if raced.tokens:
                found["tokens"] = raced.tokens[0]
                found |= {"anew": raced.tokens[1]} if rule == STEPS else {}
            yield found


def _slack_of_level(keep: float, races: Sequence[Race]) -> float:
    return slack_for([race.need for race in races], keep)


def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    options = bench_options(
        "racing",
        __doc__,
        argv,
        {"requests": 50},
        requests=count(4000, "simulated requests that are judged in full, and as many that are raced"),
        judged={"type": Path, "nargs": "+", "metavar": "FOLDER", "help": "phases of runs, judged"},
        reward={
            "nargs": "+",
            "action": "append",
            "default": [],
            "metavar": "JUDGE",
            "help": "judges of a reward; may be given again",
        },
        costly={"nargs": "+", "default": [], "metavar": "JUDGE", "help": "those that race"},
        by={"nargs": "+", "default": [], "metavar": "JUDGE", "help": "cheap judges that are not in the reward"},
    )
    report = Report("racing", vars(options))
    if options.judged is None:
        title = f"simulated, {LEVELS[-1]:.0%} are to be kept"
        report.add_breakdown(Breakdown(title, list(simulated_rows(options.requests))))
    for names in options.reward:
        costly = [name for name in names if name in options.costly]
        fields = judged_fields(options.judged, names, [name for name in options.by if name not in names], costly)
        sizes = sorted(len(each.rewards) for each in fields)
        what = f"{len(fields)} requests of {sizes[0]} to {sizes[-1]} candidates, r {correlation(fields):.2f}"
        title = f"{' + '.join(names)}: {what}"
        report.add_breakdown(Breakdown(title, list(judged_rows(fields))))
    report.finish()


if __name__ == "__main__":
    run_bench(main)
