"""Alignment by any NLI classifier: the probability that the source entails the claim.

The class is found by its name in the model's own label table. Models disagree about the order, and taking the first
class for entailment is a known defect of published evaluation code.
"""

from typing import Any

from ..errors import JudgeError, ModelError
from ..extras import need
from ..models import locate
from .aligner import PairAligner, device, most_tokens


class NliAligner(PairAligner):
    """A sequence classifier of transformers with a class that means entailment, by default one of that name."""

    def __init__(self, model: str, batch_size: int, label: str = "entailment") -> None:
        transformers = need("transformers", "aligner 'nli'")
        need("torch", "aligner 'nli'")
        folder = locate(model)
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
            loaded, report = transformers.AutoModelForSequenceClassification.from_pretrained(
                folder, output_loading_info=True
            )
        except (ValueError, OSError) as error:
            raise ModelError(f"aligner 'nli' cannot open model {model!r}: {error}") from error
        if report["missing_keys"]:
            raise JudgeError(
                f"aligner 'nli': model {model!r} has no weights for {', '.join(sorted(report['missing_keys'])[:3])}, so it "
                "would judge at random; name a model that was trained on NLI"
            )
        self._class = entailment_class(model, loaded.config.id2label, label)
        self._model = loaded.to(device()).eval()
        super().__init__(tokenizer, most_tokens(tokenizer, loaded.config), batch_size)

    def probabilities(self, encoded: Any) -> list[float]:
        """Probability of entailment for each row."""
        logits = self._model(**encoded.to(self._model.device)).logits.float()  # (rows, classes)
        return [float(p) for p in logits.softmax(dim=-1)[:, self._class]]

    def close(self) -> None:
        """Give the model's memory back."""
        del self._model


def entailment_class(model: str, labels: dict[int, str], name: str = "entailment") -> int:
    """Index of the class of that name, in any spelling of case.

    Raises:
        JudgeError: no class or more than one has that name.
    """
    found = [index for index, label in labels.items() if label.strip().lower() == name.lower()]
    if len(found) != 1:
        named = ", ".join(repr(label) for label in labels.values())
        raise JudgeError(
            f"aligner 'nli': model {model!r} needs exactly one class named {name!r}, but its config.json names {named}; "
            "correct id2label there, or name an NLI model"
        )
    return found[0]
