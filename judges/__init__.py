"""Judges: anything that scores a candidate, their cache and their combination."""

from collections.abc import Callable, Mapping
from typing import Any

from ..config import JudgeOptions
from .alignment import open_alignment
from .bertscore import open_bertscore
from .bleurt import open_bleurt
from .contrast import open_contrast
from .equal_coverage import open_equal_coverage
from .extract import open_extract
from .finesure import open_finesure
from .judge import Judge, JudgeInput, Verdict
from .minicheck import open_minicheck
from .opinion_graph import open_opinion_graph
from .rouge import open_rouge
from .rubric import open_rubric
from .rules import open_contract, open_length
from .shared import SharedModels
from .summac import open_summac
from .unieval import open_unieval
from .value_shares import open_value_shares

# kind in the recipe -> what makes such a judge of its name, its options and the models that judges share
JUDGES: dict[str, Callable[[str, Any, SharedModels], Judge]] = {
    "rubric": open_rubric,
    "finesure": open_finesure,
    "extract": open_extract,
    "alignment": open_alignment,
    "bertscore": open_bertscore,
    "summac": open_summac,
    "unieval": open_unieval,
    "minicheck": open_minicheck,
    "bleurt": open_bleurt,
    "rouge": open_rouge,
    "length": open_length,
    "contract": open_contract,
    "value-shares": open_value_shares,
    "equal-coverage": open_equal_coverage,
    "opinion-graph": open_opinion_graph,
    "contrast": open_contrast,
}


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
    """
    return JUDGES[options.kind](name, options, models or SharedModels())


def open_judges(options: Mapping[str, JudgeOptions]) -> list[Judge]:
    """The judges of these names and options; those on the same model share it."""
    models = SharedModels()
    return [open_judge(name, section, models) for name, section in options.items()]


__all__ = ["JUDGES", "Judge", "JudgeInput", "Verdict", "open_judge", "open_judges"]
