"""What a recipe names must be there: models, libraries, prompts, programs, arguments of engines."""

import ast
import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

from .. import models
from ..config import Recipe
from ..config.model import LOCAL, LanguageModel, ModelSection
from ..config.python_code import PythonMethodSection
from ..config.section import Check
from ..errors import EvenhandError, RecipeError
from ..extras import missing_extra
from ..generate.python_method import try_method
from ..generate.step_prompts import refuse_step_prompts
from ..generate.vllm_backend import PROCESSOR, converts_bfloat16
from ..judges.combine import reward_ranges, widest_gap
from ..models.bases import refuse_other_base
from ..models.files import CONFIG, read_settings, refuse_adapter
from ..models.templates import has_chat_template
from ..runfolder import tracking
from ..runfolder.engines import fit_checks, machines_of, refuse_small_cluster
from ..runfolder.gpus import visible_gpus
from ..runfolder.places import PLACES
from ..text import did_you_mean
from ..train.publishing import refuse_unpublishable
from ..train.stage import eval_file, own_pairs
from .judges import judge_checks, reading_checks, under

# import names of the libraries of training whose versions matter
TRAINING = {"torch", "transformers", "trl", "peft", "accelerate", "datasets"}
# seconds that another interpreter has to say which libraries it lacks
PATIENCE_SECONDS = 20
# seconds that a hub has to say whether it has a model
PATIENCE_OF_THE_HUB = 4
REMEDY = (
    "name a folder that holds it, or embedded:NAME (evenhand models); a server's model needs its address: backend: openai with "
    "server: {base_url: ...}, of an audit --model NAME@http://HOST/v1"
)
# and SLURM, which this asks, for some seconds where nobody answers
ASKS_SLURM, PATIENCE_OF_SLURM = ("sinfo", "--noheader"), 60


def named_checks(recipe: Recipe) -> Iterator[Check]:
    """Models, prompts, weights, programs."""
    if (recipe.generate.has_model and recipe.generate.reads_model) or recipe.rounds:
        yield Check("model.name", partial(models.check, recipe.model.name), is_here=True)
    for name, options in recipe.judges.items():
        yield from judge_checks(name, options, recipe.executor)
    # judges are opened for it, and their models may be elsewhere
    yield Check("reward.combine", partial(reward_ranges, recipe.reward, recipe.judges), is_here=True)
    if recipe.rounds:
        yield Check("pairs.least_margin", partial(_refuse_wide_margin, recipe), is_here=True)
    if recipe.model.adapter is not None:
        yield Check("model.adapter", partial(_refuse_adapter, recipe.model, recipe.model.adapter), is_here=True)
    yield Check("train.pairs", partial(own_pairs, recipe), is_here=True)
    yield Check("train.eval_pairs", partial(eval_file, recipe), is_here=True)
    if isinstance(code := recipe.generate.options, PythonMethodSection):
        yield Check("generate.code.file", lambda: code.code().refuse_unasked(), is_here=True)
    yield Check("generate.method", partial(refuse_step_prompts, recipe), is_here=True)
    if recipe.executor == LOCAL:
        yield from fit_checks("generate", recipe.generate)
    yield Check("generate.python", partial(_refuse_program, recipe.generate.python), is_here=True)
    yield Check("train.python", partial(_refuse_program, recipe.train.python), is_here=True)
    if recipe.rounds and recipe.train.launcher == "srun":
        yield Check("train.launcher", _refuse_no_slurm, is_here=True)
    if recipe.rounds and recipe.train.python is None:
        yield Check("trainer.report_to", partial(tracking.refuse_absent_trackers, recipe), is_here=True)
    if recipe.rounds:
        yield Check("trainer.push_to_hub", partial(refuse_unpublishable, recipe), is_here=True)
    yield Check("wandb", partial(tracking.check, recipe), is_here=True)


def _refuse_adapter(model: ModelSection, adapter: Path) -> None:
    """Refuse an adapter that is not whole, or of another model, so far as that is known without its weights."""
    refuse_adapter(adapter)
    settings = models.file_at_hand(model.name, model.revision, CONFIG)
    if settings is not None:
        refuse_other_base(model.name, SimpleNamespace(**read_settings(settings)), adapter, by_weights=False)


def whole_checks(recipe: Recipe) -> Iterator[Check]:
    """Checks of what stages may do alone, and a whole run cannot."""
    if recipe.rounds:
        yield Check("generate.backend", partial(_refuse_words_for_tokens, recipe))


