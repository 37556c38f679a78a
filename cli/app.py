"""The command line. The folder cli alone prints.

Every verb imports what it needs when it runs, so `evenhand --help` and `evenhand validate` answer without torch.
"""

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..config.python_code import code_sections
from ..config.trl_words import with_overrides
from ..errors import EvenhandError
from ..extras import give_home, show_fault, start_logging
from ..runfolder import processes
from . import (
    audit,
    completion,
    estimate,
    exporting,
    families,
    gate_verb,
    importing,
    init,
    models,
    prompts,
    recipes,
    score,
)
from .compare import compare
from .door import HERE, RUNS, SUMMARIES, Verb, add_verbs, at_end, in_order, read_verbs
from .gate import BaselineFile, FailIf, Junit, Markdown, Options, Profile, Strict, read_earlier
from .inputs import Dimensions, Overrides, Ratings, RecipePath, Scales, open_recipe, ratings_file
from .progress import run_with_progress, watched
from .terminal import complain, note, note_cautions, print_plan, say, show_page, summary
from .verbs import Verbs

if TYPE_CHECKING:
    from ..config import Recipe
    from ..evaluation.report.systems.contents import Report
    from ..runfolder.phases import Phase
    from ..runfolder.shards import Shard
    from ..runfolder.stages import Receipt

INTERRUPTED = 130
PhaseName = Annotated[
    str | None,
    typer.Option(
        help="round-00, round-01, ..., evaluation/base or evaluation/round-NN. Default: the run's first phase.",
        autocompletion=completion.phases,
    ),
]
ShardName = Annotated[
    str | None,
    typer.Option(
        "--shard",
        metavar="I/N",
        help="Do only every N-th batch, from the I-th (counted from 0); other processes do the others. Then evenhand run merge.",
    ),
]


def _say_version(is_set: bool) -> None:
    if is_set:
        import evenhand

        say(f"evenhand {evenhand.__version__}")
        raise typer.Exit


def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Options that stand before a verb."""


def validate(
    recipe: RecipePath,
    set_: Overrides = None,
    elsewhere: Annotated[
        bool,
        typer.Option(
            "--elsewhere",
            help="For a recipe of another machine: leave out whether models, libraries and GPUs are here.",
        ),
    ] = False,
) -> None:
    """Check a recipe in seconds, without loading a model; all mistakes are shown together."""
    loaded = open_recipe(recipe, set_)
    from ..loop import plan
    from ..preflight import preflight

    for key, section in code_sections(loaded).items():
        code = section.code()
        say(f"runs code: {key}: {code.label} (SHA-256 {code.digest[:16]})")
    size = preflight(loaded, elsewhere=elsewhere)
    say(f"{recipe} is sound: {len(plan(loaded))} steps, {size}, output {loaded.output}")


def loop(
    recipe: RecipePath,
    set_: Overrides = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the steps with their counts; do nothing.")] = False,
) -> None:
    """Run all rounds and the evaluation; what is done is reused, what was begun continues."""
    loaded = open_recipe(recipe, set_)
    from ..loop import steps
    from ..preflight import preflight

    preflight(loaded)
    if dry_run:
        print_plan(loaded)
        estimate.print_costs(loaded)
        return
    note(f"{loaded.name}: {len(steps(loaded))} steps in {loaded.output}")
    run_with_progress(loaded)
    _print_result(loaded)


def generate(recipe: RecipePath, phase: PhaseName = None, set_: Overrides = None, shard: ShardName = None) -> None:
    """Make the candidates of one phase: requests.jsonl and candidates.jsonl."""
    from ..generate.stage import generate as run
    from ..generate.stage import generate_shard

    with _step("generate", recipe, phase, set_, shard) as step:
        if step.shard is None:
            step.receipt, step.was_done = run(step.phase)
        else:
            step.was_done = not generate_shard(step.phase, step.shard)


def judge(recipe: RecipePath, phase: PhaseName = None, set_: Overrides = None, shard: ShardName = None) -> None:
    """Score the candidates of one phase with the recipe's judges: judgements.jsonl."""
    from ..judges.stage import judge as run
    from ..judges.stage import judge_shard

    with _step("judge", recipe, phase, set_, shard) as step:
        if step.shard is None:
            step.receipt, step.was_done = run(step.phase)
        else:
            step.was_done = not judge_shard(step.phase, step.shard)


