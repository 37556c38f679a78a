"""Room: for prompts in their models, for files on the disk, and the right to write them."""

import logging
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..config import Recipe
from ..config.model import LanguageModel
from ..config.section import Check
from ..errors import DataError, RecipeError
from ..estimate.run_size import RunSize
from ..extras import need
from ..generate.method import MethodStep, text_of
from ..generate.methods import METHODS
from ..generate.requests import refuse_no_room
from ..judges import JUDGES
from ..judges.batch import reference_text
from ..judges.cache import JUDGEMENTS
from ..judges.embeddings import EMBEDDINGS
from ..judges.judge import PromptNeeds
from ..models import cache_folder, file_at_hand
from ..records import SummaryRequest
from ..runfolder.phases import PAIRS, Phase, phases
from ..storage import is_writable, local_path, read_json
from ..text.amounts import disk_size
from ..text.mistakes import listed_lines
from ..train.foreign import read_pairs
from ..train.launch import accelerate_config, is_zero3, loses_passes, n_processes
from ..train.options import accumulation, refuse_passes, trainer_options
from ..train.reference import REFERENCE_LOGPS
from ..train.stage import pair_file

if TYPE_CHECKING:
    from tokenizers import Tokenizer

log = logging.getLogger(__name__)

# tokens of a template that may be one with those of what is filled in
MERGED = 8
# of texts that stand alone
NONE: Mapping[str, int] = {}


def place_checks(recipe: Recipe) -> Iterator[Check]:
    """That the run folder and the cache can be written."""
    folders = [recipe.output / name for name in ("logs", "report", *(phase.name for phase in phases(recipe)))]
    # those that are not there yet lie in one that is, and would be refused for it once each
    for folder in [recipe.output, *filter(os.path.lexists, folders)]:
        yield Check("output", partial(_refuse_unwritable, folder, "--set output=FOLDER names another"), is_here=True)
    yield Check(
        "EVENHAND_CACHE", partial(_refuse_unwritable, cache_folder(), "EVENHAND_CACHE names another"), is_here=True
    )
    used = {
        JUDGEMENTS: True,
        EMBEDDINGS: True,
        **{cache: True for backend in recipe.backends.values() if (cache := backend.traits.cache)},
        REFERENCE_LOGPS: recipe.rounds > 0 and bool(recipe.trainer.get("precompute_ref_log_probs")),
    }
    yield from (Check("EVENHAND_CACHE", cache.check, is_here=True) for cache, is_used in used.items() if is_used)


def _refuse_unwritable(folder: Path, remedy: str) -> None:
    place = _existing(folder)
    if not place.is_dir():
        raise RecipeError(f"{folder}: cannot be made, because {place} is a file; {remedy}")
    if not is_writable(place):
        raise RecipeError(f"{folder}: cannot be written in {place}; mend the rights, or {remedy}")


def _existing(path: Path) -> Path:
    """The path, or the nearest folder above it that is there."""
    path = local_path(path).absolute()
    while not path.exists() and path != path.parent:
        path = path.parent
    return path


def refuse_too_much(recipe: Recipe, size: RunSize) -> None:
    """Refuse a run whose files the disk cannot hold.

    Raises:
        RecipeError: what is free, and what would be needed.
    """
    free = shutil.disk_usage(_existing(recipe.output)).free
    # there may be fewer pairs
    if sum(n_bytes for name, n_bytes in size.files.items() if name != PAIRS) > free:
        raise RecipeError(
            f"key 'generate.plans': the run would make {size}, and {disk_size(free)} are free at {recipe.output}; ask for fewer "
            "candidates or requests (corpus.train.sample), or choose another output"
        )


