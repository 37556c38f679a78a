"""Judges: anything that scores a candidate, their cache and their combination."""

from collections.abc import Mapping

from ..config import JudgeOptions
from ..doors import Door
from ..errors import EvenhandError, RecipeError
from ..text.mistakes import listed
from .alignment import ALIGNMENT
from .consensus import CONSENSUS
from .equal_coverage import EQUAL_COVERAGE
from .judge import Judge, JudgeInput, Kind, Verdict
from .packaged import packaged_kind
from .python_code import PYTHON
from .rouge import ROUGE
from .rubric import RUBRIC
from .rules import CONTRACT, LENGTH
from .shared import SharedModels
from .value_shares import VALUE_SHARES

CORE: dict[str, Kind] = {
    "rubric": RUBRIC,
    "alignment": ALIGNMENT,
    "rouge": ROUGE,
    "length": LENGTH,
    "contract": CONTRACT,
    "consensus": CONSENSUS,
    "value-shares": VALUE_SHARES,
    "equal-coverage": EQUAL_COVERAGE,
    "python": PYTHON,
}
# kind in the recipe -> what makes such a judge, and what can be asked before
JUDGES: Door[Kind] = Door("judges", "judge", lambda thing: isinstance(thing, Kind), CORE, guard=packaged_kind)


def open_judge(name: str, options: JudgeOptions, models: SharedModels | None = None) -> Judge:
    """The judge that the options describe; no model is loaded before it scores.

    Args:
        name: what the recipe calls it.
        options: its section of the recipe.
        models: where judges that are used together find models that they have in common.

    Raises:
        RecipeError: its prompt template does not exist or lacks a field.
        ModelError: its model is a path that holds no model.
        JudgeError: its model is of a kind that the judge must not load.
        DataError: it matches N-grams and NLTK's data is absent.
        MissingExtra: it needs a library that is not installed, if only to say which version it is.
        PluginError: it is another package's, and cannot be opened.
    """
    return JUDGES[options.kind].open(name, options, models or SharedModels())


def open_judges(options: Mapping[str, JudgeOptions], models: SharedModels | None = None) -> list[Judge]:
    """The judges of these names and options; those on the same model share it, through `models` where they are given."""
    shared = SharedModels() if models is None else models
    return [open_judge(name, section, shared) for name, section in options.items()]


def try_judges(options: Mapping[str, JudgeOptions]) -> None:
    """Try before any work what only a trial tells of judges of these names and options.

    Raises:
        RecipeError: some of them cannot judge; all are listed.
    """
    mistakes = []
    for name, section in options.items():
        try:
            if trial := JUDGES[section.kind].trial:
                trial(name, section)
        except EvenhandError as error:
            mistakes.append(f"judges.{name}: {error}")
    if mistakes:
        raise RecipeError(listed(mistakes))


__all__ = ["JUDGES", "Judge", "JudgeInput", "Verdict", "open_judge", "open_judges", "try_judges"]
