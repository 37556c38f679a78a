"""`evenhand train-judge`: controlled sets and judges in, a judge that combines them out, with what it is worth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ....config import JudgeOptions
from ....config.combined import COUNTED, Combination, Figure, Member, Sign, TrainedOn
from ....config.judges import CombinedJudge, MemberJudge
from ....config.needs import Purpose
from ....corpora.bundled import CONTROLLED, file_of
from ....corpora.controlled import ControlledSet, read_controlled
from ....errors import RecipeError
from ....records import Judgement
from ....storage import file_digest, listed, write_json
from ....text import did_you_mean
from ...pages.folder import KNOWN, Content, Result, Say
from .apart import judge_by_model
from .benchmark import LEVEL, Benchmark, BenchmarkRow, benchmark
from .scoring import BASELINES, LENGTH, has_nothing_to_judge, not_tried, seen_articles, with_baselines
from .training import COMBINED, Table, Training, features, gaps, terms, train, unseen
from .training_page import page

JUDGE = "judge.json"
SCORES = "judgements.jsonl"
TRAINED_JUDGE = Result(
    "trained judge",
    "training.json",
    "training.md",
    is_ours=KNOWN["training.json"][1],
    named=lambda found: (
        f"the judge of {found['judge']['purpose']} by {', '.join(_judges_of(found))}, trained on {found['benchmark']['file']}"
    ),
    key=lambda found: (found["judge"]["purpose"], found["benchmark"]["digest"], _judges_of(found)),
    others=(JUDGE, SCORES),
)


def _judges_of(found: Content) -> list[str]:
    return sorted(name for name in found["benchmark"]["signatures"] if name != COMBINED)


@dataclass(frozen=True)
class Wanted:
    """What is to be trained."""

    purpose: Purpose
    # judges beside ROUGE, by name
    judges: Mapping[str, JudgeOptions]
    # feature -> sign that its coefficient is held to
    signs: Mapping[str, Sign] = field(default_factory=dict)


def train_judge(
    file: Path,
    wanted: Wanted,
    out: Path,
    *,
    evidence: Path | None = None,
    say: Say | None = None,
) -> Training:
    """Train a judge on a controlled file; what came of it, after it was written to `out`.

    Args:
        file: controlled sets, in evenhand's JSON lines or as the authors released them; "sample" is bundled.
        wanted: what is to be trained.
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
    refuse_unfit(wanted)
    sets = read_controlled(file, evidence)
    _refuse_trained_on(wanted, sets)
    left_out = not_tried(wanted.judges)
    options = {name: each for name, each in with_baselines(wanted.judges).items() if name not in left_out}
    digest = file_digest(file_of(file, CONTROLLED))
    with TRAINED_JUDGE.begun(out, (wanted.purpose, digest, sorted(options)), say):
        judgements = judge_by_model(options, sets)
        # its logarithm is a feature in its place
        members = [each for each in judgements if each.judge != LENGTH]
        table = features(sets, members, wanted.purpose)
        if strangers := sorted(set(wanted.signs) - set(table.names)):
            raise RecipeError(
                f"--monotone {strangers[0]!r} is not a feature{did_you_mean(strangers[0], table.names)} Features are "
                f"{', '.join(table.names)}"
            )
        fitted = train(table, wanted.signs)
        signature = f"{wanted.purpose}|{COMBINED} of {', '.join(table.names)}, fitted without the summary's topic"
        both = [*unseen(table, fitted.said, sets, signature), *judgements]
        found = benchmark(sets, both, file=file.name, digest=digest)
        rows = {row.judge: row for row in found.rows if (row.attribute, row.side) == (wanted.purpose, None)}
        others = _others(rows)
        judge = Combination(
            purpose=wanted.purpose,
            intercept=fitted.line.intercept,
            features=terms(table, fitted.line, wanted.signs),
            members=_members(options, members),
            penalty=fitted.line.penalty,
            trained_on=_trained_on(found, table, _seen(table, sets, options)),
            figures=tuple(_figure(rows[name]) for name in (COMBINED, *others)),
            made_with=found.versions.get("evenhand", "unknown"),
        )
        training = Training(
            judge=judge,
            benchmark=found.model_copy(update={"not_tried": left_out}),
            gaps=gaps(sets, both, wanted.purpose, others, LEVEL),
            penalties=fitted.penalties,
        )
        TRAINED_JUDGE.write(out, training, page(training), {SCORES: both})
        # last, so that a judge is there only with its figures
        write_json(out / JUDGE, judge.model_dump(mode="json"))
    return training


