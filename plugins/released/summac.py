"""SummaC: how far an NLI classifier finds each sentence of a summary entailed by a sentence of the text.

"zs": the best sentence of the text counts, mean over the summary's sentences. "conv": for each sentence of the summary, the
entailments by all sentences of the text are counted in bins; a trained linear layer reads the counts, the mean over the
summary's sentences goes through a second layer, and the score is its probability of "consistent". Conv does not exist without
trained weights: the code of Ri et al. 2025 never loaded any, so its figures for SummaC come from a random read-out.

Source: Laban et al. 2022 (TACL 10) and its code. That code leaves out sentences of ten characters and less and all but the first
hundred of a text, and its Conv reads the first ten sentences of a summary; with `splitter: nltk` this does too, and Conv then
gives its scores on whole documents. Its ZS takes the best contradiction off the best entailment unless told otherwise
(`use_con=False`); here entailment alone counts. It cuts a pair of sentences to 500 tokens, this to what the model reads.

The released read-out is a pickle; turn it once into plain tensors:

    evenhand judges convert summac summac_conv_vitc_sent_perc_e.bin --out summac-conv
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...config.section import Check
from ...errors import DataError, JudgeError
from ...extras import need
from ...judges.aligner import Pairing
from ...judges.judge import Judge, JudgeInput, Kind, judge_signature, own_model
from ...judges.nli import NliAligner, lazy_nli
from ...judges.released import FEATURE, read_tensors
from ...judges.shared import SharedModels
from ...judges.splitters import open_splitter, splitter_checks
from ...judges.support import SupportJudge, SupportReading, aggregate
from ...models import signature
from ...storage import file_digest
from .sections import SummacJudge

Array = NDArray[np.float64]

# edges of the released read-out's bins: percentiles of entailment over many summaries
BINS = (
    0.0, 0.01, 0.02, 0.03, 0.04, 0.07, 0.13, 0.37, 0.90, 0.91, 0.92, 0.93, 0.94, 0.95, 0.955, 0.96, 0.965, 0.97, 0.975, 0.98,
    0.985, 0.99, 0.995, 1.0,
)  # fmt: skip
SHAPES = {
    "mlp.weight": (1, len(BINS) - 1),
    "mlp.bias": (1,),
    "layer_final.weight": (2, 3),
    "layer_final.bias": (2,),
}
CONSISTENT = 1
# what the authors' code reads of a text: sentences of more characters than these, and so many of them
SHORT, MOST_SENTENCES, MOST_SUMMARY_SENTENCES = 10, 100, 10


@dataclass(frozen=True)
class ReadOut:
    """The trained layers of SummaC Conv."""

    # weights of the bins, shape (bins,), and their bias
    bins: Array
    bias: float
    # second layer: weights of shape (classes, 3), where all three inputs are the mean, and biases of shape (classes,)
    final: Array
    final_bias: Array

    def score(self, support: Array) -> float:
        """Probability of "consistent", in [0, 1], for entailments of shape (text sentences, summary sentences)."""
        # float32 shares may exceed 1 by a hair, and a histogram leaves out what lies beyond its edges
        columns = np.clip(support.T, 0.0, 1.0)
        counts = np.stack([np.histogram(column, bins=BINS)[0] for column in columns])  # (summary sentences, bins)
        mean = float((counts @ self.bins + self.bias).mean())
        logits = self.final @ np.full(3, mean) + self.final_bias
        weights = np.exp(logits - logits.max())
        return float(weights[CONSISTENT] / weights.sum())


def read_weights(path: Path) -> ReadOut:
    """The read-out in a safetensors file.

    Raises:
        JudgeError: the file is not there, is a pickle, or holds other tensors than these, or numbers that are none.
    """
    if path.suffix != ".safetensors":
        raise JudgeError(
            f"judge 'summac': weights {str(path)!r} is not a safetensors file, and a pickle can run any code when it is opened; "
            f"turn it once into plain tensors, evenhand judges convert summac {path} --out FOLDER, and name "
            "FOLDER/model.safetensors"
        )
    if not path.is_file():
        raise JudgeError(f"judge 'summac': weights {str(path)!r}: there is no such file, and untrained Conv is refused")
    library = need("safetensors", "judge 'summac'")
    try:
        tensors = need("safetensors.numpy", "judge 'summac'").load_file(path)
    except library.SafetensorError as error:
        raise JudgeError(f"judge 'summac': weights {str(path)!r} cannot be read: {error}") from error
    shapes = {name: tensor.shape for name, tensor in tensors.items()}
    if shapes != SHAPES:
        raise JudgeError(f"judge 'summac': weights {str(path)!r} has tensors {shapes}; the read-out has {SHAPES}")
    values = {name: tensor.astype(float) for name, tensor in tensors.items()}
    if not all(np.isfinite(value).all() for value in values.values()):
        raise JudgeError(f"judge 'summac': weights {str(path)!r} hold NaN or infinite numbers; convert again")
    return ReadOut(
        bins=values["mlp.weight"][0],
        bias=float(values["mlp.bias"][0]),
        final=values["layer_final.weight"],
        final_bias=values["layer_final.bias"],
    )


def convert_weights(released: Path, target: Path) -> None:
    """Write the tensors of a released read-out as a safetensors file.

    Raises:
        JudgeError: the file cannot be read, or is no read-out over these bins.
        DataError: the target cannot be written.
    """
    tensors = read_tensors(released)
    shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    if shapes != SHAPES:
        raise JudgeError(f"{released}: has tensors {shapes}; a SummaC read-out has {SHAPES}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        need("safetensors.torch", FEATURE).save_file(tensors, target)
    except OSError as error:
        raise DataError(f"--out {target.parent}: cannot be written: {error}") from error


def open_summac(name: str, options: SummacJudge, models: SharedModels) -> Judge:
    """The SummaC judge that the options describe.

    Raises:
        ModelError: the model is a path that holds none.
        JudgeError: the weights of Conv are not there, or are no such weights.
        MissingExtra, DataError: its splitter needs NLTK or NLTK's data, which is absent.
    """
    model = lazy_nli(models, options.model, options.batch_size, options.label, options.revision)
    reduce: Callable[[Array], float] = aggregate
    weights = {}
    if options.weights is not None:
        reduce = read_weights(options.weights).score
        weights = {"weights": file_digest(options.weights)[:8]}
    splitter = open_splitter(options.splitter)
    as_published = options.splitter == "nltk"
    most_claims = MOST_SUMMARY_SENTENCES if options.variant == "conv" else None

    def pair(judge_input: JudgeInput) -> Pairing:
        premises, claims = splitter.split(judge_input.reference), splitter.split(judge_input.text)
        if as_published:
            # the sentences that the authors' code reads
            premises = [sentence for sentence in premises if len(sentence) > SHORT][:MOST_SENTENCES]
            claims = [sentence for sentence in claims if len(sentence) > SHORT][:most_claims]
        return Pairing(tuple(premises), tuple(claims))

    named = judge_signature(
        f"summac-{options.variant}",
        "summac",
        model=signature(options.model, options.revision),
        **({"label": options.label} if options.label is not None else {}),
        **weights,
        against=options.against,
        sentences=f"{splitter.signature}{',as-published' if as_published else ''}",
        v=2,
    )
    return SupportJudge(name, named, options.against, model, SupportReading(pair, reduce))


def _checks(name: str, options: SummacJudge) -> Iterator[Check]:
    if options.weights is not None:
        yield Check("weights", partial(read_weights, options.weights), is_here=True)
    yield from splitter_checks(name, options)


SUMMAC = Kind(
    open_summac,
    SummacJudge,
    checks=_checks,
    readers=own_model(lambda options: NliAligner(options.model, 1, options.label, options.revision)),
)
