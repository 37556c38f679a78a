"""The guard rail: what a served summary must not be, and what is tried before none is given.

It must not be empty. Limits are written as those of `evenhand audit --fail-if`: "score(JUDGE) < NUMBER" of a judge's score,
"worst_side(JUDGE) < NUMBER" of what the worst side has. A summary that is beyond one, or of which what it names is not known, is
not served.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..api.steps import changed
from ..config import JudgeOptions, Recipe
from ..errors import DataError
from ..evaluation.gate.limits import Limit, fold, read_limits
from ..generate.method import Draw, draws
from ..records import Candidate, Judgement, SummaryRequest
from ..runfolder.phases import BASE, Phase, open_phase
from ..storage import listed
from .sides import TELL_SIDES, sides_of, worst_side

# where a served summary comes from, in the order in which they are tried
DRAWN, DRAWN_AGAIN, EXTRACTED = "drawn", "drawn again", "extracted"
KNOWN = "of a served summary score(JUDGE) and worst_side(JUDGE) are known"
# sentences of an extraction, at least
LEAST_SENTENCES = 3


@dataclass(frozen=True)
class Guard:
    """Limits of what is served; without any, the best candidate with a text is."""

    limits: tuple[Limit, ...] = ()

    def tries_again(self, candidates: Sequence[Candidate]) -> bool:
        """Whether more is tried where none of these candidates can be served."""
        return bool(self.limits) or not all(each.text for each in candidates)

    def broken(self, candidate: Candidate, said: Sequence[Judgement], judges: Mapping[str, JudgeOptions]) -> list[str]:
        """Why a candidate is not served, in words: it is empty, or breaks limits; [] where nothing is wrong."""
        if not candidate.text:
            return ["empty summary, stopped at max_tokens" if candidate.finish_reason == "length" else "empty summary"]
        by_name = {fold(each.judge): each for each in said}
        found = []
        for limit in self.limits:
            judgement = by_name[limit.arguments[0]]
            table = sides_of(judgement, judges[judgement.judge])
            value = judgement.score if limit.function == "score" else worst_side(table) if table else None
            if value is None:
                found.append(f"{limit.text}: is not known ({judgement.unscored or 'no sides'})")
            elif limit.is_beyond(value, 0):
                found.append(f"{limit.text}: it is {value:.4g}")
        return found


def read_guard(texts: Sequence[str], phase: Phase) -> Guard:
    """The limits of a command line.

    Raises:
        DataError: one is written wrongly, or names what the phase's judges do not tell; all mistakes are listed.
    """
    names = {fold(name): phase.recipe.judges[name].kind for name in phase.judges}
    telling = [name for name in phase.judges if phase.recipe.judges[name].kind in TELL_SIDES]
    try:
        limits, *_ = read_limits(texts, None)
    except DataError as error:
        raise DataError(f"{error}\n{KNOWN}") from error
    mistakes = []
    for each in limits:
        is_side = each.function == "side" and each.is_worst
        if not (is_side or (each.function == "score" and not each.is_worst)) or each.is_now or len(each.arguments) != 1:
            mistakes.append(f"{each.place}: {KNOWN}")
        elif each.arguments[0] not in names:
            mistakes.append(f"{each.place}: {each.arguments[0]!r} does not judge; {', '.join(phase.judges)} do")
        elif is_side and names[each.arguments[0]] not in TELL_SIDES:
            which = ", ".join(telling) or "none; add one of kind value-shares or equal-coverage"
            mistakes.append(f"{each.place}: it does not tell sides apart; judges that do: {which}")
    if mistakes:
        raise DataError(listed(mistakes))
    return Guard(limits)


def later_draws(phase: Phase) -> list[Draw]:
    """As many candidates again, under seeds of their own."""
    plans = phase.plans
    doubled = {name: plan.model_copy(update={"candidates": 2 * plan.candidates}) for name, plan in plans.items()}
    later = [each for each in draws(doubled) if each.repeat >= plans[each.name].candidates]
    first = sum(plan.candidates for plan in plans.values())
    return [Draw(first + place, each.name, plans[each.name], each.repeat) for place, each in enumerate(later)]


def can_draw_again(recipe: Recipe) -> bool:
    """Whether the recipe's method draws at random."""
    return recipe.generate.fair_extractive is None


def extraction(recipe: Recipe, request: SummaryRequest) -> Phase | None:
    """The phase of a fair extraction of some sentences, of each side its due; None where one side is to be summarised."""
    if request.perspective is not None or request.attribute is None or not can_draw_again(recipe):
        return None
    n_sides = len(request.document_set.values(request.attribute))
    return _extracting(recipe.model_dump_json(), max(LEAST_SENTENCES, n_sides))


@lru_cache
def _extracting(recipe: str, length: int) -> Phase:
    values = Recipe.model_validate_json(recipe).model_dump(mode="json")
    options = {"notion": "proportional", "unit": "sentence", "length": length}
    evaluation = {**values["evaluation"], "plans": None, "rounds": "last"}
    extracting = {"method": "fair-extractive", "fair_extractive": options, "backend": "scripted"}
    return open_phase(changed(values, generate=extracting, evaluation=evaluation, rounds=0), BASE)
