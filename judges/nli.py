"""Alignment by any NLI classifier: the probability that the source entails the claim.

The class is found by its name in the model's own label table. Models disagree about the order, and taking the first
class for entailment is a known defect of published evaluation code.
"""

from collections.abc import Sequence
from typing import Any, cast

from ..errors import JudgeError
from .aligner import Pair, PairAligner, Pairing, most_tokens
from .checkpoint import open_checkpoint
from .shared import Lazy, SharedModels

# what classifiers call the class, in lower case: of most, and of those trained on fact verification (VitaminC, FEVER)
NAMES = ("entailment", "supports")
# the other two classes of natural language inference, likewise
CONTRADICTION = ("contradiction", "refutes")
NEUTRAL = ("neutral", "not enough info", "not_enough_info")

# probabilities of (contradiction, neutral, entailment)
Classes = tuple[float, float, float]


class NliAligner(PairAligner):
    """A sequence classifier of transformers with a class that means entailment, of that name or the given one."""

    def __init__(self, model: str, batch_size: int, label: str | None = None, revision: str | None = None) -> None:
        tokenizer, self._model = open_checkpoint(
            "AutoModelForSequenceClassification", model, "classifier 'nli'", revision
        )
        self._name = model
        self._class = entailment_class(model, self._model.config.id2label, label)
        super().__init__(tokenizer, most_tokens(tokenizer, self._model), batch_size)

    def probabilities(self, encoded: Any) -> list[float]:
        """Probability of entailment for each row."""
        logits = self._model(**encoded.to(self._model.device)).logits.float()  # (rows, classes)
        return [float(p) for p in logits.softmax(dim=-1)[:, self._class]]

    def classes(self, pairings: Sequence[Pairing]) -> tuple[dict[Pair, Classes], set[Pair]]:
        """Probabilities of contradiction, neutral and entailment for each distinct pair, and the pairs whose premise was cut.

        Pairs whose claim is too long are left out.

        Raises:
            JudgeError: the model has not these three classes.
        """
        columns = three_classes(self._name, self._model.config.id2label)

        def rows(encoded: Any) -> list[Classes]:
            logits = self._model(**encoded.to(self._model.device)).logits.float()  # (rows, classes)
            return [cast(Classes, tuple(row)) for row in logits.softmax(dim=-1)[:, columns].tolist()]

        return self.read(pairings, rows)


def entailment_class(model: str, labels: dict[int, str], name: str | None = None) -> int:
    """Index of the class of that name, in any spelling of case; without one, of the class named like one of `NAMES`.

    Raises:
        JudgeError: no class or more than one is named so.
    """
    wanted = NAMES if name is None else (name.lower(),)
    indexes = [index for index, label in labels.items() if label.strip().lower() in wanted]
    if len(indexes) != 1:
        named = ", ".join(repr(label) for label in labels.values())
        raise JudgeError(
            f"classifier 'nli': model {model!r} needs exactly one class named {' or '.join(map(repr, wanted))}, but its "
            f"config.json names {named}; write the one that means entailment as the judge's key label (kind: summac), correct "
            "id2label in config.json, or name an NLI model"
        )
    return indexes[0]


def three_classes(model: str, labels: dict[int, str]) -> list[int]:
    """Indices of the classes contradiction, neutral and entailment, told by their names.

    Raises:
        JudgeError: the model has not exactly these three.
    """
    named = {label.strip().lower(): index for index, label in labels.items()}
    indexes = [[named[name] for name in names if name in named] for names in (CONTRADICTION, NEUTRAL, NAMES)]
    if len(labels) != 3 or any(len(indices) != 1 for indices in indexes):
        raise JudgeError(
            f"entailer 'nli': model {model!r} needs the three classes contradiction, neutral and entailment, but its config.json "
            f"names {', '.join(map(repr, labels.values()))}; name a model trained on MNLI, or correct id2label in config.json"
        )
    return [indices[0] for indices in indexes]


def refuse_other_classes(model: str, revision: str | None = None) -> None:
    """Refuse a classifier without the classes contradiction, neutral and entailment.

    Raises:
        ModelError: it cannot be opened.
        JudgeError: it has other classes.
    """
    _, loaded = open_checkpoint("AutoModelForSequenceClassification", model, "entailer 'nli'", revision)
    three_classes(model, loaded.config.id2label)


def lazy_nli(
    models: SharedModels, model: str, batch_size: int, label: str | None = None, revision: str | None = None
) -> Lazy[NliAligner]:
    """The classifier, which all that name it share."""
    return models.of(NliAligner, model, batch_size, label, revision)