def merge(recipe: RecipePath, phase: PhaseName = None, set_: Overrides = None) -> None:
    """Put the shards of one phase's generating or judging together, as one process would have left it."""
    loaded = open_recipe(recipe, set_)
    from ..loop import work_in
    from ..phase_stages import merge as run
    from ..runfolder.tracking import track

    chosen = _phase_of(loaded, phase)
    with work_in(loaded), watched(f"{chosen.name} merge", chosen.folder):
        verb, receipt, is_merged = run(chosen)
        if not is_merged:
            track(chosen, receipt)
    say(summary(f"{chosen.name} {verb}", receipt, reused=is_merged))
    if is_merged:
        say("all is merged already" + ("" if verb == "judge" else "; no shard of judging has begun"))
    note_cautions(receipt)


def rerank(recipe: RecipePath, phase: PhaseName = None, set_: Overrides = None) -> None:
    """Order the judged candidates of one phase: best.jsonl, and pairs.jsonl in rounds."""
    from ..rerank.stage import rerank as run

    with _step("rerank", recipe, phase, set_) as step:
        step.receipt, step.was_done = run(step.phase)


def train(recipe: RecipePath, phase: PhaseName = None, set_: Overrides = None) -> None:
    """LoRA DPO on one round's pairs under accelerate launch: adapter/.

    On several GPUs you may also launch it yourself:
    accelerate launch --config_file $(evenhand recipes accelerate zero2) -m evenhand.train.dpo --config RECIPE

    TRL's options are taken, too: --learning_rate 1e-4 is --set trainer.learning_rate=1e-4, --lora_r 8 is --set lora.r=8.
    """
    from ..train.launch import train as run

    with _step("train", recipe, phase, set_) as step:
        step.receipt, step.was_done = run(step.phase)


def report(  # noqa: PLR0913, PLR0917 (a verb has as many parameters as it has options)
    recipe: RecipePath,
    set_: Overrides = None,
    ratings: Ratings = None,
    dimension: Dimensions = None,
    scale: Scales = None,
    fail_if: FailIf = None,
    profile: Profile = None,
    baseline: BaselineFile = None,
    strict: Strict = False,
    junit: Junit = None,
    markdown: Markdown = None,
) -> None:
    """Compare the systems of a run's evaluation: report/index.html, report.json."""
    loaded = open_recipe(recipe, set_)
    from ..evaluation.gate.calibrated import refuse_uncalibrated
    from ..evaluation.gate.decide import Gating
    from ..evaluation.report.checkpoint.report import logged_numbers
    from ..evaluation.report.checkpoint.report import report as run
    from ..evaluation.report.named import REPORT_PAGE, subject_of
    from ..runfolder.tracking import track_report

    rated = ratings_file(ratings, dimension, scale)
    gate = Options(fail_if, profile, baseline, junit, markdown, strict)
    limits = gate.read(REPORT_PAGE)
    refuse_uncalibrated(limits, loaded)
    earlier = read_earlier(limits, REPORT_PAGE)
    Gating(REPORT_PAGE, limits, earlier).refuse_before(lambda: subject_of(loaded))
    folder = loaded.output / "report"
    with watched("report", folder):
        receipt, reused = run(loaded, limits, earlier, rated)
        track_report(loaded, folder, receipt, logged_numbers(loaded) if loaded.wandb else {})
    say(summary("report", receipt, reused))
    gate.end(_print_result(loaded).gate, "report")


def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Forget all of them.")] = False,
) -> None:
    """Show, or forget, what is cached: judgements, embeddings, log-probabilities, answers.

    They are the judgements of each judge, embeddings, reference log-probabilities of training and answers of servers.
    """
    from ..config.model import answer_caches
    from ..judges.cache import JUDGEMENTS, cache_counts
    from ..judges.embeddings import EMBEDDINGS
    from ..train.reference import REFERENCE_LOGPS

    caches = {
        EMBEDDINGS: "embeddings",
        REFERENCE_LOGPS: "pairs' reference log-probabilities",
        **{store: store.what for store in answer_caches()},
    }
    if clear:
        *first, last = (f"{store.forget()} {label}" for store, label in {JUDGEMENTS: "judgements", **caches}.items())
        say(f"{', '.join(first)} and {last} forgotten")
        return
    for count in cache_counts():
        say(f"{count.scored:8,} scored {count.unscored:6,} unscored  {count.signature}")
    say(f"in {JUDGEMENTS.path}")
    *_, last_store = caches
    for store, label in caches.items():
        say(f"{store.count():8,} {label}")
        say(f"in {store.path}{' (set EVENHAND_CACHE to move all)' if store is last_store else ''}")


