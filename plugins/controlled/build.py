"""`evenhand judges controlled`: annotated articles in, a controlled test set and its manifest out.

    key-points    a model writes a key point for each excerpt, where key points are not given
    adversarial   a model turns each key point into its contrary, where those are not given
    plan          which points each summary is made of; nothing is asked
    summaries     a model merges the points of each planned summary into one sentence

Coverage and faithfulness follow from the plan; that a summary says what its points say is not checked, so the set is as good as
the model that wrote it. Source: Ri et al. 2025, section 3.1; docs/papers.md#ri-controlled.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ... import models
from ...config.recipe_file import dump_recipe
from ...corpora.annotated import SAMPLE, AnnotatedArticle, read_annotated
from ...corpora.controlled import ControlledSet
from ...errors import LeftOutError
from ...extras import installed_versions
from ...generate.backend import Backend
from ...generate.backends import backend_signature, open_backend
from ...records import LeftOut
from ...runfolder.dates import dated_run
from ...runfolder.engines import refuse_large
from ...runfolder.processes import hold
from ...runfolder.spending import spending
from ...runfolder.stages import RECORDED, Counts, Receipt, Stage
from ...runfolder.timing import booked
from ...storage import as_given, file_digest, write_json, write_jsonl, write_text
from ...text.digests import digest
from . import points as steps
from .points import ADVERSARIAL, KEY_POINTS, SUMMARIES, ArticlePoints
from .recipe import ControlledRecipe
from .summaries import PlannedText, controlled_set, plan_article, summary_tasks
from .writing import Written, write_step

FORMAT = "evenhand-controlled/1"
# the stage that makes the set of what the steps wrote, and its files
ASSEMBLY = "assembly"
RECIPE = "recipe.yaml"
POINTS = "points.jsonl"
PLAN = "plan.jsonl"
RESULT = "controlled.jsonl"
MANIFEST = "manifest.json"

GROUND_TRUTH = (
    "Coverage and faithfulness follow from the points that each summary was asked to have (plan.jsonl); nobody checked that it "
    "has them."
)

Opener = Callable[[ControlledRecipe], Backend]


@dataclass(frozen=True)
class Built:
    """A controlled set that was built, and what was left out of it."""

    path: Path
    sets: tuple[ControlledSet, ...]
    n_articles: int
    n_planned: int
    left_out: tuple[LeftOut, ...]
    # what each step counted, and its seconds
    receipts: dict[str, Receipt]


@dataclass(frozen=True)
class _ArticlePoints:
    """The points of the articles that have all of theirs."""

    articles: dict[str, AnnotatedArticle]
    points: dict[str, ArticlePoints]
    left_out: tuple[LeftOut, ...]
    receipts: dict[str, Receipt]


class AssemblyCounts(Counts):
    """Document sets that were made, and summaries that were planned."""

    sets: int
    planned: int


def _open(recipe: ControlledRecipe) -> Backend:
    with booked("loading"):
        return open_backend(recipe.backend, recipe.model, recipe.model.adapter)


def build_controlled(recipe: ControlledRecipe, open_engine: Opener = _open) -> Built:
    """Build the set that the recipe describes; finished steps are reused, an interrupted one continues.

    Args:
        recipe: what is built, and by which model.
        open_engine: opens the backend when the first text is to be written.

    Raises:
        StorageError: another command works in the set's folder, or a file of it cannot be read or written.
        DataError: the input cannot be read, or the articles are wrong; all mistakes are listed.
        ModelError: the model cannot be opened.
        RecipeError: the engine needs more GPUs than there are.
        LeftOutError: more articles or summaries were left out than `most_left_out` allows; the files are written all the same.
    """
    articles = read_input(recipe)
    if recipe.backend.reads_model:
        models.check(recipe.model.name)
        refuse_large(recipe.backend)
    with hold(recipe.output), dated_run(recipe.output), spending(recipe.output, recipe.most_cost):
        built = _build(recipe, articles, open_engine)
    n_summaries = sum(len(article_set.summaries) for article_set in built.sets)
    short = [
        f"{n_all - n_built} of {n_all} {noun}"
        for noun, n_built, n_all in (
            ("articles", len(built.sets), built.n_articles),
            ("planned summaries", n_summaries, built.n_planned),
        )
        if n_all - n_built > recipe.most_left_out * n_all or not built.sets
    ]
    if short:
        raise LeftOutError(
            f"{built.path}: {' and '.join(short)} are left out, more than most_left_out {recipe.most_left_out:g} allows; the "
            f"file has the others, {recipe.output / MANIFEST} has the reasons. Raise attempts, take a larger model, or raise "
            "most_left_out"
        )
    return built


def _build(recipe: ControlledRecipe, articles: Sequence[AnnotatedArticle], open_engine: Opener) -> Built:
    with ExitStack() as opened:
        engine = cache(lambda: opened.enter_context(closing(open_engine(recipe))))
        article_points = _make_points(recipe, articles, engine)
        plan = [planned for points in article_points.points.values() for planned in plan_article(recipe, points)]
        written, receipt = write_step(recipe, SUMMARIES, summary_tasks(article_points.articles, plan), engine)
    sets, empty = _sets(article_points, plan, written)
    built = Built(
        path=recipe.output / RESULT,
        sets=tuple(sets),
        n_articles=len(articles),
        n_planned=len(plan),
        left_out=(*article_points.left_out, *steps.unwritten(SUMMARIES, "summary", written), *empty),
        receipts=article_points.receipts | {SUMMARIES: receipt},
    )
    _assemble(recipe, articles, article_points, plan, built, _kinds(article_points, plan, written))
    return built


def read_input(recipe: ControlledRecipe) -> list[AnnotatedArticle]:
    """The articles that the recipe names.

    Raises:
        DataError: the file cannot be read, or articles are wrong; all mistakes are listed.
    """
    with as_given("key 'input': "):
        return read_annotated(recipe.input)


def _make_points(
    recipe: ControlledRecipe, articles: Sequence[AnnotatedArticle], engine: Callable[[], Backend]
) -> _ArticlePoints:
    written, first = write_step(recipe, KEY_POINTS, steps.key_point_tasks(articles), engine)
    key_points = steps.key_points(articles, written)
    complete, left_out = steps.split_complete(articles, key_points)
    turned, second = write_step(recipe, ADVERSARIAL, steps.adversarial_tasks(complete, key_points), engine)
    adversarial = steps.by_article(turned)
    outcomes = [steps.article_points(article, articles, key_points, adversarial) for article in complete]
    return _ArticlePoints(
        articles={article.id: article for article in complete},
        points={points.article_id: points for points, _ in outcomes},
        left_out=(
            *steps.unwritten(KEY_POINTS, "key point", written),
            *left_out,
            *steps.unwritten(ADVERSARIAL, "adversarial point", turned),
            *steps.repeated([count for _, count in outcomes]),
            *steps.left_without_opposite([points for points, _ in outcomes]),
        ),
        receipts={KEY_POINTS: first, ADVERSARIAL: second},
    )


def _sets(
    article_points: _ArticlePoints, plan: Sequence[PlannedText], written: Sequence[Written]
) -> tuple[list[ControlledSet], tuple[LeftOut, ...]]:
    """The set of each article that has a summary, and the articles that have none."""
    came_of = {sentence.id: sentence for sentence in written}
    sets, reasons = [], Counter[tuple[str, str]]()
    for article_id, article in article_points.articles.items():
        planned_texts = [planned for planned in plan if planned.article_id == article_id]
        article_set = controlled_set(article, article_points.points[article_id], planned_texts, came_of)
        if article_set is None:
            reasons[steps.side_of(article), "no summary could be written"] += 1
        else:
            sets.append(article_set)
    return sets, steps.counted(SUMMARIES, "article", reasons)


def _kinds(
    article_points: _ArticlePoints, plan: Sequence[PlannedText], written: Sequence[Written]
) -> dict[str, dict[str, int]]:
    """Summaries that were written, by side and kind."""
    counts: dict[str, Counter[str]] = {}
    for planned, sentence in zip(plan, written, strict=True):
        if sentence.text is not None:
            kind = planned.kind(len(article_points.points[planned.article_id].key_points))
            counts.setdefault(sentence.side, Counter())[kind] += 1
    return {side: dict(sorted(kinds.items())) for side, kinds in counts.items()}


def _assemble(
    recipe: ControlledRecipe,
    articles: Sequence[AnnotatedArticle],
    article_points: _ArticlePoints,
    plan: Sequence[PlannedText],
    built: Built,
    kinds: Mapping[str, Mapping[str, int]],
) -> None:
    """Write the files of the set together: those of an earlier one stay whole until then, and are put aside whole."""
    inputs = {
        "recipe": recipe.model_dump(mode="json"),
        "articles": digest([article.model_dump(mode="json") for article in articles]),
        "steps": {step: receipt.outputs for step, receipt in built.receipts.items()},
    }

    def work() -> AssemblyCounts:
        write_text(recipe.output / RECIPE, dump_recipe(recipe))
        write_jsonl(recipe.output / POINTS, article_points.points.values())
        write_jsonl(recipe.output / PLAN, plan)
        write_jsonl(recipe.output / RESULT, built.sets)
        write_json(recipe.output / MANIFEST, _manifest(recipe, articles, built, kinds))
        return AssemblyCounts(sets=len(built.sets), planned=built.n_planned)

    Stage(ASSEMBLY, recipe.output, inputs, (RECIPE, POINTS, PLAN, RESULT, MANIFEST)).run(work)


def _manifest(
    recipe: ControlledRecipe, articles: Sequence[AnnotatedArticle], built: Built, kinds: Mapping[str, Mapping[str, int]]
) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "name": recipe.name,
        "seed": recipe.seed,
        "input": {
            "file": recipe.input if recipe.input == SAMPLE else Path(recipe.input).name,
            "digest": digest([article.model_dump(mode="json") for article in articles]),
            "articles": dict(Counter(map(steps.side_of, articles))),
        },
        "model": backend_signature(recipe.backend, recipe.model, recipe.model.adapter),
        "prompts": [steps.template(step).signature for step in (KEY_POINTS, ADVERSARIAL, SUMMARIES)],
        "sampling": recipe.sampling.model_dump(mode="json"),
        "attempts": recipe.attempts,
        "steps": {step: receipt.counts | {"seconds": receipt.seconds} for step, receipt in built.receipts.items()},
        "sets": dict(Counter(article_set.side or "all" for article_set in built.sets)),
        "planned": built.n_planned,
        "summaries": kinds,
        "left_out": [{"step": row.stage, **row.model_dump(mode="json", exclude={"stage"})} for row in built.left_out],
        "ground_truth": GROUND_TRUTH,
        "files": {name: file_digest(recipe.output / name) for name in (POINTS, PLAN, RESULT)},
        "versions": installed_versions(RECORDED),
    }
