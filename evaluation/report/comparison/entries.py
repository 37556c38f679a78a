"""The entries of a comparison: judged candidates under a label, checked to answer the same requests under the same judges."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ....config import Recipe
from ....errors import DataError
from ....generate.contract import count_sentences, marks_sentences
from ....generate.stage import GenerateCounts
from ....judges.consensus import consensus
from ....models.dates import undated
from ....records import CandidateGroup, SummaryRequest
from ....runfolder.phases import Phase, evaluations
from ....runfolder.stages import read_receipt
from ....text import repeated
from ....text.digests import digest
from ....text.mistakes import listed
from ...abstractiveness import fragments, novel_ngrams
from ..systems.roles import equal_judges
from ..systems.systems import PolicyOutput, read_policy
from .contents import Cost

# numbers of candidates that are looked at when nothing else is asked for; source: docs/papers.md#ri-budgets
BUDGETS = (1, 3, 9, 18)
# how abstractive a candidate is: what the tables call a characteristic -> how it is counted
CHARACTERISTICS = {
    "novel words": "share of words that the side's documents do not have",
    "novel 4-grams": "share of 4-grams that the side's documents do not have",
    "fragment coverage": "share of words in a fragment copied from the side's documents",
    "fragment density": "mean length in words of the copied fragment that a word is in",
    "compression": "words of the side's documents for each word of the summary",
    "characters": "characters of a summary",
    "several sentences": "share of summaries of more than one sentence",
}
# method of summaries that no run made
ELSEWHERE = "elsewhere"
# of a candidate to the others of its request
NEARNESS = "nearness to the other candidates"


@dataclass(frozen=True)
class NamedRecipe:
    """A recipe and what its run is called in tables."""

    label: str
    recipe: Recipe

    @property
    def systems(self) -> list[tuple[str, Phase]]:
        """What tables call the policies that are compared, with their phases: the model as it was, and after the last round."""
        untrained, *rounds = evaluations(self.recipe)
        base = f"{self.label} untrained" if self.recipe.rounds else self.label
        return [(base, untrained), *((self.label, phase) for phase in rounds[-1:])]


@dataclass(frozen=True)
class Entry:
    """One way of making candidates: a line of every table."""

    label: str
    output: PolicyOutput
    # None where nobody counted it
    cost: Cost | None
    # the entry of the whole run, and the round of its method after which this one stands; None for the method's own end
    run: str
    round: int | None = None
    # folder of summaries that were made elsewhere; None of a phase's candidates
    elsewhere: Path | None = None
    # what is to be known of them
    notes: tuple[str, ...] = ()
    # of such summaries by judge the scores of texts that were cut to the length that it reads; none are absent
    n_cut: Mapping[str, int] = field(default_factory=dict)
    # all that the run's own report is about: what the untrained model wrote, and after training the trained one
    of_run: tuple[PolicyOutput, ...] = ()

    @property
    def recipe(self) -> Recipe:
        """The recipe that it comes from."""
        return self.output.phase.recipe

    @property
    def folder(self) -> Path:
        """Where its candidates lie."""
        return self.elsewhere or self.output.phase.folder

    @property
    def method(self) -> str:
        """The method that made its candidates."""
        return ELSEWHERE if self.elsewhere else self.output.phase.method

    @property
    def reward(self) -> tuple[str, ...]:
        """Judges that choose among them; a request's only one is not chosen."""
        return self.recipe.reward.judges if self.n_candidates > 1 else ()

    @property
    def asked(self) -> dict[str, Any]:
        """The recipe, resolved; of summaries that were made elsewhere the part that judging them goes by."""
        resolved = self.recipe.model_dump(mode="json")
        if not self.elsewhere:
            return resolved
        judges = self.recipe.evaluation.judges
        return {
            "seed": resolved["seed"],
            "corpus": {key: resolved["corpus"].get(key) for key in ("path", "columns", "attribute")},
            "task": {"scope": resolved["task"]["scope"]},
            "judges": {name: resolved["judges"][name] for name in judges},
            "evaluation": {"judges": list(judges), **{k: resolved["evaluation"][k] for k in ("level", "resamples")}},
        }

    @property
    def equal_judges(self) -> set[tuple[str, str]]:
        """Pairs of judges that gave every candidate of the run the same score."""
        names = dict.fromkeys(self.recipe.evaluation.judges + self.recipe.reward.judges)
        return equal_judges(self.of_run or [self.output], list(names))

    @property
    def n_candidates(self) -> int:
        """Candidates a request, as the recipe asks for them."""
        return self.output.phase.n_candidates

    def unlike(self, first: "Entry") -> list[str]:
        """The reasons that keep the entry out of a table with the first one."""
        first_requests = {request.id: request for request in first.output.requests}
        requests = {request.id: request for request in self.output.requests}
        if first_requests.keys() != requests.keys():
            only = sorted(first_requests.keys() ^ requests.keys())
            return [
                f"{len(only)} requests are in {first.label!r} or in {self.label!r} only, for example {only[0]!r}; give both "
                "the same corpus and test split"
            ]
        problems = []
        changed = [
            i
            for i in first_requests
            if (first_requests[i].side, first_requests[i].source) != (requests[i].side, requests[i].source)
        ]
        if changed:
            problems.append(
                f"{len(changed)} requests have another side or other documents than in {first.label!r}, for example "
                f"{changed[0]!r}"
            )
        for name in first.recipe.evaluation.judges:
            first_signature, signature = first.output.signatures.get(name), self.output.signatures.get(name)
            if undated(first_signature or "") != undated(signature or ""):
                problems.append(
                    f"report judge {name!r} is {signature or 'absent'} here, but {first_signature or 'absent'} in "
                    f"{first.label!r}; give both recipes the same evaluation.judges"
                )
        return problems