def _refuse_words_for_tokens(recipe: Recipe) -> None:
    """Refuse to train on scripted candidates whose prompts were no tokens of the model, which training holds them against."""
    generate = recipe.generate
    if recipe.train.pairs is None and generate.backend == "scripted" and not generate.engine.get("tokenize"):
        raise RecipeError(
            "scripted candidates say nothing of the model's tokens, by which training sees that it reads what was generated; "
            "write rounds: 0, another backend, or engine: {tokenize: true}"
        )


def _language_models(recipe: Recipe) -> dict[str, LanguageModel]:
    """The language models of a recipe by their keys."""
    language_models = {"model": LanguageModel(recipe.model, recipe.generate)} if recipe.generate.has_model else {}
    for name, judge in recipe.judges.items():
        language_models |= {
            ".".join(filter(None, ("judges", name, below, "model"))): language_model
            for below, language_model in judge.language_models.items()
        }
    return language_models


def without_chat_template(recipe: Recipe) -> dict[str, str]:
    """Keys and names of models that have no chat template, as far as their files tell."""
    names = {}
    for key, language_model in _language_models(recipe).items():
        # what is wrong with its files is said by the check of its name
        with contextlib.suppress(EvenhandError):
            if (
                language_model.backend.reads_model
                and has_chat_template(language_model.model.name, language_model.model.revision) is False
            ):
                names[f"{key}.name"] = language_model.model.name
    return names


def slow_on_this_processor(recipe: Recipe) -> list[str]:
    """Keys of models that vLLM would run in bfloat16 here, where there is no GPU and the processor has to convert it."""
    language_models = _language_models(recipe)
    slow = [
        key
        for key, (model, backend) in language_models.items()
        if (backend.backend, model.dtype) == ("vllm", "bfloat16")
    ]
    is_here = bool(slow) and recipe.executor == LOCAL and not visible_gpus() and converts_bfloat16(PROCESSOR)
    return [f"{key}.dtype" for key in slow] if is_here else []


def _refuse_wide_margin(recipe: Recipe) -> None:
    """Refuse a margin that no two rewards can have, which leaves no pair to train on."""
    margin = recipe.pairs.least_margin
    # no scale is narrower than 1, and to open judges costs time
    if recipe.train.pairs is not None or recipe.pairs.is_own or margin <= 1:
        return
    most_gap = widest_gap(recipe.reward, recipe.judges)
    if margin > most_gap:
        raise RecipeError(
            f"{margin:g} is more than the widest gap between two rewards, {most_gap:g}, so no pair would be left to train on; "
            "write less"
        )


def _refuse_program(program: str | None) -> None:
    if program is not None and shutil.which(program) is None:
        raise RecipeError(f"{program!r} is not a program that can be started")


def _refuse_no_slurm() -> None:
    """Refuse srun where no SLURM answers, which would show after everything was generated and judged."""
    try:
        done = subprocess.run(ASKS_SLURM, capture_output=True, text=True, timeout=PATIENCE_OF_SLURM, check=False)
        message = (done.stderr.strip() or f"sinfo ended with exit code {done.returncode}") if done.returncode else ""
    except (OSError, subprocess.TimeoutExpired) as error:
        message = str(error)
    if not message and shutil.which("srun") is None:
        message = "'srun' is not a program that can be started, though sinfo is"
    if message:
        raise RecipeError(
            f"srun starts the training, and no SLURM answers here: {message}\nGive the command where its jobs are submitted "
            "from, or inside of one; or write train.launcher: accelerate, and an accelerate_config for one machine"
        )


def _refuse_cluster(recipe: Recipe) -> None:
    """Refuse machines elsewhere that are not there, or too small."""
    place = PLACES[recipe.executor]
    with place.joined():
        refuse_small_cluster(list(recipe.replicated.values()), machines_of(recipe.executor), place.where)


