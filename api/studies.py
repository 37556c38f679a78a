"""Whole studies: an audit of any summaries, runs of recipes, and runs side by side."""

import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any

from ..config import Recipe, SummaryColumnsSection
from ..corpora.summaries import read_summaries, summaries_of
from ..corpora.summary_columns import USUAL, columns_of
from ..errors import DataError, EvenhandError, RecipeError
from ..evaluation.audit.contents import AuditNumber
from ..evaluation.audit.input import AuditedSystem, AuditFiles, AuditInput, input_of
from ..evaluation.audit.options import for_measures
from ..evaluation.audit.run import KEYWORDS, ask, check_before, run_audit
from ..evaluation.pages.folder import Say
from ..evaluation.report.checkpoint.report import read_report
from ..evaluation.report.comparison.build import COMPARISON, compare_runs
from ..evaluation.report.comparison.contents import Comparison
from ..evaluation.report.comparison.entries import NamedRecipe
from ..evaluation.report.comparison.runs import RUNS, folder_name, refuse_unlike, usual_budgets
from ..evaluation.report.people.build import summary_key
from ..evaluation.report.people.ratings import NoRatedTextError, RatedTexts, RatingsFile, read_ratings
from ..evaluation.report.systems.contents import Score
from ..fairness.groups.shares import Mode
from ..generate.stage import phase_requests
from ..judges.bradley_terry import fit_library
from ..loop import Step, plan, run_loop
from ..models.dates import dated
from ..preflight import preflight
from ..records import BestSummary, DocumentSet
from ..runfolder.dates import run_date
from ..runfolder.phases import BASE, BEST, RESOLVED, hold_run, open_phase
from ..runfolder.processes import hold, refuse_held
from ..runfolder.stages import Receipt
from ..storage import read_jsonl
from ..text.digests import digest, digest_of_all
from ..text.mistakes import listed
from .asked import AskedModel, asked_models, write_summaries
from .documents import described, labelled, load_documents
from .results import Best, Candidates, Numbers
from .steps import keys_of, loaded
from .wording import in_python


def load_recipe(recipe: Any, changes: Mapping[str, Any] | None = None) -> Recipe:
    """A checked recipe.

    Args:
        recipe: a file, the name of a recipe that comes with evenhand ("quickstart"), or a dict of its sections.
        changes: dotted keys and their values: {"generate.max_model_len": 2048}.

    Raises:
        RecipeError: it is not a recipe; all mistakes are listed.
    """
    keys_of(changes, "changes")
    return loaded(recipe, [f"{key}={json.dumps(value, default=os.fspath)}" for key, value in (changes or {}).items()])


