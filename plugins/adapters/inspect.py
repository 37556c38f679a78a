"""Scorers of inspect_ai as judges, and judges as its scorers (https://inspect.aisi.org.uk/scorers.html)."""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from math import isnan
from typing import Any

from ...errors import RecipeError
from ...extras import need
from ...text.shown import shortened
from .opened import OpenJudge

FEATURE = "a scorer of inspect_ai"
# values that inspect_ai has as letters; N, no answer, is no score
LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0}
# why a judge gave none, as inspect_ai counts reasons
UNSCORED = "scoring_failed"


def as_judge(scorer: Any, key: str | None = None) -> Callable[..., float | str]:
    """A function that a judge of `kind: python` can name, from a scorer of inspect_ai.

    The scorer gets the summary as the model's output, the request's prompt, or the sources where there is none, as input; the
    references, or the sources where there are none, as target; and `sources`, `documents`, `topic` and `side` as metadata.

    Args:
        scorer: what a function decorated with `@scorer` gives: `exact()`.
        key: of a scorer whose value is a dict: which of its numbers.

    Raises:
        RecipeError: it is no scorer.
        MissingExtra: inspect_ai is not installed.
    """
    if not any(map(asyncio.iscoroutinefunction, (scorer, type(scorer).__call__))):
        raise RecipeError(
            f"{shortened(scorer)} is no scorer; give what a function with @scorer returns: as_judge(f1())"
        )
    models, scorers = need("inspect_ai.model", FEATURE), need("inspect_ai.scorer", FEATURE)
    task_state = need("inspect_ai.solver", FEATURE).TaskState

    def score(summary: str, sources: list[str], request: Mapping[str, Any]) -> float | str:
        asked = request["prompt"] or "\n\n".join(sources)
        output = models.ModelOutput.from_content("none/evenhand", summary)
        state = task_state(
            model=models.ModelName("none/evenhand"),
            sample_id=request["id"],
            epoch=1,
            input=asked,
            messages=[models.ChatMessageUser(content=asked), output.message],
            target=(target := scorers.Target(list(request["references"]) or list(sources))),
            output=output,
            completed=True,
            metadata={"sources": list(sources), **{name: request[name] for name in ("documents", "topic", "side")}},
        )
        # a notebook has a loop of its own on this thread
        with ThreadPoolExecutor(1) as thread:
            return _number(thread.submit(asyncio.run, _awaited(scorer, state, target)).result(), key)

    return score


async def _awaited(scorer: Any, state: Any, target: Any) -> Any:
    return await scorer(state, target)


def _number(score: Any, key: str | None) -> float | str:
    """The number of a score of inspect_ai, or why there is none."""
    if score is None:
        return "the scorer gave no score"
    value = score.value
    if key is not None:
        value = value.get(key) if isinstance(value, Mapping) else None
        if value is None:
            return f"the scorer's value has no {key!r}"
    if isinstance(value, str) and value in LETTERS:
        return LETTERS[value]
    if not isinstance(value, int | float):
        return (
            f"the scorer's value is no number: {value}" if isinstance(value, str) else "the scorer's value is no number"
        )
    return str(score.reason or score.explanation or "the scorer left it unscored") if isnan(value) else float(value)


def as_scorer(judge: Mapping[str, Any], *, documents: str = "documents", attribute: str | None = None) -> Any:
    """A scorer of inspect_ai from a judge, with mean and standard error; what has no score is `Score.unscored`, with the reason.

    Args:
        judge: {name: keys of a recipe's section, or a function}, of one judge; inspect_ai's logs have its name.
        documents: key of a sample's metadata with its documents: a text, texts, dicts with "text" and "attributes", or a document
            set. A sample without it has its input as the only document.
        attribute: what documents are grouped by, where they have several attributes.

    Raises:
        RecipeError: the keys are wrong.
        MissingExtra: inspect_ai is not installed.
    """
    scorers, threads = need("inspect_ai.scorer", FEATURE), need("anyio.to_thread", FEATURE)
    opened = OpenJudge(judge, attribute)

    @scorers.scorer(metrics=[scorers.mean(), scorers.stderr()], name=opened.name)  # type: ignore[untyped-decorator]
    def judged() -> Any:
        async def score(state: Any, target: Any) -> Any:
            row = state.metadata.get(documents) or state.input_text
            (judgement,) = await threads.run_sync(opened.judge, [state.output.completion], [row])
            if judgement.score is None:
                return scorers.Score.unscored(reason=UNSCORED, explanation=judgement.unscored)
            return scorers.Score(value=judgement.score, explanation=judgement.raw)

        return score

    return judged()
