"""The entries of a comparison: judged candidates under a label, checked to answer the same requests under the same judges."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...config import Recipe
from ...errors import DataError
from ...runfolder.phases import phases
from ...storage import digest, listed
from ...text import repeated
from ..systems.systems import PolicyOutput, read_policy
from .contents import Cost
from .cost import read_cost
from .traits import copied


@dataclass(frozen=True)
class Named:
    """A recipe and what its run is called in tables."""

    label: str
    recipe: Recipe


@dataclass(frozen=True)
class Entry:
    """One way of making candidates: a line of every table."""

    label: str
    output: PolicyOutput
    cost: Cost
    # the entry of the whole run, and the round of its method after which this one stands; None for the method's own end
    run: str
    round: int | None = None

    @property
    def recipe(self) -> Recipe:
        """The recipe that it comes from."""
        return self.output.phase.recipe

    @property
    def folder(self) -> Path:
        """Where its candidates lie."""
        return self.output.phase.folder

    @property
    def n_candidates(self) -> int:
        """Candidates a request, as the recipe asks for them."""
        return self.recipe.generate.n_candidates


def read_entries(named: Sequence[Named]) -> list[Entry]:
    """The entries of finished runs: of each its evaluation, and of a run that trains the untrained model's too.

    What the untrained model wrote is left out where a run that does not train holds the very same candidates under the same
    reward.

    Raises:
        DataError: a run is not finished.
    """
    entries: list[Entry] = []
    seen: set[tuple[str, str]] = set()
    trained_last = sorted(named, key=lambda each: each.recipe.rounds > 0)
    for each in trained_last:
        for phase in (p for p in phases(each.recipe) if p.split == "test"):
            output = read_policy(phase, copied)
            # the same candidates chosen among in another way are another entry
            same = (digest(each.recipe.reward.model_dump(mode="json")), output.candidates)
            is_base = each.recipe.rounds > 0 and phase.after_round is None
            if is_base and same in seen:
                continue
            seen.add(same)
            label = f"{each.label} untrained" if is_base else each.label
            entries.append(Entry(label, output, read_cost(label, phase), run=label))
    order = {each.recipe.output: place for place, each in enumerate(named)}
    return sorted(entries, key=lambda entry: order[entry.recipe.output])


def in_one_order(entries: Sequence[Entry]) -> list[Entry]:
    """The entries, each with its requests in the order of the first one's; they must have the same requests."""
    order = {request.id: place for place, request in enumerate(entries[0].output.requests)}
    found = []
    for entry in entries:
        requests = entry.output.requests
        places = sorted(range(len(requests)), key=lambda place: order[requests[place].id])
        found.append(replace(entry, output=entry.output.in_order(places)))
    return found


def refuse_incomparable(entries: Sequence[Entry]) -> None:
    """Refuse entries that cannot stand in one table.

    Raises:
        DataError: labels are equal, or an entry has other requests, other documents or other judges than the first; all such
            are listed.
    """
    twice = repeated(entry.label for entry in entries)
    mistakes = [f"two entries are called {label!r}; rename a recipe" for label in twice]
    first = entries[0]
    for other in entries[1:]:
        mistakes += [f"{other.folder}: {problem}" for problem in _differences(first, other)]
    if mistakes:
        raise DataError(f"these runs cannot be compared:\n{listed(mistakes)}")


def _differences(first: Entry, other: Entry) -> list[str]:
    mine = {request.id: request for request in first.output.requests}
    theirs = {request.id: request for request in other.output.requests}
    if mine.keys() != theirs.keys():
        only = sorted(mine.keys() ^ theirs.keys())
        return [
            f"{len(only)} requests are in {first.label!r} or in {other.label!r} only, for example {only[0]!r}; give both "
            "the same corpus and test split"
        ]
    problems = []
    changed = [i for i in mine if (mine[i].side, mine[i].source) != (theirs[i].side, theirs[i].source)]
    if changed:
        problems.append(
            f"{len(changed)} requests have another side or other documents than in {first.label!r}, for example {changed[0]!r}"
        )
    for name in first.recipe.evaluation.judges:
        here, there = first.output.signatures.get(name), other.output.signatures.get(name)
        if here != there:
            problems.append(
                f"report judge {name!r} is {there or 'absent'} here, but {here} in {first.label!r}; give both recipes the same "
                "evaluation.judges"
            )
    return problems
