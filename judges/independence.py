"""Whether the judges of a report are independent of those that a run chooses and trains by, and judges of the model that writes.

As far as a recipe tells: of a model's family its name tells, since strangers share architectures, and not of every model that was
tuned.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from ..config import JudgeOptions, Recipe
from ..models.bases import is_same_family, is_same_model
from ..runfolder.phases import BASE, open_phase

# names of two judges
Pair = tuple[str, str]


def overlap_warnings(
    recipe: Recipe, signatures: Mapping[str, str], equal: Collection[Pair] = (), *, only_same: bool = False
) -> list[str]:
    """What makes judges of the report less than independent of the reward and of the pairs, in a sentence for each reason.

    Args:
        recipe: says what judges are used for.
        signatures: of the judges that have any.
        equal: pairs of judges that gave equal scores.
        only_same: leave out what is shared by judges that are not one.
    """
    trained_on = judges_trained_on(recipe)
    # the part of the run, what is shared, and with which of its judges -> judges of the report
    reasons: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for name in recipe.evaluation.judges:
        if name in trained_on:
            reasons.setdefault((trained_on[name], "", ()), []).append(name)
            continue
        shared: dict[tuple[str, str], list[str]] = {}
        for second, part in trained_on.items():
            if overlap := _shared(recipe, signatures, name, second, equal, only_same=only_same):
                shared.setdefault((part, overlap), []).append(second)
        for reason, trained_judges in shared.items():
            reasons.setdefault((*reason, tuple(trained_judges)), []).append(name)
    warnings = []
    for (of, overlap, with_whom), names in reasons.items():
        if overlap:
            warnings.append(f"{_named('Report judge', names)} and {_named(f'{of} judge', with_whom)} {overlap}.")
        else:
            are = "is a judge" if len(names) == 1 else "are judges"
            warnings.append(
                f"{_named('Judge', names)} {are} of the report and of the {of}: what was chosen and trained by a score "
                "cannot be proven by it. Name another judge under evaluation.judges."
            )
    of_report = recipe.evaluation.judges
    for place, name in enumerate(of_report):
        for second in of_report[:place]:
            if (name, second) in equal or is_same(recipe, signatures, name, second):
                warnings.append(
                    f"Report judges {second!r} and {name!r} are one judge: they say the same, and count once."
                )
    return warnings


def writer_warning(recipe: Recipe) -> str:
    """Which judges ask the model that writes the summaries, or one of its family, in a sentence; "" where none does."""
    return kin_warning(recipe.judges, recipe.model.name) if recipe.generate.has_model else ""


def kin_warning(judges: Mapping[str, JudgeOptions], writer: str) -> str:
    """Which judges ask this model or one of its family, in a sentence; "" where none does."""
    askers: dict[str, list[str]] = {}
    for name, options in judges.items():
        models = [asked.model.name for asked in options.language_models.values()]
        if any(is_same_model(model, writer) for model in models):
            askers.setdefault(f"the model that writes the summaries, {writer}", []).append(name)
        elif any(is_same_family(model, writer) for model in models):
            askers.setdefault(f"a model of the family of {writer}, which writes the summaries", []).append(name)
    if not askers:
        return ""
    sentences = [
        f"{_named('Judge', names)} {'asks' if len(names) == 1 else 'ask'} {kin}" for kin, names in askers.items()
    ]
    return (
        f"{'. '.join(sentences)}: language models favour what they or their like wrote. Name a model of another family for "
        "judging."
    )


def judges_trained_on(recipe: Recipe) -> dict[str, Literal["reward", "pairs"]]:
    """The judges by whose scores a run chooses or trains, with what they make."""
    if not recipe.rounds and open_phase(recipe, BASE).n_candidates == 1:
        # the only candidate of a request is not chosen
        return {}
    judges: dict[str, Literal["reward", "pairs"]] = dict.fromkeys(recipe.reward.judges, "reward")
    if recipe.pairs.judge is not None and recipe.rounds and recipe.train.pairs is None:
        judges.setdefault(recipe.pairs.judge, "pairs")
    return judges


def _named(noun: str, judges: Sequence[str]) -> str:
    *names, last = map(repr, judges)
    return f"{noun}s {', '.join(names)} and {last}" if names else f"{noun} {last}"


def _shared(
    recipe: Recipe, signatures: Mapping[str, str], name: str, second: str, equal: Collection[Pair], *, only_same: bool
) -> str | None:
    """What two judges have in common, None when they are independent."""
    if is_same(recipe, signatures, name, second):
        return "are the same judge under another name, so it proves nothing"
    if (name, second) in equal:
        return "gave every candidate the same score: they are one judge, which proves nothing"
    if only_same:
        return None
    trained_bases = recipe.judges[second].bases
    common = [basis for basis in recipe.judges[name].bases if basis in trained_bases]
    return f"rest on {' and '.join(common)}, so they share its blind spots" if common else None


def is_same(
    recipe: Recipe, signatures: Mapping[str, str], name: str, second: str, equal: Collection[Pair] = ()
) -> bool:
    """Whether two judges give the same scores: they did, or have equal options that scores depend on, or equal signatures."""
    if (name, second) in equal:
        return True
    if recipe.judges[name].scoring_options() == recipe.judges[second].scoring_options():
        return True
    signature = signatures.get(name)
    return signature is not None and signature == signatures.get(second)
