"""The two forms of encoders and their trainers, those of sentence-transformers as they stand.

A bi-encoder learns by ranking: of a text and its batch, the near claim must be nearer than every other and than the far one
(MultipleNegativesRankingLoss). A classifier reads text and claim together and names one of three classes: the near claim is
entailed, a contrary contradicts, and what the other side says is neutral. The sentence that follows another is near to it, which
a cosine may learn, but is not entailed, so it is no claim of a classifier's.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...extras import need, without_load_report
from ...judges.aligner import most_tokens
from ...judges.encoder import UNREAD
from ...models import locate
from ...models.opening import check_weights
from ...models.wholeness import told_once
from .plan import EncoderPlan, Parts
from .triples import Triple

FEATURE = "training an encoder"
# names of the classes, which `aligner: nli` finds by them, in the order of their numbers
CLASSES = ("contradiction", "neutral", "entailment")
# of a bi-encoder's texts and of a classifier's pairs; attention's time grows with the square
MOST_TOKENS = 128


def open_classifier(name: str) -> Any:
    """A classifier of three classes on the encoder of that name; its read-out is drawn at random, and nothing else.

    Raises:
        MissingExtra: sentence-transformers or torch is not installed.
        UnfitModelError: its files are damaged, or do not hold every weight of the encoder.
        ModelError: it could not be opened for another reason.
    """
    library = need("sentence_transformers", FEATURE)
    check_weights("AutoModel", name, FEATURE, may_lack=UNREAD)
    folder = locate(name)
    with told_once(f"{FEATURE} cannot open model {name!r}", folder), without_load_report():
        model = library.CrossEncoder(
            folder,
            num_labels=len(CLASSES),
            trust_remote_code=False,
            model_kwargs={"dtype": need("torch", FEATURE).float32},
            config_kwargs={
                "id2label": dict(enumerate(CLASSES)),
                "label2id": {name: number for number, name in enumerate(CLASSES)},
            },
        )
    model.max_seq_length = min(2 * MOST_TOKENS, _longest(model))
    return model


def _longest(model: Any) -> int:
    """The longest input that the model takes, in tokens."""
    return most_tokens(model.tokenizer, model[0].auto_model)


def fit_bi_encoder(model: Any, parts: Parts, plan: EncoderPlan, work: Path) -> None:
    """Train a sentence encoder in place, and leave it at its best pass.

    Args:
        model: the encoder.
        parts: what is learned, and what tells when to stop.
        plan: for how long.
        work: a folder for the trainer's checkpoints.
    """
    library = need("sentence_transformers", FEATURE)
    losses = need("sentence_transformers.sentence_transformer.losses", FEATURE)
    evaluation = need("sentence_transformers.sentence_transformer.evaluation", FEATURE)
    longest = model.max_seq_length
    model.max_seq_length = min(MOST_TOKENS, _longest(model))
    columns = {name: [getattr(triple, name) for triple in parts.learned] for name in ("text", "near", "far")}
    evaluator = evaluation.TripletEvaluator(
        *([getattr(triple, name) for triple in parts.held] for name in ("text", "near", "far")),
        name="held",
        write_csv=False,
    )
    trainer = library.SentenceTransformerTrainer(
        model=model,
        args=library.SentenceTransformerTrainingArguments(
            **_arguments(plan, work, "eval_held_cosine_accuracy"),
            # of equal texts in one batch each would be the other's wrong answer
            batch_sampler="no_duplicates",
        ),
        train_dataset=need("datasets", FEATURE).Dataset.from_dict(columns),
        loss=losses.MultipleNegativesRankingLoss(model),
        evaluator=evaluator,
        callbacks=_callbacks(),
    )
    _run(trainer)
    model.max_seq_length = longest


def fit_classifier(model: Any, parts: Parts, plan: EncoderPlan, work: Path) -> None:
    """Train a classifier in place, and leave it at its best pass; arguments as of `fit_bi_encoder`."""
    library = need("sentence_transformers", FEATURE)
    encoder = need("sentence_transformers.cross_encoder", FEATURE)
    losses = need("sentence_transformers.cross_encoder.losses", FEATURE)
    evaluation = need("sentence_transformers.cross_encoder.evaluation", FEATURE)
    texts, claims, labels = class_pairs(parts.learned)
    held_texts, held_claims, held_labels = class_pairs(parts.held)
    evaluator = evaluation.CrossEncoderClassificationEvaluator(
        list(map(list, zip(held_texts, held_claims, strict=True))), held_labels, name="held", write_csv=False
    )
    trainer = library.CrossEncoderTrainer(
        model=model,
        args=encoder.CrossEncoderTrainingArguments(**_arguments(plan, work, "eval_held_f1_macro")),
        train_dataset=need("datasets", FEATURE).Dataset.from_dict({"text": texts, "claim": claims, "label": labels}),
        loss=losses.CrossEntropyLoss(model),
        evaluator=evaluator,
        callbacks=_callbacks(),
    )
    _run(trainer)


def _run(trainer: Any) -> None:
    """Train without printing: what is worth knowing stands in the card."""
    trainer.remove_callback(need("transformers.trainer_callback", FEATURE).PrinterCallback)
    trainer.model.model_card_data.generate_widget_examples = False
    trainer.train()


def class_pairs(triples: Sequence[Triple]) -> tuple[list[str], list[str], list[int]]:
    """Texts, claims and the numbers of their classes: two of each triple, but of an argument the far one alone."""
    wrong = dict.fromkeys(("contrary", "negation"), CLASSES.index("contradiction"))
    rows = [
        row
        for triple in triples
        for row in (
            *([] if triple.kind == "argument" else [(triple.text, triple.near, CLASSES.index("entailment"))]),
            (triple.text, triple.far, wrong.get(triple.kind, CLASSES.index("neutral"))),
        )
    ]
    texts, claims, labels = zip(*rows, strict=True)
    return list(texts), list(claims), list(labels)


def _arguments(plan: EncoderPlan, work: Path, figure: str) -> dict[str, Any]:
    return {
        "output_dir": str(work),
        "num_train_epochs": plan.epochs,
        "per_device_train_batch_size": plan.batch_size,
        "per_device_eval_batch_size": 2 * plan.batch_size,
        "learning_rate": plan.rate,
        "warmup_steps": 0.1,
        "seed": plan.seed,
        "eval_strategy": "epoch",
        "save_strategy": "epoch",
        "save_only_model": True,
        "save_total_limit": 1,
        "load_best_model_at_end": True,
        "metric_for_best_model": figure,
        "greater_is_better": True,
        "logging_strategy": "epoch",
        "report_to": "none",
        "disable_tqdm": True,
        "dataloader_pin_memory": False,
    }


def _callbacks() -> list[Any]:
    """Stop after the first pass that is no better by the held topics."""
    return [need("transformers", FEATURE).EarlyStoppingCallback(early_stopping_patience=1)]
