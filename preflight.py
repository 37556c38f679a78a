"""Checks that need no model but look beyond the recipe: model folders, prompts, interpreters, the training launch.

A recipe can be sound and still fail hours later because a judge's model folder is not there. All such mistakes are
reported together, before any work.
"""

import shutil
from collections.abc import Callable, Iterator
from functools import partial

from . import models, tracking
from .config import (
    AlignmentJudge,
    BleurtJudge,
    ContrastJudge,
    EqualCoverageJudge,
    ExtractJudge,
    FineSurEJudge,
    JudgeOptions,
    MatcherSection,
    MetricSection,
    OpinionGraphJudge,
    Recipe,
    RubricJudge,
    SplittingMetricSection,
    SummacJudge,
    ValueSharesJudge,
)
from .errors import EvenhandError, RecipeError
from .extras import need
from .judges.alignscore import checkpoint_folder, refuse_pickle
from .judges.bleurt import refuse_unconverted
from .judges.combine import reward_ranges
from .judges.measures.words import source_counter
from .judges.rubric import rubric_template
from .judges.splitters import open_splitter
from .judges.summac import read_weights
from .storage import listed
from .train.launch import accelerate_config, n_processes


def preflight(recipe: Recipe) -> None:
    """Refuse what is bound to fail later.

    Raises:
        RecipeError: something that the recipe names is not there; all such mistakes are listed.
    """
    mistakes: dict[str, None] = {}
    for key, check in _checks(recipe):
        try:
            check()
        except EvenhandError as error:
            text = str(error)
            mistakes.setdefault(text if text.startswith("key ") else f"key {key!r}: {text}")
    if mistakes:
        raise RecipeError(listed(list(mistakes)))


def _checks(recipe: Recipe) -> Iterator[tuple[str, Callable[[], object]]]:
    """Each key of the recipe that can be checked, with its check."""
    if recipe.generate.has_model or recipe.rounds:
        yield "model.name", partial(models.check, recipe.model.name)
    for name, options in recipe.judges.items():
        yield from _judge_checks(f"judges.{name}", name, options)
    yield "reward.combine", partial(reward_ranges, recipe.reward, recipe.judges)
    if recipe.rounds:
        yield "train", partial(_launchable, recipe)
    yield "generate.python", partial(_refuse_program, recipe.generate.python)
    yield "train.python", partial(_refuse_program, recipe.train.python)
    yield "wandb", partial(tracking.check, recipe)


def _judge_checks(key: str, name: str, options: JudgeOptions) -> Iterator[tuple[str, Callable[[], object]]]:
    if isinstance(options, RubricJudge | FineSurEJudge | ExtractJudge):
        yield f"{key}.model.name", partial(models.check, options.model.name)
    if isinstance(options, RubricJudge):
        yield f"{key}.template", partial(rubric_template, name, options)
    if isinstance(options, AlignmentJudge | MetricSection):
        yield f"{key}.model", partial(_check_metric, options)
    if isinstance(options, AlignmentJudge | SplittingMetricSection):
        yield f"{key}.splitter", partial(open_splitter, options.splitter)
    if isinstance(options, SummacJudge) and options.weights is not None:
        yield f"{key}.weights", partial(read_weights, options.weights)
    if isinstance(options, ExtractJudge) and "similarity" in options.extractors:
        yield f"{key}.encoder", partial(models.check, options.encoder)
    if isinstance(options, ExtractJudge) and "entailment" in options.extractors:
        yield f"{key}.nli", partial(models.check, options.nli)
    if isinstance(options, ValueSharesJudge):
        yield from _matcher_checks(f"{key}.matcher", options.matcher)
    if isinstance(options, EqualCoverageJudge | ContrastJudge):
        if options.entailer.model_name:
            yield f"{key}.entailer.model", partial(models.check, options.entailer.model_name)
        if options.entailer.splitter:
            yield f"{key}.entailer.splitter.model.name", partial(models.check, options.entailer.splitter.model.name)
    if isinstance(options, OpinionGraphJudge):
        yield key, partial(need, "networkx", "judge 'opinion-graph'")


def _matcher_checks(key: str, section: MatcherSection) -> Iterator[tuple[str, Callable[[], object]]]:
    if section.has_model:
        yield f"{key}.model", partial(models.check, section.model_name)
    if section.kind != "words":
        yield key, partial(source_counter, section)


def _check_metric(options: AlignmentJudge | MetricSection) -> None:
    model = options.model
    if isinstance(options, BleurtJudge):
        refuse_unconverted(model)
    elif isinstance(options, AlignmentJudge) and options.aligner == "alignscore":
        refuse_pickle(model)
        model = checkpoint_folder(model)
    models.check(model)


def _launchable(recipe: Recipe) -> None:
    n_processes(recipe.train, accelerate_config(recipe.train.accelerate_config))


def _refuse_program(program: str | None) -> None:
    if program is not None and shutil.which(program) is None:
        raise RecipeError(f"{program!r} is no program that can be started")
