"""A gate acts on a language model's grades only where it is known that they are worth something."""

from ...config import Recipe
from ...errors import DataError
from ...judges import open_judge
from ...judges.calibration import how, known_of, read_calibrations
from ...text.mistakes import listed
from ..worth import standing
from .limits import OF_PEOPLE, GateRequest, fold


def refuse_uncalibrated(request: GateRequest | None, recipe: Recipe) -> None:
    """Refuse limits on scores of language models of which nothing is known, or no agreement, before any work.

    Raises:
        DataError: all of them are listed.
    """
    named = [
        (limit, name)
        for limit in (request.limits if request else ())
        for name, judge in recipe.judges.items()
        # what people would say is corrected by their ratings, whatever the judge is worth
        if judge.language_models and fold(name) in limit.arguments and not limit.function.startswith(OF_PEOPLE)
    ]
    if not named:
        return
    signatures = {name: open_judge(name, recipe.judges[name]).signature for _, name in named}
    purposes = {name: recipe.judges[name].purpose for name in signatures}
    known = known_of(signatures, read_calibrations(recipe.calibration), purposes)
    mistakes = [
        f"{limit.place}: judge {name!r} asks a language model, and no calibration of it is known, so that no gate may act on its "
        f"scores; {how()} writes one, and the recipe's key `calibration` names it"
        for limit, name in named
        if name not in known
    ]
    mistakes += [
        f"{limit.place}: judge {name!r} asks a language model, and of its {known[name].purpose} its calibration says: "
        f"{standing(known[name]).text}; gate on scores of a judge that agrees with what is known of summaries"
        for limit, name in named
        if name in known and not known[name].has_agreement
    ]
    if mistakes:
        raise DataError(listed(mistakes))


def refuse_llm_units(request: GateRequest | None, *, is_by_model: bool) -> None:
    """Refuse limits of an audit on coverage of units that a language model makes: no calibration speaks of them.

    Args:
        request: limits; None refuses nothing.
        is_by_model: whether a language model makes the units.

    Raises:
        DataError: all of them are listed.
    """
    if request is None or not is_by_model:
        return
    mistakes = [
        f"{limit.place}: rests on units that a language model makes (units: llm), of which no calibration is known; gate on "
        "units: rules or sentences"
        for limit in request.limits
        if any("coverage" in term for term in (limit.function, *limit.arguments))
    ]
    if mistakes:
        raise DataError(listed(mistakes))
