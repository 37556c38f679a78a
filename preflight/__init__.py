"""What the last stage would find, found in the first seconds and without loading a model.

A recipe can be sound and still fail hours later because a judge's model folder is not there, the corpus has no key points, or
TRL knows no such optimiser. All such mistakes are reported together, before any work.
"""

import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial

from ..config import Recipe
from ..config.model import LOCAL
from ..config.section import Check
from ..corpora.leftovers import leftover_in_sets
from ..corpora.values import single_valued
from ..errors import EvenhandError, RecipeError
from ..estimate.run_size import RunSize, phases_by_split, run_size
from ..extras import untried
from ..generate.stage import phase_requests
from ..judges.calibration import unlike
from ..judges.independence import overlap_warnings, writer_warning
from ..models.dates import dated
from ..records import DocumentSet, SummaryRequest
from ..runfolder.dates import run_date
from ..runfolder.engines import idle_engines
from ..runfolder.gpus import visible_gpus
from ..text.mistakes import listed
from .held_out import eval_checks
from .judges import text_checks
from .named import (
    engine_checks,
    named_checks,
    slow_on_this_processor,
    used_libraries,
    whole_checks,
    without_chat_template,
)
from .room import place_checks, prompt_checks, refuse_too_much
from .sets import few_sets
from .training import Rehearsal
from .worth import worth_checks

log = logging.getLogger(__name__)

# what is said of a mistake begins so, unless it has its key in it already
STARTS = ("key ", "section ")


def preflight(recipe: Recipe, *, elsewhere: bool = False) -> RunSize:
    """Refuse what is bound to fail later; what the run will make.

    Args:
        recipe: checked by itself.
        elsewhere: the recipe will run on another machine; whether models, libraries and room are on this one is left out.

    Raises:
        RecipeError: something cannot go well; all such mistakes are listed.
    """
    for name in recipe.idle_judges:
        log.warning("judges.%s: scores nothing, because neither reward, evaluation nor pairs name it", name)
    for key in [] if elsewhere else slow_on_this_processor(recipe):
        log.warning(
            "%s: bfloat16, which took about three times as long as float32 on a processor like this one: --set %s=float32",
            key,
            key,
        )
    for key, name in ({} if elsewhere else without_chat_template(recipe)).items():
        log.warning(
            "%s: %s has no chat template, so it is given the prompt as plain text, which models that were not trained to follow "
            "instructions go on with; name its instruct version, or put a chat_template.jinja beside its files",
            key,
            name,
        )
    for warning in [] if elsewhere else untried(used_libraries(recipe)):
        log.warning("%s", warning)
    # its libraries take seconds to start; meanwhile everything else is looked at
    rehearsed = Rehearsal(recipe) if recipe.rounds and not elsewhere else nullcontext()
    with dated(run_date(recipe.output)), rehearsed as rehearsal:
        mistakes = _failed(
            [
                *named_checks(recipe),
                *whole_checks(recipe),
                *worth_checks(recipe),
                *engine_checks(recipe),
                *place_checks(recipe),
            ],
            elsewhere=elsewhere,
        )
        # of each split; rounds draw anew, so the first stands for the others
        first = {split: split_phases[0] for split, split_phases in phases_by_split(recipe).items()}
        try:
            samples = {split: list(phase_requests(phase)) for split, phase in first.items()}
        except EvenhandError as error:
            # nothing that rests on the corpus can be looked at
            samples = {}
            mistakes[f"key 'corpus': {error}" if not str(error).startswith(STARTS) else str(error)] = None
        read = {request.document_set.id: request.document_set for requests in samples.values() for request in requests}
        for warning in _of_documents(recipe, list(read.values())):
            log.warning("%s", warning)
        for split, requests in samples.items():
            checks = [
                *text_checks(first[split], requests),
                *prompt_checks(first[split], requests),
                *eval_checks(first[split], requests),
            ]
            mistakes |= _failed(checks, elsewhere=elsewhere)
        warn_of_report(recipe, samples.get("test", ()))
        for warning in unlike(recipe.calibration, read.values()):
            log.warning("key 'calibration': %s", warning)
        size = run_size(recipe, samples)
        if not elsewhere:
            # which machines a Ray cluster will have is not known now
            gpus = len(visible_gpus()) if recipe.executor == LOCAL else None
            for warning in idle_engines(recipe, size.n_requests, gpus):
                log.warning("%s", warning)
        mistakes |= _failed(
            [Check("output", partial(refuse_too_much, recipe, size), is_here=True)], elsewhere=elsewhere
        )
        if rehearsal:
            # what a check has said with its key is not said again
            texts = tuple(mistakes)
            mistakes |= {
                refusal: None for refusal in rehearsal.mistakes() if not any(text.endswith(refusal) for text in texts)
            }
    if mistakes:
        raise RecipeError(listed(list(mistakes)))
    return size


def _of_documents(recipe: Recipe, sets: Sequence[DocumentSet]) -> Iterator[str]:
    """What to know of the documents that are read."""
    attribute = recipe.corpus.attribute
    if leftover := leftover_in_sets(sets, [attribute]):
        yield f"key 'corpus.path': {leftover}"
    if why := single_valued(sets, attribute):
        yield f"key 'corpus.attribute': {why}, so nothing is compared between values of {attribute!r}"


def warn_of_report(recipe: Recipe, requests: Collection[SummaryRequest]) -> None:
    """What nothing of the run can mend: judges that prove nothing or know their own hand, and too few test sets."""
    for warning in overlap_warnings(recipe, {}, only_same=True):
        log.warning("key 'evaluation.judges': %s", warning)
    if warning := writer_warning(recipe):
        log.warning("key 'judges': %s", warning)
    if note := few_sets(recipe, requests):
        log.warning("key 'corpus.test': %s", note)


def check_names(recipe: Recipe) -> None:
    """Refuse a recipe that names what is not there: models, prompts, programs.

    For single stages, of which each may have a machine of its own.

    Raises:
        RecipeError: something that the recipe names is not there; all such mistakes are listed.
    """
    if mistakes := _failed(named_checks(recipe)):
        raise RecipeError(listed(list(mistakes)))


def check_training(recipe: Recipe) -> None:
    """Refuse what the training's own libraries refuse; what was found sound before, by `preflight` say, takes no time.

    Raises:
        RecipeError: something cannot go well; all such mistakes are listed.
    """
    with Rehearsal(recipe) as rehearsal:
        mistakes = rehearsal.mistakes()
    if mistakes:
        raise RecipeError(listed(mistakes))


def _failed(checks: Iterable[Check], *, elsewhere: bool = False) -> dict[str, None]:
    """What is wrong, each once with its keys, in the order of the checks; on another machine, what does not depend on this."""
    # a mistake -> its keys; none where the text begins with its own
    mistakes: dict[str, list[str]] = {}
    for check in checks:
        if elsewhere and check.is_here:
            continue
        try:
            check.run()
        except EvenhandError as error:
            text = str(error)
            keys = mistakes.setdefault(text, [])
            if not text.startswith(STARTS) and check.key not in keys:
                keys.append(check.key)
    return dict.fromkeys(
        f"key {', '.join(map(repr, keys))}: {text}" if keys else text for text, keys in mistakes.items()
    )
