"""Judges must have what they need: models that they can read, prompts, weights, libraries, and texts to compare with.

Nothing here knows a kind of judges: a judge's section and its line in the table of judges answer for themselves.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

from .. import models
from ..config import JudgeOptions
from ..config.model import LOCAL, LanguageModel
from ..config.section import Check
from ..corpora.values import single_valued
from ..errors import EvenhandError, RecipeError
from ..fairness.groups.coverage import ONE_VALUE
from ..generate.causal_lm import check_causal_lm
from ..judges import JUDGES
from ..judges.batch import COMPARING, MISSING_REFERENCE, reference_text
from ..judges.documents import labelled_documents
from ..judges.judge import ModelReader
from ..judges.rubric import refuse_unreadable_grades
from ..models import file_at_hand
from ..models.opening import open_chat_tokenizer, without_numbers
from ..records import SummaryRequest
from ..runfolder.engines import fit_checks
from ..runfolder.phases import Phase

REMEDIES = {
    "key_points": "list them in the corpus (`key_points` of a set), write against: source, or leave the judge out",
    "opposing": "add the other sides' documents, write against: source, or leave the judge out",
    **dict.fromkeys(COMPARING, "ask for two candidates or more under generate.plans, or leave the judge out"),
}


def under(key: str, below: str) -> str:
    """The key of what stands below a section; "" is the section itself."""
    return f"{key}.{below}" if below else key


def judge_checks(name: str, options: JudgeOptions, executor: str) -> Iterator[Check]:
    """That what a judge names is there: models, prompts, weights."""
    key = f"judges.{name}"
    for below, model in options.language_models.items():
        if model.backend.reads_model:
            yield Check(f"{under(key, below)}.model.name", partial(models.check, model.model.name), is_here=True)
        if executor == LOCAL:
            yield from fit_checks(f"{under(key, below)}.backend", model.backend)
    for check in _named(name, options).values():
        yield check._replace(key=f"{key}.{check.key}")


def reading_checks(name: str, options: JudgeOptions) -> Iterator[Check]:
    """That a judge can read its models, as far as they are on this machine."""
    key, kind, named = f"judges.{name}", JUDGES[options.kind], _named(name, options)
    for reader in kind.readers(options):
        read = partial(_refuse_unreadable, reader, named[reader.below])
        yield Check(f"{key}.{reader.below}", read, is_here=True)
    for below, model in options.language_models.items():
        yield Check(f"{under(key, below)}.model.name", partial(_refuse_incomplete, name, model), is_here=True)
    if kind.trial:
        yield Check(f"{key}.file", partial(kind.trial, name, options), is_here=True)
    if kind.prompt and (grades := kind.prompt(name, options).grades):
        below = "scoring" if hasattr(options, "scoring") else "model.name"
        yield Check(f"{key}.{below}", partial(_refuse_grades, name, options, grades, below), is_here=True)


def _named(name: str, options: JudgeOptions) -> dict[str, Check]:
    """What a judge names, by key below its section; the check that its kind has stands for the general one."""
    general = [Check(below, partial(models.check, model), is_here=True) for below, model in options.models.items()]
    return {check.key: check for check in (*general, *JUDGES[options.kind].checks(name, options))}


def _refuse_unreadable(reader: ModelReader, is_there: Check) -> None:
    try:
        is_there.run()
    except EvenhandError:
        # is said by that check
        return
    if file_at_hand(reader.model, reader.revision, "config.json") is not None:
        with without_numbers():
            reader.open()


def _refuse_incomplete(name: str, model: LanguageModel) -> None:
    """Refuse a judge's language model that is on this machine, and not whole."""
    if model.backend.reads_model and file_at_hand(model.model.name, model.model.revision, "config.json"):
        is_for_transformers = model.backend.backend == "transformers"
        check_causal_lm(model.model, model.model.adapter, f"judge {name!r}", is_for_transformers=is_for_transformers)


def _refuse_grades(name: str, options: JudgeOptions, grades: Sequence[Sequence[str]], below: str) -> None:
    """Refuse grades that the model's tokenizer, if it is on this machine, cannot tell apart; `below` is the key to change."""
    model, backend = options.language_models[""]
    path = file_at_hand(model.name, model.revision, "tokenizer_config.json") if backend.reads_model else None
    if path is not None:
        tokenizer = open_chat_tokenizer(str(path.parent), f"judge {name!r}", switches=model.chat_template_kwargs)
        refuse_unreadable_grades(f"judges.{name}.{below}", model.name, grades, tokenizer)


def text_checks(phase: Phase, requests: Sequence[SummaryRequest]) -> Iterator[Check]:
    """That there are requests, and that each judge of the phase can score enough of them."""

    def refuse_none() -> None:
        if not requests:
            raise RecipeError(
                f"no document set is left for the {phase.split} split; widen it, or add sets to the corpus"
            )

    yield Check(f"corpus.{phase.split}", refuse_none)
    if requests:
        for name in phase.judges:
            yield Check(f"judges.{name}", partial(_refuse_unscored, phase, requests, name))


def _refuse_unscored(phase: Phase, requests: Sequence[SummaryRequest], name: str) -> None:
    """Refuse a judge that would leave more unscored than the recipe allows, whatever the summaries say."""
    options = phase.recipe.judges[name]
    limit = phase.recipe.limits.unscored
    if options.against in COMPARING and phase.n_candidates == 1:
        reasons = {request.id: MISSING_REFERENCE["candidates"] for request in requests}
    else:
        reasons = {request.id: reason for request in requests if (reason := _why_not(options, request))}
    if len(reasons) <= limit * len(requests):
        return
    counted = ", ".join(f"{reason} ({count})" for reason, count in Counter(reasons.values()).most_common())
    if set(reasons.values()) == {ONE_VALUE} and len(reasons) == len(requests):
        attribute = phase.recipe.corpus.attribute
        why = single_valued([request.document_set for request in requests], attribute)
        raise RecipeError(
            f"no {phase.split} request can be scored, because the judge compares values and {why or 'each has one value'}; name "
            f"another corpus.attribute than {attribute!r}, put documents of several into one set, or leave the judge out"
        )
    raise RecipeError(
        f"{len(reasons)} of {len(requests)} {phase.split} requests cannot be scored: {counted}, for example "
        f"{next(iter(reasons))!r}. limits.unscored is {limit}; {REMEDIES.get(options.against, 'leave out such sets, or it')}"
    )


def _why_not(options: JudgeOptions, request: SummaryRequest) -> str | None:
    """Why the judge cannot score any summary of the request; None when it may."""
    if not options.reads_text:
        return None
    if options.against != "documents":
        return None if reference_text(request, options.against).strip() else MISSING_REFERENCE[options.against]
    values = {document.value for document in labelled_documents(request).documents}
    if len(values) < options.least_values:
        return ONE_VALUE if values else MISSING_REFERENCE["documents"]
    without = options.unknown_values(values)
    return f"no weight in target for {', '.join(map(repr, without))}" if without else None