@in_python(KEYWORDS)
def audit(  # noqa: PLR0913 (as many arguments as the command has options)
    documents: Any,
    summaries: Mapping[str, Any] | None = None,
    attribute: str | Sequence[str] | None = None,
    *,
    group: Any = None,
    out: str | Path | None = None,
    say: Say | None = None,
    summary_columns: Mapping[str, str] | None = None,
    allow_missing: bool = False,
    labels: Mapping[str, str] | None = None,
    measures: str | None = None,
    matcher: str | None = None,
    entailer: str | None = None,
    models: str | Sequence[str] | None = None,
    mode: Mode | None = None,
    tau: float | None = None,
    target: str | None = None,
    least_group: int | None = None,
    n_examples: int | None = None,
    resamples: int | None = None,
    level: float | None = None,
    seed: int | None = None,
    **options: Any,
) -> Numbers[AuditNumber]:
    """Who gets less room than their documents, how sure that is, and in which summaries.

    Args:
        documents: what `load_documents` gives or takes.
        summaries: label -> one summary of each set: what `rerank` gives, what `generate` gives (the first of each request), a
            file, a dict of ids and texts, dicts with "id" and "summary", a data frame of such columns, or texts in the
            order of the sets. Systems are tested against the first. None where `models` are audited.
        attribute: social attribute to be fair to; None takes that of the documents. Of several the tests are corrected together.
        group: groups that take the place of the attribute's values: "critical=1,2; mixed=3; praising=4,5", or
            {"critical": [1, 2], "mixed": 3, "praising": "*"}; as of `load_documents`.
        out: folder for audit.json, audit.md and index.html; None writes nothing.
        say: called with a line on an earlier audit in the folder that will be replaced, and on what models are asked for: print.
        summary_columns: columns or keys of the summaries, where they have other names or several have texts:
            {"text": COLUMN, "id": COLUMN}.
        allow_missing: leave sets without a summary out, counted, instead of refusing.
        labels: what values are called: {"1": "one star"}.
        measures: names with commas between them, as of `evenhand audit`, whose options the others are; None takes the usual.
        matcher: of value-shares and order: "ngram", "words", "bertscore", "bartscore".
        entailer: of coverage: "words", "encoder", "nli".
        models: models to be audited, as of `--model`: each summarises every set first, and what it wrote is kept in `out`, so
            that the same call continues. "NAME@http://HOST/v1" of a server, a folder, an id of a hub, "embedded:NAME" or a
            recipe's file, with "LABEL=" before it or not; "entailer=NAME" and "matcher=NAME" are the models of those measures.
        mode: "drop_zero", as is sound; "released", as published tables were made; "paper".
        tau: share of its due that a value may not fall to, in [0, 1]; 0.8 by default.
        target: what is due: "ratio", "equal", or weights, "pos=0.5,neg=0.5".
        least_group: values in fewer scored sets get no verdict; 5 by default.
        n_examples: most unfair summaries of each family; 5 by default.
        resamples: draws of intervals; 1,000 by default.
        level: of the intervals, in (0, 1); 0.95 by default.
        seed: of the draws and tests; 0 by default.
        options: those of measures that come in beyond the core: tone, opinion_units, word_lists, votes, voters,
            over_voters, published, bounds.

    Raises:
        DataError: documents and summaries do not fit, a model cannot be asked, or an option is wrong; mistakes are listed
            together.
        StepFailed: a model's summaries could not be written.
        MissingExtra: a library that a named matcher or entailer needs is not installed.
    """
    corpus = load_documents(documents, attribute, group=group)
    label_entries = tuple(f"{value}={label}" for value, label in (labels or {}).items())
    folder = None if out is None else Path(out)
    if not isinstance(models or "", Sequence) or not all(isinstance(name, str) for name in models or ()):
        raise DataError(f"models are {described(models)}; give a text, or a list of texts")
    of_measures, of_systems = for_measures([models] if isinstance(models, str) else models or (), matcher, entailer)
    if of_systems and folder is None:
        raise DataError(f"models {of_systems[0]!r}: what a model writes is kept in a folder; name one, out=FOLDER")
    asked = asked_models(of_systems, folder) if folder else []
    options |= {
        "measures": measures, "matcher": matcher, "entailer": entailer, "models": of_measures or None, "mode": mode, "tau": tau,
        "target": target, "least_group": least_group, "n_examples": n_examples, "resamples": resamples, "level": level,
        "seed": seed,
    }  # fmt: skip
    columns = columns_of(summary_columns)

    def read(*, is_before: bool = False) -> AuditInput:
        systems, mistakes = [], []
        by_label = {} if asked and summaries is None else labelled(summaries, "summaries", "one summary of each set")
        entries = [(label, system, columns) for label, system in by_label.items()]
        entries += [(model.label, model.summaries, USUAL) for model in asked if not is_before]
        for label, system, system_columns in entries:
            try:
                systems.append(_system(label, system, corpus.records, system_columns, allow_missing=allow_missing))
            except EvenhandError as error:
                mistakes.append(f"summaries {label!r}: {error}")
        names = tuple((label, Path(label)) for label in (*by_label, *(model.label for model in asked)))
        others = () if isinstance(attribute, str | None) else tuple(attribute[1:])
        wanted = AuditFiles(Path("documents"), corpus.grouped_by, others, summaries=names, labels=label_entries)
        return input_of(corpus.records, systems, wanted, digest_of_all(corpus), mistakes)

    with in_python((*KEYWORDS, *options)):
        request = ask(options)
    if asked and folder:
        before = check_before(request, partial(read, is_before=True), folder)
        write_summaries(asked, before, folder, partial(_write_one, say))
    result = run_audit(request, read, folder, say=say)
    parts = (result, *result.others)
    numbers = [number for part in parts for number in (*part.by_value, *part.aggregates)]
    return Numbers(numbers, result, folder)