def _members(options: Mapping[str, JudgeOptions], judgements: Sequence[Judgement]) -> tuple[Member, ...]:
    signatures = {each.judge: each.signature for each in judgements}
    return tuple(
        Member(name=name, options=options[name].model_dump(mode="json"), signature=signature)
        for name, signature in signatures.items()
    )


def _seen(table: Table, sets: Sequence[ControlledSet], options: Mapping[str, JudgeOptions]) -> list[str]:
    """Marks of the articles that the line, or a judge in it, was trained on."""
    mine = {name for name, _ in table.places}
    seen = [each.marks for each in sets if each.id in mine] + [each.seen for each in options.values()]
    return sorted(frozenset().union(*seen))


def _trained_on(found: Benchmark, table: Table, seen: Sequence[str]) -> TrainedOn:
    return TrainedOn(
        file=found.file,
        digest=found.digest,
        topics=len(set(table.topics)),
        articles=len({name for name, _ in table.places}),
        summaries=len(table.rows),
        left_out=table.left_out,
        seen=tuple(seen),
    )


def refuse_unfit(wanted: Wanted) -> None:
    """Refuse judges that cannot be features.

    Raises:
        RecipeError: one reads another text than the source, is a combination itself, or has a name that is taken.
    """
    mistakes = [f"judge {name!r} {reason}" for name, each in wanted.judges.items() if (reason := _unfit(name, each))]
    if mistakes:
        raise RecipeError(
            listed([*mistakes, "name those that are to be combined with --judge NAME, or mend the recipe"])
        )


def _refuse_trained_on(wanted: Wanted, sets: Sequence[ControlledSet]) -> None:
    """Refuse judges whose scores of these sets are no evidence of what they say of others.

    Raises:
        RecipeError: one was trained on an article or a topic of them.
    """
    if seen := seen_articles(wanted.judges, sets):
        name, ids = next(iter(seen.items()))
        raise RecipeError(
            f"judge {name!r} was trained on {len(ids)} of {len(sets)} articles or on their topics and knows them, so a line "
            "would trust it too much; train its encoder without them, `evenhand train-encoder --leave-out SETS`, or leave it out"
        )


def _unfit(name: str, options: JudgeOptions) -> str | None:
    """Why a judge cannot be a feature; None when it can."""
    if name in (COMBINED, *COUNTED):
        return "has a name that is taken; give it another"
    if isinstance(options, CombinedJudge):
        return "combines others itself; combine those"
    if not isinstance(options, MemberJudge):
        return "does not compare a summary with its source"
    if options.kind == "length" and name != LENGTH:
        return "counts words, which are a feature already; leave it out"
    if options.against != "source":
        return f"compares the summary with {options.against}, and a combined judge has the source alone; write against: source"
    return has_nothing_to_judge(options)


def _others(rows: Mapping[str, BenchmarkRow]) -> list[str]:
    """Length, the best ROUGE and the best other judge, turned round or not: what a trained judge has to surpass."""
    rouge = [name for name in rows if name in BASELINES and name != LENGTH]
    rest = [name for name in rows if name not in (COMBINED, *BASELINES)]
    best = [
        max(group, key=lambda name: abs(rows[name].spearman_pooled.value or 0.0)) for group in (rouge, rest) if group
    ]
    return [LENGTH, *best]


def _figure(row: BenchmarkRow) -> Figure:
    pooled, own = row.spearman_pooled, row.spearman_macro
    return Figure(
        name=row.judge,
        pooled=pooled.value,
        pooled_low=pooled.low,
        pooled_high=pooled.high,
        by_article=own.value,
        by_article_low=own.low,
        by_article_high=own.high,
    )