def env() -> None:
    """Show which libraries are installed, which extras are missing, where caches lie."""
    from importlib.util import find_spec

    from ..extras import EXTRAS, installed_versions, untried
    from ..models import cache_folder
    from ..runfolder.stages import RECORDED

    versions = installed_versions(RECORDED)
    for name in RECORDED:
        say(f"{name:24}{versions.get(name, '-')}")
    for extra in sorted({*EXTRAS.values()}):
        if absent := [
            library
            for library, library_extra in EXTRAS.items()
            if library_extra == extra and find_spec(library) is None
        ]:
            say(f"extra {extra} is missing ({', '.join(absent)}): pip install 'evenhand[{extra}]'")
    for sentence in untried(RECORDED):
        say(sentence)
    say(f"cache: {cache_folder()} (set EVENHAND_CACHE to move it)")


# verbs of the core, in the order of --help
CORE: dict[str, Verb] = {
    "audit": Verb(audit.audit, SUMMARIES, audit.EXAMPLE, at_end=True, further=audit.plugin_options),
    "gate": Verb(gate_verb.gate, SUMMARIES, gate_verb.EXAMPLE),
    "score": Verb(score.score, SUMMARIES, score.EXAMPLE),
    "init": Verb(init.init, RUNS, init.EXAMPLE, at_end=True),
    "validate": Verb(validate, RUNS, "Example: evenhand validate recipes/quickstart.yaml --set rounds=2"),
    "loop": Verb(loop, RUNS, "Example: evenhand loop recipes/quickstart.yaml --dry-run"),
    "generate": Verb(generate, RUNS, "Example: evenhand generate recipes/quickstart.yaml --phase evaluation/base"),
    "judge": Verb(judge, RUNS, "Example: evenhand judge recipes/quickstart.yaml --phase round-00"),
    "rerank": Verb(rerank, RUNS, "Example: evenhand rerank recipes/quickstart.yaml --phase evaluation/base"),
    "train": Verb(
        train, RUNS, "Example: evenhand train recipes/quickstart.yaml --learning_rate 1e-4", words=with_overrides
    ),
    "report": Verb(report, RUNS, "Example: evenhand report recipes/quickstart.yaml"),
    "compare": Verb(
        compare,
        RUNS,
        "Example: evenhand compare recipes/methods/zero-shot.yaml recipes/methods/rerank.yaml --out runs/methods",
    ),
    "recipes": Verb(recipes.app, HERE),
    "recipes.accelerate": Verb(
        recipes.accelerate, epilog="Example: evenhand recipes accelerate zero2", former="accelerate"
    ),
    "prompts": Verb(prompts.app, HERE),
    "run": Verb(families.RUN, HERE),
    "run.estimate": Verb(estimate.estimate, epilog=estimate.EXAMPLE, former="estimate"),
    "run.merge": Verb(
        merge, epilog="Example: evenhand run merge recipes/quickstart.yaml --phase evaluation/base", former="merge"
    ),
    "run.export": Verb(exporting.export, epilog=exporting.EXAMPLE, at_end=True, former="export"),
    "judges": Verb(families.JUDGES, HERE),
    "import": Verb(importing.app, HERE, at_end=True),
    **importing.VERBS,
    "models": Verb(models.app, HERE),
    "cache": Verb(cache, HERE, "Example: evenhand cache --clear"),
    "env": Verb(env, HERE, "Example: evenhand env"),
}
VERBS = in_order(importing.with_importers(read_verbs(CORE)), CORE)
# all other verbs keep what they have finished
AT_END = at_end(VERBS)
EPILOG = (
    "Exit codes: 0 done; 1 failed; 2 command line, recipe, data or a model are wrong; 3 more was left out than the recipe "
    "allows; 4 a limit is not kept; 5 a server works at a batch; 130 interrupted. After 1, 5 and 130 the same command "
    "continues, or starts over where its --help says so.\n\n"
    "Options: --version; --install-completion, after which the shell completes names; --help."
)

