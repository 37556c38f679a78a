"""From annotated articles to the folder of a trained encoder: model, card, and what it was trained on.

The folder appears whole or not at all: a killed training leaves nothing that could be taken for a model.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

import numpy as np

from ...config.trained_encoder import RESULT, ToldApart, TrainedEncoder, read_trained
from ...corpora.annotated import AnnotatedArticle
from ...corpora.controlled import ControlledSet, topics_of
from ...errors import DataError, StorageError
from ...evaluation.pages.words import counted
from ...extras import installed_versions, need, without_load_report
from ...judges.encoder import open_encoder
from ...models import public_name
from ...models.cache import remove, whole_folder
from ...storage import write_json, write_text
from ...text.digests import digest
from .fitting import CLASSES, FEATURE, fit_bi_encoder, fit_classifier, open_classifier
from .plan import EncoderPlan, Parts, parts
from .triples import Triple, TripleKind, triples

CARD = """\
---
base_model: {base}
library_name: sentence-transformers
pipeline_tag: {pipeline}
tags: [evenhand, {form}]
---

# {name}

A {form} on `{base}`, trained by `evenhand judges train-encoder` to tell what a text supports from its contrary and from what
the other side says. It is a judge: `{{kind: alignment, parts: claim, {judge}}}`.

| of the held topics, told apart | triples | before | after |
| --- | ---: | ---: | ---: |
{rows}

