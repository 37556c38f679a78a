"""Whether the grades of a judge that reads probabilities can be read with a model's tokenizer; no weights are needed."""

from typing import Any

from ..config import ExtractJudge, JudgeOptions, RubricJudge
from ..errors import ModelError, RecipeError
from ..generate.answers import reading
from . import extract, rubric


def refuse_unreadable_grades(name: str, options: JudgeOptions, tokenizer: Any) -> None:
    """Refuse a judge whose grades this tokenizer, its model's own, cannot tell apart; every other judge is let pass.

    Raises:
        RecipeError: its grades cannot be read as probabilities.
    """
    if not isinstance(options, RubricJudge | ExtractJudge) or options.scoring != "expected":
        return
    scales = [rubric.SCALES[options.mode]] if isinstance(options, RubricJudge) else extract.SCALES.values()
    for scale in scales:
        try:
            reading(tokenizer, rubric.grades_of(scale))
        except ModelError as error:
            raise RecipeError(f"key 'judges.{name}.scoring': model {options.model.name!r}: {error}") from error
