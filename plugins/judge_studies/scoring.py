"""Controlled summaries before judges: what each judge says of each summary.

Scores come from the cache where it has them and are kept there batch by batch, so an interrupted benchmark goes on where it
stopped. Judges on one model are asked together, article first, and a model is closed before the next is loaded.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from ...config import JudgeOptions
from ...config.judges import RougeJudge, RuleJudge
from ...config.needs import Against
from ...corpora.bundled import CONTROLLED, file_of
from ...corpora.controlled import ControlledSet, read_controlled
from ...errors import RecipeError
from ...extras import missing_extra
from ...judges.batch import COMPARING, Spent, judge_together
from ...judges.calibration import LENGTH
from ...judges.judge import Judge, JudgeInput
from ...judges.python_code import source_text
from ...records import Judgement
from ...resampling import Floats
from ...storage import file_digest
from .ratings.rated import RatedSummaries

# of articles that a judge was trained on
SEEN = "the judge was trained on this article or its topic"
KNOWS_ALL = "it was trained on every one of these articles or on its topic, and knows them by heart; take others"
# what every table shows beside the judges that are asked for: measures that need no model
BASELINES: dict[str, JudgeOptions] = {
    LENGTH: RuleJudge(kind="length"),
    **{
        f"{kind}-{measure}": RougeJudge.model_validate({"kind": "rouge", "type": kind, "measure": measure})
        for kind in ("rouge1", "rouge2", "rougeL")
        for measure in ("recall", "precision")
    },
}


@dataclass(frozen=True)
class LabelledFile:
    """Summaries of which something is known, and the judges that can be tried on them."""

    # name of the file and digest of its content
    file: str
    digest: str
    sets: list[ControlledSet]
    # those asked for, and the baselines after them
    judges: dict[str, JudgeOptions]
    # judge -> why it is not tried
    not_tried: dict[str, str]
    # judge -> ids of the articles that it was trained on, or on whose topic; judges that saw none are absent
    seen: dict[str, frozenset[str]]
    # what people said of the summaries; None where coverage and faithfulness are known by construction
    rated: RatedSummaries | None = None

    @property
    def ratings(self) -> dict[str, Floats] | None:
        """Attribute -> the mean of people's scores, (articles, summaries); None where nobody scored."""
        return self.rated.truths if self.rated else None


def read_labels(
    file: Path, judges: Mapping[str, JudgeOptions], evidence: Path | None = None, limit: int | None = None
) -> LabelledFile:
    """Labelled summaries and judges; nothing is asked yet.

    Args:
        file: controlled sets, in evenhand's JSON lines or as the authors released them; "sample" is bundled.
        judges: those asked for beside the baselines.
        evidence: the authors' evidence file, when `file` is theirs.
        limit: first articles that are taken.

    Raises:
        StorageError: a file cannot be read.
        DataError: the files are wrong; all mistakes are listed.
        RecipeError: a judge has a baseline's name and is another judge.
    """
    sets = read_controlled(file, evidence)[:limit]
    return _labelled(file.name, file_digest(file_of(file, CONTROLLED)), sets, judges)


def rated_labels(rated: RatedSummaries, judges: Mapping[str, JudgeOptions]) -> LabelledFile:
    """Summaries that people scored, and judges; nothing is asked yet.

    Raises:
        RecipeError: a judge has a baseline's name and is another judge.
    """
    return replace(_labelled(rated.file, rated.digest, rated.sets, judges), rated=rated)


def _labelled(file: str, digest: str, sets: list[ControlledSet], judges: Mapping[str, JudgeOptions]) -> LabelledFile:
    options = with_baselines(judges)
    seen = seen_articles(options, sets)
    knows_all = {name: KNOWS_ALL for name, ids in seen.items() if len(ids) == len(sets)}
    left_out = not_tried(judges) | knows_all
    tried = {name: section for name, section in options.items() if name not in left_out}
    return LabelledFile(file, digest, sets, tried, left_out, seen)


def with_baselines(options: Mapping[str, JudgeOptions]) -> dict[str, JudgeOptions]:
    """The judges asked for, and the baselines after them.

    Raises:
        RecipeError: a judge has a baseline's name and is another judge.
    """
    clashes = [name for name in options if options[name] != BASELINES.get(name, options[name])]
    if clashes:
        raise RecipeError(f"judge {clashes[0]!r} has the name of a baseline that is always shown; give it another name")
    return {**options, **BASELINES}


def not_tried(options: Mapping[str, JudgeOptions]) -> dict[str, str]:
    """Judge -> why it is not tried: it has nothing to look at, or is a baseline that nobody asked for and lacks its library."""
    reasons = {name: reason for name, section in options.items() if (reason := has_nothing_to_judge(section))}
    if find_spec("rouge_score") is None:
        reason = str(missing_extra("rouge_score", "ROUGE"))
        reasons |= {
            name: reason for name, section in BASELINES.items() if section.kind == "rouge" and name not in options
        }
    return reasons


def seen_articles(options: Mapping[str, JudgeOptions], sets: Sequence[ControlledSet]) -> dict[str, frozenset[str]]:
    """Judge -> ids of the articles that it was trained on, or on whose topic; judges that saw none are absent."""
    marks = {article.id: article.marks for article in sets}
    seen_ids = {
        name: frozenset(set_id for set_id, article_marks in marks.items() if article_marks & section.seen)
        for name, section in options.items()
    }
    return {name: ids for name, ids in seen_ids.items() if ids}


def has_nothing_to_judge(options: JudgeOptions) -> str | None:
    """Why a judge cannot be tried on controlled summaries; None when it can."""
    if options.kind == "contract":
        return "controlled summaries have no output contract"
    absent = {
        "opposing": "documents of other sides",
        "documents": "documents with attribute values",
        **dict.fromkeys(COMPARING, "candidates that one policy drew"),
    }
    return f"controlled sets have no {absent[options.against]}" if options.against in absent else None


def judge_sets(
    judges: Sequence[Judge],
    sets: Sequence[ControlledSet],
    *,
    cache_file: Path | None = None,
    spent: list[Spent] | None = None,
) -> list[Judgement]:
    """A judgement of every summary by every judge, judge by judge, in the order of the sets; options of `judge_together`."""

    def inputs(against: Against | None, some: Sequence[ControlledSet]) -> list[JudgeInput]:
        return [
            JudgeInput(
                candidate_id=f"{article.id}#{place}",
                request_id=article.id,
                text=summary.text,
                contract_ok=True,
                # judges against anything else are not tried
                reference=source_text(article.id, article.topic, article.source)
                if against == "request"
                else {"source": article.source, "key_points": "\n".join(article.key_points)}.get(against or "", ""),
            )
            for article in some
            for place, summary in enumerate(article.summaries)
        ]

    return judge_together(judges, sets, inputs, cache_file=cache_file, spent=spent)