- learned from {learned} of {topics}, {held} of which were held to stop by; texts are not kept here
- at most {epochs} passes in batches of {batch_size}, learning rate {learning_rate:g}, seed {seed}
- blind to what no triple shows: contraries are made by rules or by the model that wrote the articles' own
- the topics, versions and figures are in `training.json`. Its scores of these topics are no evidence of its worth
"""


def train_encoder(
    articles: Sequence[AnnotatedArticle], plan: EncoderPlan, out: Path, *, left_out: Sequence[ControlledSet] = ()
) -> TrainedEncoder:
    """Train an encoder on articles and write its folder.

    Args:
        articles: with key points, or of both sides of a topic.
        plan: what is trained and for how long.
        out: its folder, which appears whole; an encoder that was trained there before gives way.
        left_out: sets whose topics it must not see, because it is to be tried on them.

    Raises:
        DataError: too few topics are left, a set to be left out tells no topic, or the model was trained on one before.
        StorageError: `out` is something else, or cannot be written.
        ModelError: the model cannot be located.
        MissingExtra: sentence-transformers, datasets or torch is not installed.
    """
    _refuse_other(out)
    earlier = read_trained(plan.model)
    known = frozenset(earlier.seen) if earlier else frozenset()
    unseen_articles = _without(articles, left_out, known, plan.model)
    # whatever its articles call it, a topic is either learned from or held
    topics = topics_of(unseen_articles)
    named = [
        article.model_copy(update={"topic": topic}) for article, topic in zip(unseen_articles, topics, strict=True)
    ]
    chosen = parts(triples(named, np.random.default_rng(plan.seed)), plan)
    is_classifier = plan.form == "classifier"
    # a classifier's read-out is drawn before its trainer sets the seed
    need("transformers", FEATURE).set_seed(plan.seed)
    with without_load_report():
        model = open_classifier(plan.model) if is_classifier else open_encoder(plan.model, FEATURE)
        before = _told_apart(model, chosen.held, is_classifier)
        with _work_folder(out) as work:
            (fit_classifier if is_classifier else fit_bi_encoder)(model, chosen, plan, work)
        after = _told_apart(model, chosen.held, is_classifier)
    result = TrainedEncoder(
        base=public_name(plan.model),
        form=plan.form,
        topics=tuple(chosen.topics),
        # drawn or not, each article is of a topic that was trained on
        seen=tuple(
            sorted(
                known.union(
                    *(
                        article.marks
                        for article, topic in zip(unseen_articles, topics, strict=True)
                        if topic in chosen.topics
                    )
                )
            )
        ),
        left_out=tuple(sorted({controlled_set.topic for controlled_set in left_out})),
        learned=len(chosen.learned),
        figures=tuple(
            ToldApart(kind=kind, triples=n, before=before[kind], after=after[kind])
            for kind in get_args(TripleKind)
            if (n := sum(triple.kind == kind for triple in chosen.held))
        ),
        plan=asdict(plan) | {"model": public_name(plan.model), "learning_rate": plan.rate},
        data=digest([asdict(triple) for triple in (*chosen.learned, *chosen.held)]),
        versions=installed_versions(("evenhand", "sentence-transformers", "transformers", "torch")),
    )
    with whole_folder(out) as target, without_load_report():
        model.save_pretrained(str(target), create_model_card=False)
        write_text(target / "README.md", _card(out.name, result, chosen, plan))
        write_json(target / RESULT, result.model_dump(mode="json"))
    return result


def _refuse_other(out: Path) -> None:
    """Refuse a folder that cannot be written, or holds what training did not write: what lies there would give way."""
    if (out.exists() or out.is_symlink()) and not (read_trained(str(out)) or (out.is_dir() and not any(out.iterdir()))):
        raise StorageError(
            f"{out}: already exists, and no encoder that was trained here, so it stays as it is; name another: --out FOLDER"
        )
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        TemporaryDirectory(dir=out.parent).cleanup()
    except OSError as error:
        raise StorageError(f"{out}: cannot be written: {error.strerror}; choose another place: --out FOLDER") from error


@contextmanager
def _work_folder(out: Path) -> Iterator[Path]:
    """A folder beside `out` for checkpoints, gone afterwards; what a killed training has left there goes first."""
    work = out.with_name(f".{out.name}.work")
    remove(work)
    work.mkdir()
    try:
        yield work
    finally:
        remove(work)


def _without(
    articles: Sequence[AnnotatedArticle], left_out: Sequence[ControlledSet], known: Collection[str], model: str
) -> list[AnnotatedArticle]:
    """The articles of other topics than the sets have, by their name in any spelling and by what the articles say."""
    untold = sum(not controlled_set.topic for controlled_set in left_out)
    if untold:
        raise DataError(
            f"{untold} of {len(left_out)} sets to be left out tell no topic, so other articles of their topics would be trained "
            "on; give them topics, or name the authors' evidence file, which tells them: --evidence FILE"
        )
    marks = frozenset().union(*(controlled_set.marks for controlled_set in left_out))
    if marks & set(known):
        raise DataError(
            f"model {model!r} was trained on articles or topics that are to be left out; start from a model that was not"
        )
    topics = topics_of([*left_out, *articles])
    untouched = set(topics[len(left_out) :]) - set(topics[: len(left_out)])
    return [article for article, topic in zip(articles, topics[len(left_out) :], strict=True) if topic in untouched]


def _told_apart(model: Any, held_triples: Sequence[Triple], is_classifier: bool) -> dict[TripleKind, float]:
    """Kind -> share of its triples whose near claim the model scores above the far one; kinds with triples alone."""
    near, far = (
        _scores(model, [(triple.text, getattr(triple, name)) for triple in held_triples], is_classifier)
        for name in ("near", "far")
    )
    above = near > far
    kinds = np.array([triple.kind for triple in held_triples])
    return {kind: float(above[kinds == kind].mean()) for kind in get_args(TripleKind) if (kinds == kind).any()}


def _scores(model: Any, pairs: Sequence[tuple[str, str]], is_classifier: bool) -> Any:
    """Support of each pair's second text by its first, (pairs,)."""
    if not pairs:
        return np.empty(0)
    if is_classifier:
        return model.predict(list(pairs), apply_softmax=True, show_progress_bar=False)[:, CLASSES.index("entailment")]
    first, second = (model.encode([pair[side] for pair in pairs], normalize_embeddings=True) for side in (0, 1))
    return (first * second).sum(axis=1)


def _card(name: str, result: TrainedEncoder, chosen: Parts, plan: EncoderPlan) -> str:
    is_classifier = plan.form == "classifier"
    rows = [
        f"| {figure.kind} | {figure.triples} | {figure.before:.2f} | {figure.after:.2f} |" for figure in result.figures
    ]
    return CARD.format(
        base=result.base,
        pipeline="text-classification" if is_classifier else "sentence-similarity",
        form=plan.form,
        name=name,
        judge=f"aligner: nli, chunks: sentence, model: {name}" if is_classifier else f"model: {name}",
        rows="\n".join(rows),
        learned=counted(len(chosen.learned), "triple"),
        topics=counted(len(chosen.topics), "topic"),
        held=len({triple.topic for triple in chosen.held}),
        epochs=plan.epochs,
        batch_size=plan.batch_size,
        learning_rate=plan.rate,
        seed=plan.seed,
    )
