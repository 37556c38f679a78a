"""The guard rail: what a served summary must not be, and what is tried before none is given.

It must not be empty. Limits are written as those of `evenhand audit --fail-if`: "score(JUDGE) < NUMBER" of a judge's score,
"worst_side(JUDGE) < NUMBER" of what the worst side has. A summary that is beyond one, or of which what it names is not known, is
not served.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ...api.steps import changed
from ...config import JudgeOptions, Recipe
from ...errors import DataError
from ...evaluation.gate.limits import Limit, fold, parse_limit
from ...fairness.groups.quotas import group_quotas, units_of
from ...generate.method import Draw, draws
from ...records import Candidate, Judgement, SummaryRequest
from ...runfolder.phases import BASE, Phase, open_phase
from ...text.mistakes import listed
from .sides import TELL_SIDES, sides_of, worst_side

# where a served summary comes from, in the order in which they are tried
DRAWN, DRAWN_AGAIN, EXTRACTED = "drawn", "drawn again", "extracted"
KNOWN = "of a served summary score(JUDGE) and worst_side(JUDGE) are known"
EXAMPLE = "worst_side(shares) < 0.5"
# what `--fail-if help` prints
HELP = f"""evenhand serve --fail-if "NAME(JUDGE) < NUMBER", with <, <=, > or >=; the number may end in %.
  score       the judge's score: score(faithfulness) < 0.2
  worst_side  the value of the worst side, for judges of kind value-shares or equal-coverage: {EXAMPLE}
JUDGE is one of the recipe's reward.judges or evaluation.judges; put a name with a comma or a bracket in quotes."""
# sentences of an extraction, at least, where there are as many
LEAST_SENTENCES = 3


@dataclass(frozen=True)
class Guard:
    """Limits of what is served; without any, the best candidate with a text is."""

    limits: tuple[Limit, ...] = ()

    def tries_again(self, candidates: Sequence[Candidate]) -> bool:
        """Whether more is tried where none of these candidates can be served."""
        return bool(self.limits) or not all(candidate.text for candidate in candidates)

    def broken(
        self, candidate: Candidate, judgements: Sequence[Judgement], judges: Mapping[str, JudgeOptions]
    ) -> list[str]:
        """Why a candidate is not served, in words: it is empty, or breaks limits; [] where nothing is wrong."""
        if not candidate.text:
            return ["empty summary, stopped at max_tokens" if candidate.finish_reason == "length" else "empty summary"]
        by_name = {fold(judgement.judge): judgement for judgement in judgements}
        reasons = []
        for limit in self.limits:
            judgement = by_name[limit.arguments[0]]
            table = sides_of(judgement, judges[judgement.judge])
            value = judgement.score if limit.function == "score" else worst_side(table) if table else None
            if value is None:
                reasons.append(f"{limit.text}: is not known ({judgement.unscored or 'no sides'})")
            elif limit.is_beyond(value, 0):
                reasons.append(f"{limit.text}: it is {value:.4g}")
        return reasons


def read_guard(texts: Sequence[str], phase: Phase) -> Guard:
    """The limits of a command line.

    Raises:
        DataError: some are written wrongly, or name what the phase's judges do not tell; all mistakes are listed.
    """
    limits, mistakes = [], []
    for text in texts:
        try:
            limits.append(limit := parse_limit(text, example=EXAMPLE))
        except DataError as error:
            mistakes.append(str(error))
        else:
            mistakes += [f"{limit.place}: {why}" for why in _unfit(limit, phase)]
    if mistakes:
        raise DataError(listed(mistakes))
    return Guard(tuple(limits))


def _unfit(limit: Limit, phase: Phase) -> Iterator[str]:
    """Why no served summary can be held to a limit, if so."""
    kinds = {fold(name): phase.recipe.judges[name].kind for name in phase.judges}
    is_side = limit.function == "side" and limit.is_worst
    is_known = is_side or (limit.function == "score" and not limit.is_worst)
    if not is_known or limit.is_now or len(limit.arguments) != 1:
        yield KNOWN
    elif limit.arguments[0] not in kinds:
        yield f"{limit.arguments[0]!r} does not judge; {', '.join(phase.judges)} do"
    elif is_side and kinds[limit.arguments[0]] not in TELL_SIDES:
        telling = [name for name in phase.judges if phase.recipe.judges[name].kind in TELL_SIDES]
        names = ", ".join(telling) or "none; add one of kind value-shares or equal-coverage"
        yield f"it does not tell sides apart; judges that do: {names}"


def later_draws(phase: Phase) -> list[Draw]:
    """As many candidates again, under seeds of their own."""
    plans = phase.plans
    doubled = {name: plan.model_copy(update={"candidates": 2 * plan.candidates}) for name, plan in plans.items()}
    later = [draw for draw in draws(doubled) if draw.repeat >= plans[draw.name].candidates]
    first = sum(plan.candidates for plan in plans.values())
    return [Draw(first + place, draw.name, plans[draw.name], draw.repeat) for place, draw in enumerate(later)]


def can_draw_again(recipe: Recipe) -> bool:
    """Whether the recipe's method draws at random."""
    return recipe.generate.options.asks_model


def extractions(recipe: Recipe, request: SummaryRequest) -> Iterator[Phase]:
    """Phases of fair extractions, the shortest first, none longer than twice that; none at all where one side is summarised.

    Each takes of every side as many sentences as it is due and at least one, and of sides that have equally many equally many.
    """
    if request.perspective is not None or request.attribute is None or not can_draw_again(recipe):
        return
    sizes = Counter(units_of(request, "sentence")[1])
    n_sentences = sum(sizes.values())
    shortest = min(max(LEAST_SENTENCES, len(sizes)), n_sentences)
    for length in range(shortest, min(2 * shortest, n_sentences) + 1):
        quotas = _quotas(sizes, length)
        if len({(sizes[side], n) for side, n in quotas.items()}) == len(set(sizes.values())):
            yield _extracting(recipe.model_dump_json(), tuple(quotas.items()))


def _quotas(sizes: Mapping[str, int], length: int) -> dict[str, int]:
    """Sentences of each side: what it is due, but of none nothing; there are at least as many as sides."""
    quotas = group_quotas(sizes, length, "proportional")
    without = dict.fromkeys((side for side, n in quotas.items() if not n), 1)
    if not without:
        return quotas
    return without | _quotas({side: n for side, n in sizes.items() if side not in without}, length - len(without))


@lru_cache
def _extracting(recipe: str, quotas: tuple[tuple[str, int], ...]) -> Phase:
    values = Recipe.model_validate_json(recipe).model_dump(mode="json")
    of_sides = dict(quotas)
    options = {"notion": "custom", "quotas": of_sides, "unit": "sentence", "length": sum(of_sides.values())}
    evaluation = {**values["evaluation"], "plans": None, "rounds": "last"}
    extracting = {"method": "fair-extractive", "fair_extractive": options, "backend": "scripted"}
    return open_phase(changed(values, generate=extracting, evaluation=evaluation, rounds=0), BASE)
