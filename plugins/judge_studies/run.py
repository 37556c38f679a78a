"""`evenhand judges audit`: controlled sets and judges in, what each judge is worth and a page out."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path

from ...config import JudgeOptions
from ...config.needs import Purpose
from ...corpora.controlled import ControlledSet
from ...errors import DataError, RecipeError
from ...evaluation.pages.folder import Result, Say, calls_itself
from ...evaluation.pages.tables import grouped
from ...evaluation.pages.words import counted
from ...extras import installed_versions
from ...judges.batch import Spent
from ...judges.calibration import Calibration, read_calibration
from ...judges.likeness import vocabulary
from ...runfolder.stages import RECORDED
from ...text import did_you_mean, n_words
from ...text.mistakes import listed
from .apart import judge_by_model
from .benchmark import SCORES
from .build import calibrate
from .examples import examples
from .exchange import Told
from .figures import LEVEL
from .page import page
from .people.annotations.files import read_annotations
from .preference import peoples_scores
from .probes import NO_EXCHANGES, Exchanges, variants
from .ratings.rated import RatedSummaries
from .scoring import BASELINES, LabelledFile, rated_labels, read_labels
from .study import JudgeStudy

# files in the output folder
SCORES_AGAIN = "again.jsonl"
# what was answered when asked again: kept, so that an interrupted audit goes on, and apart, so that it stands for no first answer
AGAIN = "again.sqlite"
# tokens of an English word, about
TOKENS_A_WORD = 1.3

AUDIT_OF_JUDGES = Result(
    "audit of judges",
    "calibration.json",
    "calibration.md",
    is_ours=calls_itself("evenhand-calibration"),
    named=lambda content: (
        f"the audit of {', '.join(judge['judge'] for judge in content['judges'])} on {content['file']}"
    ),
    key=lambda content: (content["digest"], sorted(judge["judge"] for judge in content["judges"])),
    others=(SCORES, SCORES_AGAIN),
)


@dataclass(frozen=True)
class AuditRequest:
    """An audit of judges as the user orders it: summaries, judges and what to compare them with."""

    # controlled sets, and the authors' evidence file where they are theirs
    file: Path
    judges: Mapping[str, JudgeOptions]
    evidence: Path | None = None
    # judge -> what it is to measure, where its section does not say
    purposes: Mapping[str, Purpose] = field(default_factory=dict)
    # sheets that people filled in, and the system that the judges' model wrote
    human: Sequence[Path] = ()
    own: str | None = None
    # names of two sides in whose name the same is told; None takes those of the sets, else left and right
    tellers: tuple[str, str] | None = None
    # of either side, with its name: words of the sides are learned from them; without any, from the articles
    documents: Sequence[Told] = ()
    # first articles that are taken
    limit: int | None = None
    # what people said of summaries, of coverage and faithfulness; None where `file` has controlled sets
    rated: RatedSummaries | None = None


@dataclass(frozen=True)
class JudgeAudit:
    """A prepared audit: the judges that are tried, and the articles that each is asked about."""

    request: AuditRequest
    labels: LabelledFile
    # before anybody said anything
    study: JudgeStudy
    # judges that are tried, without baselines that nobody asked for -> what they are to measure
    purposes: Mapping[str, Purpose]
    not_tried: Mapping[str, str]

    @property
    def options(self) -> dict[str, JudgeOptions]:
        """The sections of the judges that are tried."""
        return {name: self.request.judges[name] for name in self.purposes}

    def sets_of(self, judge: str) -> list[ControlledSet]:
        """The articles that a judge is asked about: none that it was trained on."""
        return [article for article in self.study.sets if article.id not in self.labels.seen.get(judge, ())]

    def asked_of(self, judge: str) -> list[ControlledSet]:
        """The articles that a judge is asked about, in all variants."""
        return variants(self.sets_of(judge), self.study.exchanges)

    @property
    def groups(self) -> "list[dict[str, JudgeOptions]]":
        """The judges, those together that are asked about the same articles."""
        by_seen = grouped(self.options.items(), lambda entry: self.labels.seen.get(entry[0], frozenset()))
        return [dict(group) for group in by_seen.values()]

    @property
    def of_people(self) -> Sequence[ControlledSet]:
        """Documents whose summaries people scored."""
        return self.study.people.documents if self.study.people else ()

    def n_judgements(self, judge: str) -> int:
        """How many judgements a judge makes, those that are made again among them."""
        return sum(len(article.summaries) for article in (*self.asked_of(judge), *self.sets_of(judge), *self.of_people))

    @property
    def n_tokens(self) -> int:
        """About how many tokens of sources and summaries each language model reads; prompts and what is shared are left out."""
        read = (*self.study.asked, *self.study.sets, *self.of_people)
        return round(
            TOKENS_A_WORD
            * sum(n_words(s.text) + n_words(article.source) for article in read for s in article.summaries)
        )


def prepare(request: AuditRequest) -> JudgeAudit:
    """The audit with all that will be asked; nothing is asked yet.

    Raises:
        DataError: a file is wrong, or no judge is left to try.
        RecipeError: a judge has a baseline's name and is another judge, or a purpose names no judge.
    """
    purposes = _purposes(request)
    if request.rated:
        labels = rated_labels(request.rated.first(request.limit), request.judges)
    else:
        labels = read_labels(request.file, request.judges, request.evidence, request.limit)
    left_out = dict(labels.not_tried)
    for name in request.judges:
        purpose = purposes.get(name)
        if purpose is None:
            left_out.setdefault(name, f"nobody said what it is to measure: --purpose {name}=coverage, or faithfulness")
        elif request.rated and (reason := request.rated.absence(purpose)):
            left_out.setdefault(name, reason)
    tried = {name: purpose for name, purpose in purposes.items() if name not in left_out}
    if not tried:
        reasons = "; ".join(f"{name}: {left_out[name]}" for name in request.judges)
        raise DataError(f"no judge is left to audit ({reasons})")
    if (request.own is None) == bool(request.human):
        raise DataError(
            "--human and --own belong together: people's scores, and the system that the judges' model wrote"
        )
    sides = [*dict.fromkeys(article.side for article in labels.sets if article.side)]
    own_sides = (sides[0], sides[1]) if len(sides) == 2 else NO_EXCHANGES.tellers
    exchanges = Exchanges.of(labels.sets, request.tellers or own_sides, request.documents)
    versions = variants(labels.sets, exchanges)
    ids = Counter(article.id for article in versions)
    if twice := [name for name, n in ids.items() if n > 1]:
        raise DataError(f"{request.file}: id {twice[0]!r} is one that a changed article gets, too; rename it")
    people = None
    if request.own:
        sheets = read_annotations(_files(request.human))
        people = peoples_scores(sheets.units, request.own, sheets.left_out.total())
    study = JudgeStudy(labels.sets, people=people, exchanges=exchanges, asked=versions, ratings=labels.ratings)
    return JudgeAudit(request, labels, study, tried, left_out)


def _purposes(request: AuditRequest) -> dict[str, Purpose]:
    """Judge -> what it is to measure; of those of which somebody says it.

    Raises:
        RecipeError: of judges that are not there, or whose section says something else; all mistakes are listed.
    """
    mistakes, judges = [], request.judges
    section_purposes = {name: section.purpose for name, section in judges.items() if section.purpose is not None}
    for name, purpose in request.purposes.items():
        if name not in judges:
            mistakes.append(f"--purpose {name}: no such judge{did_you_mean(name, judges)} They are {', '.join(judges)}")
        elif section_purposes.get(name, purpose) != purpose:
            mistakes.append(
                f"--purpose {name}={purpose}: by its section it is to measure {section_purposes[name]}, and that is what it is "
                "used for; leave the option out"
            )
    if mistakes:
        raise RecipeError(listed(mistakes))
    all_purposes = {**section_purposes, **request.purposes}
    return {name: all_purposes[name] for name in judges if name in all_purposes}


def _files(paths: Sequence[Path]) -> list[Path]:
    """The files, and those of folders."""
    return [file for path in paths for file in (sorted(path.glob("*.json")) if path.is_dir() else [path])]


def audit_judges(work: JudgeAudit, out: Path, say: Say | None = None) -> Calibration:
    """Ask the judges; what they are worth, after it was written to `out`.

    Args:
        work: as it was prepared.
        out: folder for calibration.json, judgements.jsonl, again.jsonl and the page.
        say: called with a line on an earlier audit that will be replaced.

    Raises:
        DataError: the folder is refused.
        StorageError: a file cannot be read.
        JudgeError: a judge cannot run at all.
    """
    AUDIT_OF_JUDGES.check(out)
    with AUDIT_OF_JUDGES.begun(out, (work.labels.digest, sorted(work.purposes)), say):
        study, request = _asked(work, out), work.request
        sources = grouped(zip(study.topics, study.sets, strict=True), lambda pair: pair[0])
        judges = calibrate(
            {name: (options, work.purposes[name]) for name, options in work.options.items()},
            study,
            [name for name in BASELINES if name in study.judges],
        )
        audit = Calibration(
            file=work.labels.file,
            digest=work.labels.digest,
            human=tuple(path.name for path in _files(request.human)),
            human_left_out=study.people.left_out if study.people else 0,
            n_raters=len(work.labels.rated.raters) if work.labels.rated else None,
            notes=work.labels.rated.notes if work.labels.rated else (),
            n_articles=len(study.sets),
            n_summaries=study.n_summaries,
            n_topics=len(sources),
            topics_unknown=sum(not article.topic for article in study.sets),
            date=date.today().isoformat(),
            evenhand=installed_versions(("evenhand",)).get("evenhand", ""),
            versions=installed_versions(RECORDED),
            level=LEVEL,
            about=vocabulary(
                {topic: [article.source for _, article in articles] for topic, articles in sources.items()}
            ),
            judges=judges,
            not_tried={name: reason for name, reason in work.not_tried.items() if name in request.judges},
            examples=examples(judges, study),
        )
        if (before := out / AUDIT_OF_JUDGES.json).exists():
            audit = _with_costs(audit, before)
        # baselines last
        judgements = sorted(
            [*study.judgements, *study.of_people], key=lambda judgement: judgement.judge not in work.purposes
        )
        AUDIT_OF_JUDGES.write(out, audit, page(audit), {SCORES: judgements, SCORES_AGAIN: study.again})
    return audit


def _asked(work: JudgeAudit, out: Path) -> JudgeStudy:
    """The study with what the judges say, and the baselines of the plain summaries."""
    spent: list[Spent] = []
    judgements, again = [], []
    for group in work.groups:
        first = next(iter(group))
        judgements += judge_by_model(group, work.asked_of(first), spent=spent)
        again += judge_by_model(group, work.sets_of(first), cache_file=out / AGAIN, spent=spent)
    of_people = judge_by_model(work.options, work.of_people) if work.of_people else []
    # those whose library is absent are not tried; one that the user names is a baseline all the same
    asked_for = work.request.judges
    baselines = {
        name: section for name, section in BASELINES.items() if name in asked_for or name not in work.not_tried
    }
    baselines = {name: section for name, section in baselines.items() if name not in work.purposes}
    judgements += judge_by_model(baselines, work.study.sets)
    return replace(work.study, judgements=judgements, again=again, of_people=of_people, spent=spent)


def _with_costs(audit: Calibration, earlier: Path) -> Calibration:
    """The audit with costs that an earlier one in the folder measured, of judges whose every score came from the cache."""
    try:
        earlier_audit = read_calibration(earlier)
    except DataError:
        # of another version, or damaged; it is replaced
        return audit
    costs = {judge.signature: judge.cost for judge in earlier_audit.judges}
    by_judge = [costs.get(x.signature, x.cost) if x.cost.seconds is None else x.cost for x in audit.judges]
    judges = [judge.model_copy(update={"cost": cost}) for judge, cost in zip(audit.judges, by_judge, strict=True)]
    return audit.model_copy(update={"judges": tuple(judges)})


def plan_lines(work: JudgeAudit) -> list[str]:
    """Lines on what would be asked."""
    lines = [
        f"{counted(len(work.study.sets), 'article')} with {counted(work.study.n_summaries, 'summary', 'summaries')}, each as it "
        "is, changed in one thing at a time, and once again",
    ]
    for name in work.purposes:
        n = len(work.labels.seen.get(name, ()))
        but = f", without {counted(n, 'article')} that it was trained on" if n else ""
        lines.append(f"{name:24}{work.n_judgements(name):8,} judgements{but}")
    if asking := [name for name, section in work.options.items() if section.language_models]:
        lines.append(f"about {work.n_tokens:,} tokens of sources and summaries for each of {', '.join(asking)}")
    if people := work.study.people:
        n = people.left_out
        unfinished = f", without {n:,} that {'is' if n == 1 else 'are'} not finished" if n else ""
        lines.append(f"people's scores of {counted(len(people.documents), 'document')}{unfinished}")
    return lines + [f"not tried: {name}, because {reason}" for name, reason in work.not_tried.items()]
