"""Measures with a model on texts: all sets in one call against a call for each set.

The models are random, of four layers and 256 dimensions, so that what is compared is batching and not a download: BERTScore up to
the second layer, and a classifier of entailment. Sets have eight documents of one to three sentences; texts are of random words.
"""

import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..config.fairness import EntailerSection, MatcherSection
from ..extras import need
from ..fairness.labelled import LabelledSummary, LabelledText
from ..judges.measures import open_entailer, open_matcher
from . import Contender, Counts, Table, compare

ONE_CALL = "one call"
SET_BY_SET = "set by set"

N_DOCUMENTS = 8
VALUES = ("left", "middle", "right")
CLASSES = ("contradiction", "neutral", "entailment")
SPECIAL = START, PADDING, END, UNKNOWN = "<s>", "<pad>", "</s>", "<unk>"
WORDS = tuple(
    a + b + c for a in ("ba", "de", "fi", "go", "lu") for b in "kmnprst" for c in ("a", "en", "i", "or", "us")
)
LAYERS, WIDTH, READS = 4, 256, 256

# a measure of items, as plain numbers
Measure = Callable[[Sequence[LabelledSummary]], list[list[float]]]


def matching_tables(n_sets: int, repeats: int) -> list[Table]:
    """BERTScore's masses of `n_sets` sets, and the classes of a quarter of them; both ways must find the same."""
    items = random_items(n_sets, seed=0)
    with tempfile.TemporaryDirectory() as folder:
        encoder, classifier = Path(folder, "encoder"), Path(folder, "classifier")
        save_random(encoder, "RobertaModel")
        save_random(classifier, "RobertaForSequenceClassification")
        matcher = open_matcher(
            MatcherSection(kind="bertscore", model=str(encoder), layer=2, baseline=0, tokens="words")
        )
        entailer = open_entailer(EntailerSection(kind="nli", model=str(classifier), units="sentences"))
        measures: dict[str, tuple[Measure, list[LabelledSummary]]] = {
            "BERTScore": (lambda some: [list(found.target) for found in matcher.masses(some)], items),  # type: ignore[union-attr]
            "NLI": (
                lambda some: [np.ravel(found.evidence.nli).tolist() for found in entailer.evidence(some)],  # type: ignore[union-attr]
                items[: max(1, n_sets // 4)],
            ),
        }
        tables = [_table(name, measure, mine, repeats) for name, (measure, mine) in measures.items()]
        matcher.close()
        entailer.close()
    return tables


def _table(name: str, measure: Measure, items: Sequence[LabelledSummary], repeats: int) -> Table:
    contenders = [
        Contender(ONE_CALL, partial(_sum, lambda: measure(items))),
        Contender(SET_BY_SET, partial(_sum, lambda: [measure([item])[0] for item in items])),
    ]
    table = compare(f"{name} of {len(items):,} sets of {N_DOCUMENTS} documents", contenders, repeats, SET_BY_SET)
    sums = [row.counts["sum"] for row in table.rows]
    assert max(sums) - min(sums) < 1e-4 * len(items), f"the ways differ: {sums}"
    return table


def _sum(measured: Callable[[], list[list[float]]]) -> Counts:
    """The number of sets, and a sum that differs where numbers are in another order."""
    found = measured()
    return {"sets": len(found), "sum": sum(float(np.dot(row, np.arange(len(row)))) for row in found)}


def random_items(n: int, seed: int) -> list[LabelledSummary]:
    """Sets of documents with a summary each, all of random words."""
    rng = np.random.default_rng(seed)

    def text(n_sentences: int) -> str:
        return " ".join(f"{' '.join(rng.choice(WORDS, rng.integers(5, 12)))}.".capitalize() for _ in range(n_sentences))

    def documents() -> tuple[LabelledText, ...]:
        return tuple(
            LabelledText(text(int(rng.integers(1, 4))), VALUES[rng.integers(len(VALUES))]) for _ in range(N_DOCUMENTS)
        )

    return [LabelledSummary(str(k), VALUES, documents(), text(3)) for k in range(n)]


def save_random(folder: Path, architecture: str) -> None:
    """Write a random RoBERTa whose tokens are the words of `random_items`."""
    torch = need("torch", "the benchmark")
    transformers: Any = need("transformers", "the benchmark")
    tokenizers: Any = need("tokenizers", "the benchmark")
    ids = {word: i for i, word in enumerate((*SPECIAL, ".", "||", *WORDS))}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(ids, unk_token=UNKNOWN))
    made.normalizer = tokenizers.normalizers.Lowercase()
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[(START, 0), (END, 2)]
    )
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token=PADDING, unk_token=UNKNOWN, model_max_length=READS
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.RobertaConfig(
        vocab_size=len(ids), hidden_size=WIDTH, intermediate_size=4 * WIDTH, num_hidden_layers=LAYERS,
        num_attention_heads=4, max_position_embeddings=READS + 2, type_vocab_size=1, initializer_range=0.1,
        id2label=dict(enumerate(CLASSES)), label2id={name: i for i, name in enumerate(CLASSES)},
    )  # fmt: skip
    getattr(transformers, architecture)(config).save_pretrained(folder)