def _write_one(say: Say | None, model: AskedModel, recipe: Recipe, cost: str) -> None:
    """Have a model write its summaries."""
    if say is not None:
        say(cost)
    _run(recipe, None, verbs=("generate",))


def run(recipe: Any, changes: Mapping[str, Any] | None = None, *, say: Say | None = None) -> Numbers[Score]:
    """Run a recipe from end to end, as `evenhand loop` does; what is done is reused. The numbers of its report.

    Args:
        recipe: as of `load_recipe`.
        changes: as of `load_recipe`.
        say: called with a line for each finished step: print.

    Raises:
        RecipeError: it is wrong, or bound to fail.
        StepFailed: a step ended with an error.
    """
    loaded = load_recipe(recipe, changes)
    preflight(loaded)
    _run(loaded, say)
    report = read_report(loaded)
    return Numbers(report.scores, report, loaded.output / "report")


@in_python(("out", "budgets", "by_round"))
def compare(
    recipes: Mapping[str, Any] | Sequence[Any],
    out: str | Path,
    *,
    budgets: Sequence[int] = (),
    by_round: bool = False,
    say: Say | None = None,
) -> Numbers[Score]:
    """Run recipes on the same requests and compare them at equal budgets, as `evenhand compare` does.

    Args:
        recipes: label -> recipe as of `load_recipe`, the reference of the tests first; of a sequence the labels are the names of
            the files and recipes. Their runs lie in `out`, and a dict needs no "output".
        out: folder for the runs and the comparison's files.
        budgets: numbers of candidates; by default those of the command line.
        by_round: show methods that ask in rounds after each of them.
        say: called with a line for each finished step: print.

    Raises:
        RecipeError: a recipe is wrong or bound to fail, or the recipes cannot be compared; all mistakes are listed.
        StepFailed: a step ended with an error.
    """
    if isinstance(recipes, str | Path | Recipe) or not isinstance(recipes, Mapping | Sequence):
        raise RecipeError(f"recipes are {described(recipes)}; give a dict of labels and recipes, or a list of recipes")
    if isinstance(recipes, Mapping):
        by_label = {label: _placed(recipe, out) for label, recipe in recipes.items()}
    else:
        by_label = {_label(recipe): recipe for recipe in (_placed(recipe, out) for recipe in recipes)}
    if not by_label or len(by_label) < len(recipes):
        raise RecipeError(
            "compare needs at least one recipe, and each under a name of its own; give a dict of labels and recipes"
        )
    folder = Path(out)
    runs = [
        NamedRecipe(label, load_recipe(recipe).model_copy(update={"output": folder / RUNS / folder_name(label)}))
        for label, recipe in by_label.items()
    ]
    run_budgets = list(budgets) or usual_budgets(runs)
    if wrong := [budget for budget in run_budgets if not isinstance(budget, int) or budget < 1]:
        raise RecipeError(f"budgets are whole numbers of at least 1, got {wrong[0]!r}")
    check_runs(runs, run_budgets, folder, say)
    comparison = run_and_compare(
        runs, folder, run_budgets, lambda entry, twins: _run(entry.recipe, say, twins), by_round=by_round
    )
    return Numbers(comparison.scores, comparison, folder)


def check_runs(
    runs: Sequence[NamedRecipe],
    budgets: Sequence[int],
    out: Path,
    say: Say | None,
    ratings: RatingsFile | None = None,
) -> None:
    """Refuse runs that are bound to fail or could not be compared, a folder that is not for their comparison, wrong ratings.

    `say` is called with a line on an earlier comparison that will be replaced.

    Raises:
        RecipeError: all mistakes are listed.
        DataError: the folder is refused, or the ratings are.
        MissingExtra: choix is not installed.
    """
    fit_library()
    COMPARISON.check(out)
    mistakes = []
    for entry in runs:
        try:
            preflight(entry.recipe)
        except EvenhandError as error:
            mistakes.append(f"{entry.label}: {error}")
    if mistakes:
        raise RecipeError(listed(mistakes))
    refuse_unlike(runs, budgets)
    if ratings is not None:
        _check_ratings(ratings, runs)
    COMPARISON.announce(out, [entry.label for entry in runs], say)


