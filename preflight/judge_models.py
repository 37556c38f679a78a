"""A judge's trained model must be one that the judge can read: with the classes, layers, outputs and tokens that it looks for.

The judge's own opener is asked, and is given models without their numbers.
"""

from collections.abc import Callable, Iterator
from functools import partial

from .. import models
from ..config import (
    AlignmentJudge,
    BertScoreJudge,
    BleurtJudge,
    EntailerSection,
    ExtractJudge,
    FairnessJudgeSection,
    JudgeOptions,
    MatcherSection,
    MiniCheckJudge,
    SummacJudge,
    UniEvalJudge,
)
from ..config.needs import NeedySection
from ..errors import EvenhandError
from ..judges.alignscore import checkpoint_folder, refuse_other_checkpoint, refuse_pickle
from ..judges.bertscore import TokenEmbedder
from ..judges.bleurt import BleurtAligner, refuse_unconverted
from ..judges.measures.bart import BartScorer
from ..judges.measures.bert import BertScorer
from ..judges.minicheck import Support
from ..judges.nli import NliAligner, refuse_other_classes
from ..judges.unieval import Consistency
from ..judges.yes_no import YesNoAligner
from ..models import file_at_hand
from ..models.opening import without_numbers
from .check import Check

# (key below the section, revision, what opens the model)
Reader = tuple[str, str | None, Callable[[], object]]


def refuse_model(options: JudgeOptions, model: str) -> None:
    """Refuse a model that is not there, is damaged, or is still as its authors released it."""
    if isinstance(options, BleurtJudge):
        refuse_unconverted(model)
    elif isinstance(options, AlignmentJudge) and options.aligner == "alignscore":
        refuse_pickle(model)
        model = checkpoint_folder(model)
    models.check(model)


def reading_checks(key: str, options: JudgeOptions) -> Iterator[Check]:
    """That the judge under that key can read its models, as far as they are on this machine."""
    for below, revision, read in _readers(options):
        model = options.models[below]
        yield Check(f"{key}.{below}", partial(_refuse_unreadable, options, model, revision, read), is_here=True)


def _refuse_unreadable(options: JudgeOptions, model: str, revision: str | None, read: Callable[[], object]) -> None:
    try:
        refuse_model(options, model)
    except EvenhandError:
        # is said by another check
        return
    if file_at_hand(checkpoint_folder(model), revision, "config.json") is not None:
        with without_numbers():
            read()


def _readers(options: NeedySection) -> Iterator[Reader]:
    """How a judge, or a part of one, opens its models; sentence encoders are left out, since those take almost any model."""
    match options:
        case FairnessJudgeSection():
            for key, part in options.parts.items():
                yield from ((f"{key}.{below}", revision, read) for below, revision, read in _readers(part))
        case AlignmentJudge(aligner="nli"):
            yield "model", options.revision, partial(NliAligner, options.model, 1, revision=options.revision)
        case AlignmentJudge(aligner="alignscore"):
            yield "model", None, partial(refuse_other_checkpoint, options.model)
        case SummacJudge():
            yield "model", options.revision, partial(NliAligner, options.model, 1, options.label, options.revision)
        case BleurtJudge():
            yield "model", options.revision, partial(BleurtAligner, options.model, 1, options.revision)
        case UniEvalJudge() | MiniCheckJudge():
            asking = Consistency() if isinstance(options, UniEvalJudge) else Support()
            yield "model", options.revision, partial(YesNoAligner, options.model, asking, 32, 1, options.revision)
        case BertScoreJudge():
            yield "model", options.revision, partial(TokenEmbedder, options.model, 1, 16, options.revision)
        case ExtractJudge() if "entailment" in options.extractors:
            yield "nli", options.nli_revision, partial(NliAligner, options.nli, 1, revision=options.nli_revision)
        case EntailerSection(kind="nli"):
            yield "model", options.revision, partial(refuse_other_classes, options.model_name, options.revision)
        case MatcherSection(kind="bertscore"):
            yield "model", options.revision, partial(BertScorer, options)
        case MatcherSection(kind="bartscore"):
            yield "model", options.revision, partial(BartScorer, options)
