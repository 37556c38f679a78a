"""BLEURT: a regression that reads the text and the summary together and says how much of its meaning the summary keeps.

BLEURT-20 and its distilled sizes (Ri et al. 2025 used BLEURT-20-D6) are RemBERT encoders with a pooler and one output, the older
checkpoints BERT encoders with the same head. transformers has both as sequence classifiers with one label, and such a folder is
what this judge reads. The released files are none: they are TensorFlow models, or a port of them under classes of its own
(`model_type: bleurt`), which transformers does not know. Turn a checkpoint of the port into such a folder once:

    evenhand judges convert bleurt BLEURT-20-D6 --out bleurt-20-d6

The text stands first and the summary second; a text that does not fit loses its end, which the judgement says. The score has no
bounds; trained ones stay near [0, 1]. Source: Sellam et al. 2020 (arXiv:2004.04696), Pu et al. 2021 (arXiv:2110.06341);
docs/papers.md#ri-metrics.
"""

import math
from functools import partial
from typing import Any

from ...config.section import Check
from ...errors import JudgeError
from ...judges.aligner import Aligner, PairAligner, Pairing, most_tokens
from ...judges.alignment import whole
from ...judges.checkpoint import open_checkpoint
from ...judges.judge import Judge, Kind, judge_signature, own_model
from ...judges.shared import Lazy, SharedModels
from ...judges.support import SupportJudge, SupportReading, aggregate
from ...models import check, signature
from ...storage import local_path, read_json
from .sections import BleurtJudge

ARCHITECTURES = ("rembert", "bert")


class BleurtAligner(PairAligner):
    """A BERT or RemBERT with one output."""

    def __init__(self, model: str, batch_size: int, revision: str | None = None) -> None:
        tokenizer, self._model = open_checkpoint(
            "AutoModelForSequenceClassification", model, "judge 'bleurt'", revision
        )
        config = self._model.config
        if config.model_type not in ARCHITECTURES or config.num_labels != 1:
            raise JudgeError(
                f"judge 'bleurt': model {model!r} is a {config.model_type} with {config.num_labels} outputs; BLEURT is a "
                f"{' or '.join(ARCHITECTURES)} with one"
            )
        super().__init__(tokenizer, most_tokens(tokenizer, self._model), batch_size)

    def probabilities(self, encoded: Any) -> list[float]:
        """The regression's value of each row, without bounds."""
        return [float(value) for value in self._model(**encoded.to(self._model.device)).logits[:, 0]]


def open_bleurt(name: str, options: BleurtJudge, models: SharedModels) -> Judge:
    """The BLEURT judge that the options describe.

    Raises:
        ModelError: the model is a path that holds none.
        JudgeError: it is a checkpoint of the port as it was released.
    """
    refuse_unconverted(options.model)
    model: Lazy[Aligner] = models.of(BleurtAligner, options.model, options.batch_size, options.revision)
    named = judge_signature(
        "bleurt", "bleurt", model=signature(options.model, options.revision), against=options.against, v=2
    )
    reading = SupportReading(
        lambda judge_input: Pairing(whole(judge_input.reference), whole(judge_input.text)),
        aggregate,
        (-math.inf, math.inf),
    )
    return SupportJudge(name, named, options.against, model, reading)


def refuse_unconverted(model: str) -> None:
    """Refuse a checkpoint of the PyTorch port as it was released.

    Raises:
        JudgeError: it is one.
    """
    path = local_path(model) / "config.json"
    settings = read_json(path) if path.is_file() else {}
    if isinstance(settings, dict) and settings.get("model_type") == "bleurt":
        raise JudgeError(
            f"judge 'bleurt': {model!r} is a checkpoint of the PyTorch port as it was released; turn it once into what the judge "
            f"reads, evenhand judges convert bleurt {model} --out FOLDER, and name that folder"
        )


def refuse_absent(model: str) -> None:
    """Refuse a model that is not there, is damaged, or is a checkpoint of the port as it was released."""
    refuse_unconverted(model)
    check(model)


BLEURT = Kind(
    open_bleurt,
    BleurtJudge,
    checks=lambda name, options: [Check("model", partial(refuse_absent, options.model), is_here=True)],
    readers=own_model(lambda options: BleurtAligner(options.model, 1, options.revision)),
)