def engine_checks(recipe: Recipe) -> Iterator[Check]:
    """The libraries of every stage, the arguments of its engine, and whether its models can be had and are whole."""
    generate = recipe.generate
    if recipe.executor != LOCAL:
        yield Check("executor", partial(_refuse_cluster, recipe), is_here=True)
    if generate.has_model:
        language_model = LanguageModel(recipe.model, generate)
        yield from _library_checks("generate.backend", generate.libraries, generate.python)
        yield from _asked_checks("generate", "model", language_model)
    if isinstance(generate.options, PythonMethodSection):
        yield Check("generate.code.file", partial(try_method, generate.options), is_here=True)
    elif recipe.rounds:
        reach = partial(_refuse_out_of_reach, recipe.model.name, recipe.model.revision)
        yield Check("model.name", reach, is_here=True)
    for name, options in recipe.judges.items():
        yield from _library_checks(f"judges.{name}", options.libraries)
        for below, model in options.models.items():
            yield Check(f"judges.{name}.{below}", partial(_refuse_out_of_reach, model, None), is_here=True)
        for below, language_model in options.language_models.items():
            key = under(f"judges.{name}", below)
            yield from _library_checks(f"{key}.backend.backend", language_model.backend.libraries)
            yield from _asked_checks(f"{key}.backend", f"{key}.model", language_model)
        yield from reading_checks(name, options)


def used_libraries(recipe: Recipe) -> set[str]:
    """Import names of the optional libraries that stages in this interpreter use."""
    used = set() if recipe.generate.python else {*recipe.generate.libraries}
    for options in recipe.judges.values():
        used.update(options.libraries)
        used.update(*(each.backend.libraries for each in options.language_models.values()))
    if recipe.rounds and not recipe.train.python:
        used |= TRAINING
    return used


def _library_checks(key: str, libraries: tuple[str, ...], python: str | None = None) -> Iterator[Check]:
    """Check that libraries can be found; none is imported."""

    def refuse() -> None:
        if absent := _absent(libraries, python):
            raise missing_extra(absent[0], f"{python}" if python else "it")

    if libraries:
        yield Check(key, refuse, is_here=True)


@cache
def _absent(libraries: tuple[str, ...], python: str | None) -> list[str]:
    if python is None:
        return [library for library in libraries if find_spec(library) is None]
    if shutil.which(python) is None:
        # is said of the key that names it
        return []
    look = "import sys; from importlib.util import find_spec; print(*[n for n in sys.argv[1:] if find_spec(n) is None])"
    try:
        done = subprocess.run(
            [python, "-c", look, "evenhand", *libraries],
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise RecipeError(f"{python!r} cannot be asked which libraries it has: {error}") from error
    return done.stdout.split()


def _asked_checks(engine: str, model: str, language_model: LanguageModel) -> Iterator[Check]:
    def refuse_arguments() -> None:
        known = _engine_arguments()
        unknown = [name for name in language_model.backend.engine if known and name not in known]
        if unknown:
            hints = "; ".join(f"{name!r} is not an argument of vllm.LLM{did_you_mean(name, known)}" for name in unknown)
            raise RecipeError(f"key '{engine}.engine': {hints}")

    if language_model.backend.backend == "vllm":
        yield Check(f"{engine}.engine", refuse_arguments, is_here=True)
    if language_model.backend.server is not None:
        yield Check(
            f"{engine}.server",
            partial(language_model.backend.server.refuse_unreachable, language_model.model.name),
            is_here=True,
        )
    if language_model.backend.reads_model:
        reach = partial(_refuse_out_of_reach, language_model.model.name, language_model.model.revision)
        yield Check(f"{model}.name", reach, is_here=True)


def _refuse_out_of_reach(name: str, revision: str | None) -> None:
    # what is no id of a hub was looked at already
    if models.is_hub_id(name):
        models.refuse_out_of_reach(name, revision, "evenhand", PATIENCE_OF_THE_HUB, REMEDY)


@cache
def _engine_arguments() -> frozenset[str]:
    """Keyword arguments that the installed vllm.LLM takes, read from its source: importing vLLM takes many seconds.

    Empty where they cannot be told.
    """
    spec = find_spec("vllm")
    if spec is None or spec.origin is None:
        return frozenset()
    package = Path(spec.origin).parent
    arguments: set[str] = set()
    for place, name in (("engine/arg_utils.py", "EngineArgs"), ("entrypoints/llm.py", "LLM")):
        try:
            tree = ast.parse((package / place).read_text(encoding="utf-8"))
        except (OSError, SyntaxError):
            return frozenset()
        classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name]
        if not classes:
            return frozenset()
        for node in classes[0].body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                arguments.add(node.target.id)
            if isinstance(node, ast.FunctionDef) and node.name == "__init__":
                arguments |= {argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)}
    return frozenset(arguments)