app = Verbs(
    name="evenhand",
    help="Train and check summarizers that treat sides fairly.\n\n"
    "An audit:  [bold]evenhand audit --documents reviews --attribute sentiment --summaries praising[/bold]\n\n"
    "A run:  [bold]evenhand loop quickstart[/bold]  (--dry-run shows its plan)",
    epilog=EPILOG,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.callback()(options)
add_verbs(app, VERBS)


@contextmanager
def refusals_said() -> Iterator[None]:
    """Stand around a verb; evenhand's own refusals become one message and their exit code."""
    interrupted = False

    def note(*_: object) -> None:
        nonlocal interrupted
        interrupted = True
        raise KeyboardInterrupt

    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, note)
    try:
        processes.follow_parent()
        processes.share_processor()
        start_logging()
        give_home()
        yield
    except BaseException as error:
        is_done = isinstance(error, SystemExit) and not error.code
        # whatever the interrupt has become by now: a library may call it an error of its own
        if interrupted and not is_done:
            complain(f"interrupted; {after_interrupt(sys.argv[1:])}")
            sys.exit(INTERRUPTED)
        if not isinstance(error, EvenhandError):
            # typer has put another in its place
            sys.excepthook = show_fault
            raise
        complain(f"error: {error}")
        sys.exit(error.exit_code)


def after_interrupt(arguments: Sequence[str]) -> str:
    """What an interruption of this command line leaves."""
    words = [argument for argument in arguments if not argument.startswith("-")][:2]
    words = [*app.former.get("".join(words[:1]), words)]
    is_at_end = not {words[0] if words else "", " ".join(words)}.isdisjoint(AT_END)
    # what a model wrote to be audited stays
    is_kept = words[:1] == ["audit"] and any(argument.partition("=")[0] == "--model" for argument in arguments)
    return "nothing was kept" if is_at_end and not is_kept else "the same command continues"


@dataclass
class _Step:
    """A stage that a verb runs, or a shard of it, and what came of it."""

    phase: "Phase"
    shard: "Shard | None"
    # None of a shard, which leaves none
    receipt: "Receipt | None" = None
    was_done: bool = False


@contextmanager
def _step(
    verb: str, path: Path, phase_name: str | None, overrides: list[str] | None, written: str | None = None
) -> Iterator[_Step]:
    """Hold the run folder, or the shard's folder there, while a stage is run in the block; what came of it is said then."""
    recipe = open_recipe(path, overrides)
    from ..loop import work_in
    from ..preflight import check_names
    from ..preflight.room import refuse_unfit_pairs
    from ..runfolder.shards import WHOLE, read_shard, shard_folder
    from ..runfolder.tracking import track

    shard = None if written is None else read_shard(written)
    step = _Step(_phase_of(recipe, phase_name), shard)
    check_names(recipe)
    if verb == "train":
        refuse_unfit_pairs(step.phase)
        _check_anew(step.phase)
    title, folder = f"{step.phase.name} {verb}", shard_folder(recipe.output, shard or WHOLE) / step.phase.name
    if shard is not None:
        title += f" shard {shard}"
    with work_in(recipe, shard or WHOLE), watched(title, folder, verb):
        yield step
        if step.receipt is not None:
            track(step.phase, step.receipt)
    if step.receipt is None:
        state = (
            "the whole stage is done already" if step.was_done else "done; evenhand run merge puts all shards together"
        )
        say(f"{title}  {state}")
        return
    say(summary(title, step.receipt, reused=step.was_done))
    # a training has said them
    if verb != "train":
        note_cautions(step.receipt)


def _check_anew(phase: "Phase") -> None:
    """Refuse a training that would put a finished adapter aside and is bound to fail then.

    Where there is none to lose, or srun starts it on other machines, the training says so itself.
    """
    from ..phase_stages import phase_stages
    from ..preflight import check_training

    make = phase_stages(phase).get("train")
    if make is None or phase.recipe.train.launcher == "srun":
        return
    stage = make()
    if stage.receipt_path.is_file() and stage.receipt() is None:
        check_training(phase.recipe)


def _phase_of(recipe: "Recipe", name: str | None) -> "Phase":
    from ..runfolder.phases import open_phase, phases

    return open_phase(recipe, name) if name else phases(recipe)[0]


def _print_result(recipe: "Recipe") -> "Report":
    """Print the headline of a run's report, its main tables, its warnings and where its page lies."""
    from ..evaluation.report.checkpoint.page import page
    from ..evaluation.report.checkpoint.report import read_report
    from ..evaluation.report.people.page import people_blocks

    run_report = read_report(recipe)
    show_page(page(run_report), people_blocks(run_report.people))
    say(f"report: {recipe.output / 'report' / 'index.html'}")
    return run_report