def prompt_checks(phase: Phase, requests: Sequence[SummaryRequest]) -> Iterator[Check]:
    """That prompts and sources fit the models that read them, as far as their tokenizers are on this machine."""
    recipe = phase.recipe
    model = LanguageModel(recipe.model, recipe.generate)
    prompts, subject = _prompts(requests), f"{phase.split} prompts"
    if phase.round is not None:
        # how long training lets a prompt be that is not split, with a summary behind it
        n_pass = recipe.train.max_tokens_per_pass
        if isinstance(recipe.trainer.get("max_length"), int):
            limit = _most_trained(recipe, requests, "documents")
            yield Check("trainer.max_length", partial(_refuse_long, model, prompts, limit, subject), is_here=True)
        if recipe.train.trainer == "shared-prefix":
            limit = Most(n_pass - 1, 0.0, f"max_tokens_per_pass {n_pass}", "or shorten the documents")
            yield Check(
                "train.max_tokens_per_pass", partial(_refuse_long, model, prompts, limit, subject), is_here=True
            )
            if recipe.train.pairs is None:
                yield Check("train.max_tokens_per_pass", partial(_refuse_passes, phase, model, prompts), is_here=True)
    if recipe.generate.has_model:
        yield Check("generate.max_model_len", partial(_refuse_length, "generate.max_model_len", model), is_here=True)
        for step in METHODS[phase.method].steps(requests, recipe, phase.answer_tokens):
            yield Check("generate.max_model_len", partial(_refuse_step, phase, step), is_here=True)
    for name in phase.judges:
        options = recipe.judges[name]
        for below, model in options.language_models.items():
            key = ".".join(filter(None, ("judges", name, below, "backend.max_model_len")))
            yield Check(key, partial(_refuse_length, key, model), is_here=True)
        if asks := JUDGES[options.kind].prompt:
            needs = asks(name, options)
            yield Check(f"judges.{name}", partial(_refuse_sources, phase, requests, name, needs), is_here=True)


def refuse_unfit_pairs(phase: Phase) -> None:
    """Refuse pairs that cannot be read, or are longer by their texts alone than training lets them be; its libraries take
    a quarter of a minute to say so.

    Raises:
        DataError: there are no pairs, or lines are none.
        RecipeError: pairs are too long.
    """
    recipe, path = phase.recipe, pair_file(phase)
    pairs, mistakes = read_pairs(path, recipe.train.form)
    if mistakes:
        raise DataError(listed_lines(path, mistakes))
    # what is too long stops the training, or is left out
    decisive = max if recipe.train.excess_length_strategy == "raise" else min
    answers: dict[str, tuple[int, str]] = {}
    for line, pair in pairs:
        prompt, answer = text_of(pair.prompt), (line, max(pair.chosen_text, pair.rejected_text, key=len))
        answers[prompt] = decisive(answers.get(prompt, answer), answer, key=lambda one: len(one[1]))
    texts = {f"line {line}": prompt + answer for prompt, (line, answer) in answers.items()}
    limit = _most_trained(recipe, texts, "texts" if recipe.train.pairs else "documents")
    _refuse_long(LanguageModel(recipe.model, recipe.generate), texts, limit, f"prompts with answers in {path}")


def _refuse_passes(phase: Phase, model: LanguageModel, prompts: Mapping[str, str]) -> None:
    """Refuse micro-batches that need several passes by their prompts alone, where passes would be lost; warn where candidates
    may make it so. Of which requests there are pairs shows later.
    """
    recipe, tokenizer = phase.recipe, _tokenizer(model)
    try:
        config = accelerate_config(recipe.train.accelerate_config)
        processes = n_processes(recipe.train, config)
        n_accumulated, is_meant = accumulation(recipe, processes), loses_passes(recipe)
    except RecipeError:
        # which the rehearsal of the training says
        return
    if tokenizer is None or not prompts or not is_meant:
        return
    allowed, size = recipe.train.max_tokens_per_pass, int(trainer_options(recipe)["per_device_train_batch_size"])
    lengths = sorted(len(tokenizer.encode(text, add_special_tokens=False).ids) for text in prompts.values())
    answers = sum(plan.candidates * plan.max_tokens for plan in phase.plans.values())
    largest = sum(lengths[-size:]) + min(size, len(lengths)) * answers
    # whatever requests a step takes
    if len(lengths) >= size * processes * n_accumulated and sum(lengths[:size]) > allowed:
        refuse_passes(largest, allowed, is_zero3=is_zero3(config))
    if largest > allowed:
        log.warning(
            "train.max_tokens_per_pass: a micro-batch has up to %d tokens, if all candidates are as long as they may be. One of "
            "more than %d would lose the gradients of all passes but one, and the training would refuse it: write %d, or lower "
            "trainer.per_device_train_batch_size",
            largest,
            allowed,
            largest,
        )


def _refuse_length(key: str, model: LanguageModel) -> None:
    """vLLM refuses to run a model beyond the positions that it was trained for."""
    path = file_at_hand(model.model.name, model.model.revision, "config.json")
    if path is None or model.backend.backend != "vllm":
        return
    config = read_json(path)
    n_positions = config.get("max_position_embeddings") if isinstance(config, dict) else None
    scaled = isinstance(config, dict) and (
        config.get("rope_scaling") or (config.get("rope_parameters") or {}).get("factor")
    )
    if isinstance(n_positions, int) and not scaled and model.backend.max_model_len > n_positions:
        raise RecipeError(
            f"key {key!r}: {model.backend.max_model_len} tokens are more than the {n_positions} positions of model "
            f"{model.model.name!r}; write {n_positions} or fewer"
        )