def _check_ratings(file: RatingsFile, runs: Sequence[NamedRecipe]) -> None:
    """Refuse ratings that are wrong before anything runs, so far as that is known of systems that have written nothing yet."""
    texts: dict[str, dict[str, str]] = {}
    for run in runs:
        has_run = (run.recipe.output / RESOLVED).is_file()
        done = {step.step.name for step in plan(run.recipe) if step.is_done} if has_run else set()
        for label, phase in run.systems:
            is_written = f"{phase.name} rerank" in done
            best = read_jsonl(phase.folder / BEST, BestSummary) if is_written else []
            texts[label] = dict(summary_key(summary) for summary in best if summary.text)
    recipe = runs[0].recipe
    documents = {request.document_set.id: request.document_set for request in phase_requests(open_phase(recipe, BASE))}
    # what is rated is looked for again when all have written
    with nullcontext() if all(texts.values()) else suppress(NoRatedTextError):
        read_ratings(file, RatedTexts([*documents.values()], recipe.corpus.attribute, texts))


def run_and_compare(  # noqa: PLR0913 (what compare_runs takes, and how runs are made)
    runs: Sequence[NamedRecipe],
    out: Path,
    budgets: Sequence[int],
    run_one: Callable[[NamedRecipe, Sequence[Path]], None],
    judged: Callable[[Comparison], Comparison] = lambda comparison: comparison,
    *,
    by_round: bool,
    ratings: RatingsFile | None = None,
) -> Comparison:
    """Run what is not done, each run with the folders of the others, and compare; nobody else may write there meanwhile.

    `judged` puts a gate's verdicts on the comparison before it is written; `ratings` are people's, of some of the summaries.
    """
    # all of them before the first byte is written
    for folder in (out, *(entry.recipe.output for entry in runs)):
        refuse_held(folder)
    # runs that begin now are asked what those of earlier days were
    first = min((run_date(entry.recipe.output) for entry in runs), key=lambda date: date.day)
    with ExitStack() as locks:
        locks.enter_context(hold(out))
        locks.enter_context(dated(first))
        for entry in runs:
            locks.enter_context(hold_run(entry.recipe))
        for entry in runs:
            run_one(entry, [sibling.recipe.output for sibling in runs if sibling is not entry])
        return compare_runs(runs, out, budgets, judged, by_round=by_round, ratings=ratings)


def _run(recipe: Recipe, say: Say | None, twins: Sequence[Path] = (), verbs: Collection[str] | None = None) -> None:
    def on_done(step: Step, receipt: Receipt, reused: bool) -> None:
        if say is not None:
            say(f"{step.name}: {'reused' if reused else f'{receipt.seconds:.1f} s'}")

    run_loop(recipe, running=lambda step: nullcontext(), on_done=on_done, twins=twins, verbs=verbs)


def _placed(recipe: Any, out: str | Path) -> Any:
    """A recipe that may say nothing of where its run lies, which is known."""
    return {"output": str(out), **recipe} if isinstance(recipe, Mapping) else recipe


def _label(recipe: Any) -> str:
    return Path(recipe).stem if isinstance(recipe, str | Path) else loaded(recipe).name


def _system(
    label: str, summaries: Any, sets: Sequence[DocumentSet], columns: SummaryColumnsSection, *, allow_missing: bool
) -> AuditedSystem:
    if isinstance(summaries, str | Path):
        texts = read_summaries(Path(summaries), sets, allow_missing=allow_missing, columns=columns)
        return AuditedSystem(label, str(summaries), digest(texts), texts, texts.by_order, n_thoughts=texts.n_thoughts)
    rows = []
    if isinstance(summaries, Best):
        rows = [(summary.set_id, summary.side, summary.text) for summary in summaries]
    elif isinstance(summaries, Candidates):
        rows = [(request.document_set.id, request.side, candidates[0].text) for request, candidates in summaries.groups]
    if sides := sorted({side for _, side, _ in rows if side != "all"}):
        raise DataError(
            f"these are summaries of one side each ({', '.join(sides)}), and an audit needs one of all documents; generate with "
            'task={"scope": "all"}'
        )
    if isinstance(summaries, Best | Candidates):
        summaries, columns = {name: text for name, _, text in rows}, USUAL
    texts = summaries_of(
        summaries,
        {document_set.id: document_set for document_set in sets},
        allow_missing=allow_missing,
        columns=columns,
    )
    return AuditedSystem(label, label, digest(texts), texts, texts.by_order, n_thoughts=texts.n_thoughts)