def read_entries(named: Sequence[NamedRecipe]) -> list[Entry]:
    """The entries of finished runs: of each its last evaluation, and of a run that trains the untrained model's too.

    What the untrained model wrote is left out where a run that does not train has the very same candidates under the same
    reward.

    Raises:
        DataError: a run is not finished.
    """
    entries: list[Entry] = []
    seen: set[tuple[str, str]] = set()
    trained_last = sorted(named, key=lambda run: run.recipe.rounds > 0)
    for run in trained_last:
        of_run = tuple(read_policy(phase, compared) for _, phase in run.systems)
        for (label, phase), output in zip(run.systems, of_run, strict=True):
            # the same candidates chosen among in another way are another entry
            identity = (digest(run.recipe.reward.model_dump(mode="json")), output.candidates)
            is_base = run.recipe.rounds > 0 and phase.after_round is None
            if is_base and identity in seen:
                continue
            seen.add(identity)
            entries.append(Entry(label, output, read_cost(label, phase), run=label, of_run=of_run))
    order = {run.recipe.output: place for place, run in enumerate(named)}
    return sorted(entries, key=lambda entry: order[entry.recipe.output])


def compared(request: SummaryRequest, group: CandidateGroup) -> Mapping[str, Mapping[str, float | None]]:
    """The characteristics of each candidate, by the names that tables use, and how near it is to the others.

    None where a summary is too short to tell, or where nearness needs a library that is not here.
    """
    passages = [document.text for document in request.source_documents]
    candidates = [scored.candidate for scored in group.candidates]
    near = (
        consensus([candidate.text for candidate in candidates])
        if find_spec("rouge_score")
        else [None] * len(candidates)
    )
    by_id = {}
    for candidate, nearness in zip(candidates, near, strict=True):
        text = candidate.text
        novel, copied = novel_ngrams(passages, text, (1, 4)), fragments(passages, text)
        several = float(count_sentences(text) > 1) if text.strip() and marks_sentences(text) else None
        values = (
            *novel.values(), copied.coverage, copied.density, copied.compression, float(len(text)), several, nearness
        )  # fmt: skip
        by_id[candidate.id] = dict(zip((*CHARACTERISTICS, NEARNESS), values, strict=True))
    return by_id


def read_cost(label: str, phase: Phase) -> Cost:
    """The cost of candidates: calls and tokens for each draw of a phase, over all requests; zeros when there is none."""
    receipt = read_receipt(phase.folder / "receipts" / "generate.json")
    if receipt is None:
        return Cost(label=label, calls=0, tokens=0, prefilled=None)
    counts = receipt.counted(GenerateCounts)
    n = n_draws(phase, counts.candidates or 1)
    # methods that ask once leave no turns: a candidate is its only call
    calls = counts.candidates if counts.turns is None else counts.turns
    tokens = counts.tokens if counts.turn_tokens is None else counts.turn_tokens
    return Cost(label=label, calls=calls / n, tokens=tokens / n, prefilled=counts.prefilled_tokens / n)


def n_draws(phase: Phase, n_candidates: int) -> float:
    """Independent runs of the method behind that number of candidates: debates whose agents are all candidates are one."""
    return n_candidates / phase.recipe.generate.options.n_linked


def in_one_order(entries: Sequence[Entry]) -> list[Entry]:
    """The entries, each with its requests in the order of the first one's; they must have the same requests."""
    order = {request.id: place for place, request in enumerate(entries[0].output.requests)}
    ordered = []
    for entry in entries:
        requests = entry.output.requests
        places = sorted(range(len(requests)), key=lambda place: order[requests[place].id])
        ordered.append(replace(entry, output=entry.output.in_order(places)))
    return ordered


def refuse_incomparable(entries: Sequence[Entry]) -> None:
    """Refuse entries that cannot stand in one table.

    Raises:
        DataError: labels are equal, or an entry has other requests, other documents or other judges than the first; all such
            are listed.
    """
    twice = repeated(entry.label for entry in entries)
    mistakes = [f"two entries are called {label!r}; rename a recipe" for label in twice]
    first = entries[0]
    for entry in entries[1:]:
        mistakes += [f"{entry.folder}: {problem}" for problem in entry.unlike(first)]
    if mistakes:
        raise DataError(f"these runs cannot be compared:\n{listed(mistakes)}")