def _refuse_step(phase: Phase, step: MethodStep) -> None:
    recipe, generate = phase.recipe, phase.recipe.generate
    refuse_no_room(step.answer, generate.max_model_len)
    limit = Most(generate.max_model_len - step.answer, recipe.limits.failed, f"max_model_len {generate.max_model_len}")
    _refuse_long(LanguageModel(recipe.model, generate), step.texts, limit, f"{phase.split} {step.name}", step.said)


def _prompts(requests: Sequence[SummaryRequest]) -> dict[str, str]:
    return {request.id: text_of(request.prompt) for request in requests}


def _refuse_sources(phase: Phase, requests: Sequence[SummaryRequest], name: str, needs: PromptNeeds) -> None:
    """Refuse a judge whose model cannot take its prompt, or too many of the sources in it, whatever the summaries are."""
    options = phase.recipe.judges[name]
    model = options.language_models[""]
    length = model.backend.max_model_len
    room = length - needs.reply_tokens
    if (tokenizer := _tokenizer(model)) is not None:
        # the shortest prompt of the judge has at least these around what is filled in
        template = needs.template()
        around = template.fill(texts=dict.fromkeys(template.fields, ""))
        room -= max(0, len(tokenizer.encode(around, add_special_tokens=False).ids) - MERGED)
    if room < 1:
        raise RecipeError(
            f"key 'judges.{name}.backend.max_model_len': {length} tokens have no room for a source in addition to the "
            f"judge's own prompt and its reply; write more than {length - room}"
        )
    # a source that is cut fits
    if needs.overflow == "truncate":
        return
    limit = phase.recipe.limits.unscored if needs.overflow == "skip" else 0.0
    texts = {request.id: reference_text(request, options.against) for request in requests}
    _refuse_long(model, texts, Most(room, limit, f"max_model_len {length}"), f"{phase.split} sources for {name!r}")


@dataclass(frozen=True)
class Most:
    """How long texts may be."""

    # in tokens, before anything is laid around them
    tokens: int
    # share of the texts that may be longer
    share: float
    # the key that says so, with its value
    because: str
    # what helps beside a higher value
    remedy: str = "shorten the documents, or allow more to be left out in 'limits'"


def _most_trained(recipe: Recipe, texts: Sized, material: str) -> Most:
    """How long texts may be that are trained on; where training leaves out what is longer, one must be left."""
    length = trainer_options(recipe)["max_length"]
    key = "generate.max_model_len" if recipe.trainer.get("max_length") is None else "trainer.max_length"
    share, mend = 0.0, "write train.excess_length_strategy: drop"
    if recipe.train.excess_length_strategy == "drop" and texts:
        share, mend = (len(texts) - 1) / len(texts), "make other pairs"
    return Most(length, share, f"{key} {length}", f"shorten the {material}, or {mend}")


def _refuse_long(
    model: LanguageModel, texts: Mapping[str, str], limit: Most, subject: str, extras: Mapping[str, int] = NONE
) -> None:
    """Refuse when more texts than allowed are too long with the tokens beside them, where the model's tokenizer is here."""
    tokenizer = _tokenizer(model)
    if tokenizer is None:
        return
    allowed = int(limit.share * len(texts))
    # no token is less than a byte, so shorter texts fit; enough of the longest decide
    most_of = {key: len(text.encode()) + extras.get(key, 0) for key, text in texts.items()}
    longest = sorted((key for key, n in most_of.items() if n > limit.tokens), key=lambda key: -most_of[key])
    over: dict[str, int] = {}
    for key in longest:
        n = len(tokenizer.encode(texts[key], add_special_tokens=False).ids) + extras.get(key, 0)
        if n > limit.tokens:
            over[key] = n
        if len(over) > allowed or n < limit.tokens / 2:
            break
    if len(over) > allowed:
        worst = max(over, key=lambda key: over[key])
        raise RecipeError(
            f"more than {allowed} of {len(texts)} {subject} are too long: {worst!r} has {over[worst]} tokens, and "
            f"{limit.because} leaves {limit.tokens}; raise it, {limit.remedy}"
        )


def _tokenizer(model: LanguageModel) -> "Tokenizer | None":
    """The model's tokenizer, if it is here."""
    if model.model.name == "none" or (model.backend.server is not None and not model.backend.reads_model):
        return None
    path = file_at_hand(model.model.name, model.model.revision, "tokenizer.json")
    return need("tokenizers", "counting tokens").Tokenizer.from_file(str(path)) if path else None
