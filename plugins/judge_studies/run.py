"""`evenhand audit-judge`: controlled sets and judges in, what each judge is worth and a page out."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from ...config import JudgeOptions
from ...config.needs import Purpose
from ...corpora.controlled import ControlledSet
from ...corpora.human.files import read_annotations
from ...errors import DataError, RecipeError
from ...evaluation.pages.folder import Result, Say, calls_itself
from ...evaluation.pages.words import counted
from ...extras import installed_versions
from ...judges.batch import Spent
from ...judges.calibration import Calibration, read_calibration
from ...judges.likeness import vocabulary
from ...runfolder.stages import RECORDED
from ...storage import listed
from ...text import did_you_mean, n_words
from .apart import judge_by_model
from .benchmark import SCORES
from .build import calibrate
from .exchange import Told
from .figures import LEVEL
from .page import page
from .preference import PeoplesScores, peoples_scores
from .probes import Exchanges, variants
from .scoring import BASELINES, LabelledFile, read_labels
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
    named=lambda found: f"the audit of {', '.join(each['judge'] for each in found['judges'])} on {found['file']}",
    key=lambda found: (found["digest"], sorted(each["judge"] for each in found["judges"])),
    others=(SCORES, SCORES_AGAIN),
)


@dataclass(frozen=True)
class AuditRequest:
    """What an audit of judges is given."""

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


@dataclass(frozen=True)
class JudgeAudit:
    """What is asked of which judges."""

    request: AuditRequest
    labels: LabelledFile
    # the articles in all variants
    asked: list[ControlledSet]
    exchanges: Exchanges
    people: PeoplesScores | None
    # judges that are tried, without baselines that nobody asked for
    options: dict[str, JudgeOptions]
    not_tried: dict[str, str]

    @property
    def sets(self) -> list[ControlledSet]:
        """The articles as they are."""
        return self.labels.sets

    def sets_of(self, judge: str) -> list[ControlledSet]:
        """The articles that a judge is asked about: none that it was trained on."""
        return [each for each in self.sets if each.id not in self.labels.seen.get(judge, ())]

    def asked_of(self, judge: str) -> list[ControlledSet]:
        """The same in all variants."""
        return variants(self.sets_of(judge), self.exchanges.tellers, exchanges=self.exchanges)

    @property
    def groups(self) -> "list[dict[str, JudgeOptions]]":
        """The judges, those together that are asked about the same articles."""
        found: dict[frozenset[str], dict[str, JudgeOptions]] = {}
        for name, each in self.options.items():
            found.setdefault(self.labels.seen.get(name, frozenset()), {})[name] = each
        return list(found.values())

    def n_judgements(self, judge: str) -> int:
        """Of a judge, those that are made again among them."""
        documents = self.people.documents if self.people else ()
        return sum(len(each.summaries) for each in (*self.asked_of(judge), *self.sets_of(judge), *documents))

    @property
    def n_tokens(self) -> int:
        """Of sources and summaries that each language model reads, about; prompts beside them and what is shared left out."""
        documents = self.people.documents if self.people else ()
        n_words_read = sum(
            n_words(summary.text) + n_words(each.source)
            for each in (*self.asked, *self.sets, *documents)
            for summary in each.summaries
        )
        return round(TOKENS_A_WORD * n_words_read)


def prepare(request: AuditRequest) -> JudgeAudit:
    """What will be asked; nothing is asked yet.

    Raises:
        DataError: a file is wrong, or no judge is left to try.
        RecipeError: a judge has a baseline's name and is another judge, or a purpose names no judge.
    """
    refuse_purposes(request)
    labels = read_labels(request.file, request.judges, request.evidence, request.limit)
    left_out = labels.not_tried | {
        name: f"nobody said what it is to measure: --purpose {name}=coverage, or faithfulness"
        for name, each in request.judges.items()
        if name not in labels.not_tried and request.purposes.get(name, each.purpose) is None
    }
    tried = {name: each for name, each in request.judges.items() if name not in left_out}
    if not tried:
        said = "; ".join(f"{name}: {left_out[name]}" for name in request.judges)
        raise DataError(f"no judge is left to audit ({said})")
    if (request.own is None) == bool(request.human):
        raise DataError(
            "--human and --own belong together: people's scores, and the system that the judges' model wrote"
        )
    exchanges = Exchanges.of(labels.sets, request.tellers or _tellers(labels.sets), request.documents)
    asked = variants(labels.sets, exchanges.tellers, exchanges=exchanges)
    if twice := [name for name, n in Counter(each.id for each in asked).items() if n > 1]:
        raise DataError(f"{request.file}: id {twice[0]!r} is one that a changed article gets, too; rename it")
    people = None
    if request.own:
        sheets = read_annotations(_files(request.human))
        people = peoples_scores(sheets.units, request.own, sheets.left_out.total())
    return JudgeAudit(request, labels, asked, exchanges, people, tried, left_out)


def refuse_purposes(request: AuditRequest) -> None:
    """Refuse purposes of judges that are not there, and of those whose section says it.

    Raises:
        RecipeError: all mistakes are listed.
    """
    mistakes = []
    for name, purpose in request.purposes.items():
        if name not in request.judges:
            mistakes.append(
                f"--purpose {name}: no such judge{did_you_mean(name, request.judges)} They are {', '.join(request.judges)}"
            )
        elif (said := request.judges[name].purpose) not in (None, purpose):
            mistakes.append(
                f"--purpose {name}={purpose}: by its section it is to measure {said}, and that is what it is used for; leave the "
                "option out"
            )
    if mistakes:
        raise RecipeError(listed(mistakes))


def _tellers(sets: Sequence[ControlledSet]) -> tuple[str, str]:
    """The two sides of the sets; left and right where they have not two."""
    sides = [*dict.fromkeys(each.side for each in sets if each.side)]
    return (sides[0], sides[1]) if len(sides) == 2 else ("left", "right")


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
    with AUDIT_OF_JUDGES.begun(out, (work.labels.digest, sorted(work.options)), say):
        study, request = _ask(work, out), work.request
        by_topic: dict[str, list[str]] = {}
        for topic, each in zip(study.topics, work.sets, strict=True):
            by_topic.setdefault(topic, []).append(each.source)
        found = Calibration(
            file=work.labels.file,
            digest=work.labels.digest,
            human=tuple(path.name for path in _files(request.human)),
            human_left_out=work.people.left_out if work.people else 0,
            n_articles=len(work.sets),
            n_summaries=sum(len(each.summaries) for each in work.sets),
            n_topics=len(set(study.topics)),
            topics_unknown=sum(not each.topic for each in work.sets),
            date=date.today().isoformat(),
            evenhand=installed_versions(("evenhand",)).get("evenhand", ""),
            versions=installed_versions(RECORDED),
            level=LEVEL,
            about=vocabulary(by_topic),
            judges=calibrate(
                {name: (each, request.purposes.get(name) or each.purpose) for name, each in work.options.items()},  # type: ignore[misc]
                study,
                [name for name in BASELINES if name in study.judges],
            ),
            not_tried={name: why for name, why in work.not_tried.items() if name in request.judges},
        )
        if (before := out / AUDIT_OF_JUDGES.json).exists():
            found = _with_costs(found, before)
        # baselines last
        said = sorted([*study.judgements, *study.of_people], key=lambda each: each.judge not in work.options)
        AUDIT_OF_JUDGES.write(out, found, page(found), {SCORES: said, SCORES_AGAIN: study.again})
    return found


def _ask(work: JudgeAudit, out: Path) -> JudgeStudy:
    """What the judges say, and the baselines of the plain summaries."""
    spent: list[Spent] = []
    judgements, again = [], []
    for group in work.groups:
        one = next(iter(group))
        judgements += judge_by_model(group, work.asked_of(one), spent=spent)
        again += judge_by_model(group, work.sets_of(one), cache_file=out / AGAIN, spent=spent)
    of_people = judge_by_model(work.options, work.people.documents) if work.people else []
    # those whose library is absent are not tried; one that the user names is a baseline all the same
    others = {
        name: each for name, each in BASELINES.items() if name in work.request.judges or name not in work.not_tried
    }
    judgements += judge_by_model({name: each for name, each in others.items() if name not in work.options}, work.sets)
    return JudgeStudy(
        work.sets, judgements, work.asked, again, work.exchanges.tellers, work.people, of_people, spent, work.exchanges
    )


def _with_costs(found: Calibration, earlier: Path) -> Calibration:
    """With the costs that an earlier audit in the same folder measured, of judges whose every score now came from the cache."""
    try:
        known = read_calibration(earlier)
    except DataError:
        # of another version, or damaged; it is replaced
        return found
    costs = {each.signature: each.cost for each in known.judges}
    judges = tuple(
        each.model_copy(update={"cost": costs.get(each.signature, each.cost)}) if each.cost.seconds is None else each
        for each in found.judges
    )
    return found.model_copy(update={"judges": judges})


def _but(work: JudgeAudit, judge: str) -> str:
    n = len(work.labels.seen.get(judge, ()))
    return f", without {counted(n, 'article')} that it was trained on" if n else ""


def plan_lines(work: JudgeAudit) -> list[str]:
    """What would be asked, in lines."""
    n = sum(len(each.summaries) for each in work.sets)
    lines = [
        f"{counted(len(work.sets), 'article')} with {counted(n, 'summary', 'summaries')}, each as it is, "
        "changed in one thing at a time, and once again",
        *(f"{name:24}{work.n_judgements(name):8,} judgements{_but(work, name)}" for name in work.options),
    ]
    if asking := [name for name, each in work.options.items() if each.language_models]:
        lines.append(f"about {work.n_tokens:,} tokens of sources and summaries for each of {', '.join(asking)}")
    if work.people:
        n, left_out = len(work.people.documents), work.people.left_out
        unfinished = f", without {left_out:,} that {'is' if left_out == 1 else 'are'} not finished" if left_out else ""
        lines.append(f"people's scores of {counted(n, 'document')}{unfinished}")
    return lines + [f"not tried: {name}, because {why}" for name, why in work.not_tried.items()]
