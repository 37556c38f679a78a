"""`evenhand judges train`: controlled sets and judges in, a judge that combines them out, with what it is worth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ...config import JudgeOptions
from ...config.needs import Purpose, TextJudgeSection
from ...errors import DataError, RecipeError
from ...evaluation.pages.folder import Content, Result, Say, calls_itself
from ...judges.benchmark import BenchmarkRow
from ...judges.calibration import LENGTH
from ...records import Judgement
from ...storage import write_json
from ...text import did_you_mean
from ...text.mistakes import listed
from .apart import judge_by_model
from .benchmark import SCORES, benchmark
from .combination import COUNTED, Combination, CombinedJudge, Member, MemberAgreement, Sign, TrainedOn
from .examples import misordered
from .line import fit_best, leave_topic_out, moments_by_topic
from .ratings.rated import RatedSummaries
from .scoring import BASELINES, LabelledFile, has_nothing_to_judge, rated_labels, read_labels
from .study import JudgeStudy
from .training import COMBINED, FeatureTable, Training, features, gaps, refuse_few_topics, terms, unseen
from .training_page import page

JUDGE = "judge.json"
TRAINED_JUDGE = Result(
    "trained judge",
    "training.json",
    "training.md",
    is_ours=calls_itself("evenhand-judge-training"),
    named=lambda content: (
        f"the judge of {content['judge']['purpose']} by {', '.join(_judges_of(content))}, "
        f"trained on {content['benchmark']['file']}"
    ),
    key=lambda content: (content["judge"]["purpose"], content["benchmark"]["digest"], _judges_of(content)),
    others=(JUDGE, SCORES),
)


def _judges_of(content: Content) -> list[str]:
    return sorted(name for name in content["benchmark"]["signatures"] if name != COMBINED)


@dataclass(frozen=True)
class TrainingRequest:
    """The judge that is to be trained: its purpose, the judges it combines, and signs."""

    purpose: Purpose
    # judges beside ROUGE, by name
    judges: Mapping[str, JudgeOptions]
    # feature -> sign that its coefficient is held to
    signs: Mapping[str, Sign] = field(default_factory=dict)
    # what people said of summaries, of coverage and faithfulness; None where controlled sets are given
    rated: RatedSummaries | None = None


def train_judge(
    file: Path,
    request: TrainingRequest,
    out: Path,
    *,
    evidence: Path | None = None,
    say: Say | None = None,
) -> Training:
    """Train a judge on a controlled file; what came of it, after it was written to `out`.

    Args:
        file: as `read_labels` takes it.
        request: what is to be trained.
        out: folder for judge.json, training.json, judgements.jsonl and the page.
        evidence: the authors' evidence file, when `file` is theirs.
        say: called with a line on an earlier judge that will be replaced.

    Raises:
        StorageError: a file cannot be read.
        DataError: the files are wrong or have too few topics, or the folder is refused.
        RecipeError: a judge cannot be a feature, or a sign is of none.
        JudgeError: a judge cannot run at all.
    """
    TRAINED_JUDGE.check(out)
    refuse_unfit(request)
    if request.rated and (reason := request.rated.absence(request.purpose)):
        raise DataError(reason)
    labels = (
        rated_labels(request.rated, request.judges) if request.rated else read_labels(file, request.judges, evidence)
    )
    _refuse_trained_on(labels)
    _refuse_unfit_features(labels, request)
    with TRAINED_JUDGE.begun(out, (request.purpose, labels.digest, sorted(labels.judges)), say):
        training, judgements = _trained(labels, request, judge_by_model(labels.judges, labels.sets))
        TRAINED_JUDGE.write(out, training, page(training), {SCORES: judgements})
        # last, so that a judge is there only with its figures
        write_json(out / JUDGE, training.judge.model_dump(mode="json"))
    return training


def _trained(
    labels: LabelledFile, request: TrainingRequest, judgements: Sequence[Judgement]
) -> tuple[Training, list[Judgement]]:
    """The training, and the judgements with those of lines that never saw the topic before them."""
    # the logarithm of length is a feature in its place
    table = features(JudgeStudy(labels.sets, judgements, ratings=labels.ratings), request.purpose, but=(LENGTH,))
    bounds = table.held(request.signs)
    line = fit_best([*moments_by_topic(table.rows, table.truths, table.topics).values()], bounds)
    scores, penalties = leave_topic_out(table.rows, table.truths, table.topics, bounds)
    signature = f"{request.purpose}|{COMBINED} of {', '.join(table.names)}, fitted without the summary's topic"
    all_judgements = [*unseen(table, scores, labels.sets, signature), *judgements]
    result = benchmark(labels.sets, all_judgements, file=labels.file, digest=labels.digest, rated=labels.rated)
    rows = {row.judge: row for row in result.rows if (row.attribute, row.side) == (request.purpose, None)}
    rivals = _others({name: row for name, row in rows.items() if name in result.signatures})
    figures = (rows[name] for name in (COMBINED, *rivals))
    judge = Combination(
        purpose=request.purpose,
        intercept=line.intercept,
        features=terms(table, line, request.signs),
        members=tuple(
            Member(name=name, options=labels.judges[name].model_dump(mode="json"), signature=result.signatures[name])
            for name in table.names[: -len(COUNTED)]
        ),
        penalty=line.penalty,
        trained_on=_trained_on(labels, table),
        figures=tuple(MemberAgreement(name=row.judge, pooled=row.pooled, within=row.within) for row in figures),
        made_with=result.versions.get("evenhand", "unknown"),
    )
    study = JudgeStudy(labels.sets, all_judgements, ratings=labels.ratings)
    pairs = tuple(misordered(COMBINED, request.purpose, study))
    result = result.model_copy(update={"not_tried": labels.not_tried, "examples": pairs})
    led = gaps(study, request.purpose, rivals)
    return Training(judge=judge, benchmark=result, gaps=led, penalties=penalties), all_judgements


def _trained_on(labels: LabelledFile, table: FeatureTable) -> TrainedOn:
    articles = {name for name, _ in table.places}
    seen = [article.marks for article in labels.sets if article.id in articles] + [
        section.seen for section in labels.judges.values()
    ]
    return TrainedOn(
        file=labels.file,
        digest=labels.digest,
        topics=len(set(table.topics)),
        articles=len(articles),
        summaries=len(table.rows),
        left_out=table.left_out,
        # of the articles that the line, or a judge in it, was trained on
        seen=tuple(sorted(frozenset().union(*seen))),
    )


def refuse_unfit(request: TrainingRequest) -> None:
    """Refuse judges that cannot be features.

    Raises:
        RecipeError: one reads another text than the source, is a combination itself, or has a name that is taken.
    """
    mistakes = [
        f"judge {name!r} {reason}" for name, section in request.judges.items() if (reason := _unfit(name, section))
    ]
    if mistakes:
        raise RecipeError(
            listed([*mistakes, "name those that are to be combined with --judge NAME, or mend the recipe"])
        )


def _refuse_trained_on(labels: LabelledFile) -> None:
    """Refuse judges whose scores of these sets are no evidence of what they say of others.

    Raises:
        RecipeError: one was trained on an article or a topic of them.
    """
    if labels.seen:
        name, ids = next(iter(labels.seen.items()))
        raise RecipeError(
            f"judge {name!r} was trained on {len(ids)} of {len(labels.sets)} articles or on their topics, so a line "
            "would trust it too much; train its encoder without them, `evenhand judges train-encoder --leave-out SETS`, or "
            "leave it out"
        )


def _refuse_unfit_features(labels: LabelledFile, request: TrainingRequest) -> None:
    """Refuse, before a judge is asked, signs of what is no feature, and summaries of too few topics.

    Raises:
        RecipeError: a sign is of none.
        DataError: too few topics are left to learn from.
    """
    names = [*(name for name in labels.judges if name != LENGTH), *COUNTED]
    if strangers := sorted(set(request.signs) - set(names)):
        raise RecipeError(
            f"--monotone {strangers[0]!r} is not a feature{did_you_mean(strangers[0], names)} Features are {', '.join(names)}"
        )
    study = JudgeStudy(labels.sets, ratings=labels.ratings)
    rows = zip(study.topics, study.truths[request.purpose], strict=True)
    topics = [topic for topic, truths in rows if not np.isnan(truths).all()]
    refuse_few_topics(topics, f"a known {request.purpose}", "add articles")


def _unfit(name: str, options: JudgeOptions) -> str | None:
    """Why a judge cannot be a feature; None when it can."""
    if name in (COMBINED, *COUNTED):
        return "has a name that is taken; give it another"
    if isinstance(options, CombinedJudge):
        return "combines others itself; combine those"
    if not isinstance(options, TextJudgeSection):
        return "does not compare a summary with its source"
    if options.kind == "length" and name != LENGTH:
        return "counts words, which are a feature already; leave it out"
    if options.against != "source":
        return f"compares the summary with {options.against}, and a combined judge has the source alone; write against: source"
    return has_nothing_to_judge(options)


def _others(rows: Mapping[str, BenchmarkRow]) -> list[str]:
    """Length, the best ROUGE and the best other judge, turned round or not: what a trained judge has to surpass."""
    rouge = [name for name in rows if name in BASELINES and name != LENGTH]
    judges = [name for name in rows if name not in (COMBINED, *BASELINES)]
    best = [max(group, key=lambda name: abs(rows[name].pooled.value or 0.0)) for group in (rouge, judges) if group]
    return [LENGTH, *best]
