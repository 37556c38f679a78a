"""The judges of the reward must be worth what the recipe demands of them."""

from collections.abc import Iterator
from functools import partial

from ..config import Recipe
from ..config.section import Check
from ..errors import DataError, EvenhandError, RecipeError
from ..judges import open_judge
from ..judges.calibration import Calibration, JudgeCalibration, how, read_calibrations
from ..models.dates import undated
from ..number import Number
from ..text.mistakes import listed

REMEDY = "name another judge in reward.judges, or leave limits.judge.above out"


def worth_checks(recipe: Recipe) -> Iterator[Check]:
    """That the calibrations can be read, and that the reward's judges keep `limits.judge`."""
    if recipe.calibration:
        yield Check("calibration", partial(_read, recipe), is_here=True)
    if recipe.limits.judge and recipe.limits.judge.calibrated:
        yield Check("limits.judge", partial(_refuse_worthless, recipe), is_here=True)


def _read(recipe: Recipe) -> list[Calibration]:
    try:
        return read_calibrations(recipe.calibration)
    except DataError as error:
        raise RecipeError(f"key 'calibration': {error}") from error


def _refuse_worthless(recipe: Recipe) -> None:
    """Refuse a reward whose judges are not known, or not worth enough."""
    files = _read(recipe)
    mistakes, n_held = [], 0
    for name in recipe.reward.judges:
        purpose = recipe.judges[name].purpose
        try:
            signature = open_judge(name, recipe.judges[name]).signature
        except EvenhandError:
            # is said of the key that names what is absent
            n_held += 1
            continue
        calibrations = [(file, calibration) for file in files if (calibration := file.of(signature, purpose))]
        # a judge of a purpose of its own, and one whose purpose was told when it was audited
        if not calibrations and purpose is None:
            continue
        n_held += 1
        if not calibrations:
            mistakes.append(_unknown(recipe, name, signature, files))
        elif recipe.limits.judge and recipe.limits.judge.above:
            # each file that has it: what one page shows another may not
            mistakes += [
                f"judges.{name}: {_not_above(*entry)}; {REMEDY}" for entry in calibrations if not entry[1].beats_length
            ]
            if (weight := recipe.reward.weights.get(name, 1.0)) < 0 and recipe.judges[name].better == "higher":
                mistakes.append(f"judges.{name}: its weight {weight:g} rewards what it scores low; {REMEDY}")
    if not n_held and recipe.limits.judge and recipe.limits.judge.above:
        mistakes.append(
            "no judge of the reward is to measure coverage or faithfulness, so none can be above length; " + REMEDY
        )
    if mistakes:
        raise RecipeError(f"key 'limits.judge': {listed(list(dict.fromkeys(mistakes)))}")


def _unknown(recipe: Recipe, name: str, signature: str, files: list[Calibration]) -> str:
    named = ", ".join(map(str, recipe.calibration))
    namesake = next((calibration for file in files for calibration in file.judges if calibration.judge == name), None)
    difference = ""
    if namesake and undated(namesake.signature) == undated(signature):
        difference = (
            f" It has it as a judge of {namesake.purpose}, and here it is to measure {recipe.judges[name].purpose}."
        )
    elif namesake:
        difference = f" It has a judge {name!r} that differs: {namesake.signature}, and here it is {signature}."
    return f"judges.{name} is not in {named}.{difference} {how()} calibrates it"


def _not_above(file: Calibration, calibration: JudgeCalibration) -> str:
    """What a calibration says of a judge that is not above length."""
    where = f"by {file.file} ({file.n_articles} articles, {file.date})"
    if calibration.scores_nothing:
        return f"{where} it scores nothing"
    if calibration.is_constant:
        return f"{where} it gives every summary the same score"
    agreement, length, gap = calibration.own.within, calibration.length, calibration.length.difference or Number()
    interval = _interval(agreement.low, agreement.high)
    statement = f"its agreement with {calibration.purpose} within articles is {_shown(agreement.value)} ({interval})"
    if not calibration.has_agreement:
        return f"{where} {statement}, so that no agreement could be shown"
    return (
        f"{where} {statement} and that of {length.of} {_shown(length.within.value)}: {_shown(gap.value)} more "
        f"({_interval(gap.low, gap.high)}) is not clearly above length"
    )


def _shown(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.2f}"


def _interval(low: float | None, high: float | None) -> str:
    return f"{_shown(low)} to {_shown(high)}"
