"""What each judge of a run is used for, and whether the report's judges are independent of those that rounds train on.

A policy trained on a judge learns that judge's habits with its taste: its score rises whether or not the summaries
became better. Only a judge that was no reward, and made no preference pairs, says whether they did.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from ...config import Recipe
from ...runfolder.phases import BASE, open_phase
from .contents import JudgeNote

Role = Literal["report", "reward", "both"]


def judge_notes(recipe: Recipe, signatures: Mapping[str, str]) -> list[JudgeNote]:
    """The judges of the evaluation with their role; independent ones first, those of the reward last."""
    order = {"report": 0, "both": 1, "reward": 2}
    # a judge of the pairs alone scores no evaluation
    names = dict.fromkeys(recipe.evaluation.judges + recipe.reward.judges)
    trained_on = _trained_on(recipe)
    notes = []
    for name in names:
        same = any(name == other or _is_same(recipe, signatures, name, other) for other in trained_on)
        role: Role = "reward" if name not in recipe.evaluation.judges else "both" if same else "report"
        signature = signatures.get(name, "no judgement")
        options = recipe.judges[name]
        notes.append(
            JudgeNote(
                name=name,
                signature=signature,
                role=role,
                better=options.better,
                is_rate=options.is_rate,
                scale=options.scale,
            )
        )
    return sorted(notes, key=lambda note: order[note.role])


def deciding(judges: Sequence[JudgeNote]) -> list[JudgeNote]:
    """The judges that a headline goes by: those that say what is better and were no reward; the others where there are none."""
    directed = [judge for judge in judges if judge.better and judge.role != "reward"]
    return [judge for judge in directed if judge.role == "report"] or directed


def overlap_warnings(recipe: Recipe, signatures: Mapping[str, str]) -> list[str]:
    """What makes judges of the report less than independent of the reward and of the pairs, in a sentence for each reason."""
    trained_on = _trained_on(recipe)
    # the part of the run, what is shared, and with which of its judges -> judges of the report
    found: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for name in recipe.evaluation.judges:
        if name in trained_on:
            found.setdefault((trained_on[name], "", ()), []).append(name)
            continue
        shared: dict[tuple[str, str], list[str]] = {}
        for other, part in trained_on.items():
            if what := _shared(recipe, signatures, name, other):
                shared.setdefault((part, what), []).append(other)
        for reason, others in shared.items():
            found.setdefault((*reason, tuple(others)), []).append(name)
    warnings = []
    for (of, what, with_whom), names in found.items():
        if what:
            warnings.append(f"{_named('Report judge', names)} and {_named(f'{of} judge', with_whom)} {what}.")
        else:
            are = "is a judge" if len(names) == 1 else "are judges"
            warnings.append(
                f"{_named('Judge', names)} {are} of the report and of the {of}: what was chosen and trained by a score "
                "cannot be proven by it. Name another judge under evaluation.judges."
            )
    return warnings


def _trained_on(recipe: Recipe) -> dict[str, Literal["reward", "pairs"]]:
    """The judges by whose scores a run chooses or trains, with what they make."""
    if not recipe.rounds and open_phase(recipe, BASE).n_candidates == 1:
        # the only candidate of a request is not chosen
        return {}
    found: dict[str, Literal["reward", "pairs"]] = dict.fromkeys(recipe.reward.judges, "reward")
    if recipe.pairs.judge is not None and recipe.rounds and recipe.train.pairs is None:
        found.setdefault(recipe.pairs.judge, "pairs")
    return found


def _named(what: str, judges: Sequence[str]) -> str:
    *others, last = map(repr, judges)
    return f"{what}s {', '.join(others)} and {last}" if others else f"{what} {last}"


def _shared(recipe: Recipe, signatures: Mapping[str, str], name: str, other: str) -> str | None:
    """What two judges have in common, None when they are independent."""
    if _is_same(recipe, signatures, name, other):
        return "are the same judge under another name, so it proves nothing"
    theirs = recipe.judges[other].bases
    common = [basis for basis in recipe.judges[name].bases if basis in theirs]
    return f"rest on {' and '.join(common)}, so they share its blind spots" if common else None


def _is_same(recipe: Recipe, signatures: Mapping[str, str], name: str, other: str) -> bool:
    """Whether two judges give the same scores: equal options that scores depend on, or equal signatures."""
    if recipe.judges[name].scoring_options() == recipe.judges[other].scoring_options():
        return True
    signature = signatures.get(name)
    return signature is not None and signature == signatures.get(other)
