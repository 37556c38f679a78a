"""Metric models with damaged files: each judge ends with one message, and none judges at random."""

from pathlib import Path
from typing import Any

import pytest
from conformance import of_plugins
from damage import LFS, config, cut, filled, remove, renamed, tensors, write

from evenhand.errors import UnfitModelError
from evenhand.judges.encoder import EncoderAligner
from evenhand.judges.nli import NliAligner

pytest.importorskip("torch")
pytest.importorskip("transformers")

LABELS = {0: "contradiction", 1: "neutral", 2: "entailment"}
NORM = "roberta.encoder.layer.1.output.LayerNorm.weight"
OPENERS = {
    "nli": lambda folder: NliAligner(folder, 4),
    "encoder": lambda folder: EncoderAligner(folder, 4),
    **of_plugins("ENCODERS"),
}
DAMAGED = {
    "weights-half": (cut("model.safetensors", 0.5), "not a whole file of weights"),
    "weights-lfs-pointer": (write("model.safetensors", LFS), "git lfs pull"),
    "layer-missing": (config(num_hidden_layers=3), "has no weights for encoder.layer.2."),
    "layer-left-out": (config(num_hidden_layers=1), "leaves out: roberta.encoder.layer.1."),
    "weight-renamed": (
        tensors(renamed(NORM, NORM.replace("LayerNorm", "norm"))),
        "has no weights for encoder.layer.1.",
    ),
    "shapes": (config(intermediate_size=48), "has weights of other shapes"),
    "nan": (tensors(filled(NORM, float("nan"))), "NaN or infinite numbers in "),
    "config-list": (write("config.json", "[]"), "holds []"),
    "config-size-text": (config(hidden_size="wide"), "cannot open"),
    "tokenizer-torn": (cut("tokenizer.json", 0.5), "cannot open"),
    "tokenizer-absent": (remove("tokenizer.json"), "cannot open"),
}


@pytest.mark.parametrize("opener", OPENERS)
@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_metric_model_is_one_message(nli_folder: Any, opener: str, case: str) -> None:
    if opener == "encoder":
        pytest.importorskip("sentence_transformers")
    folder: Path = nli_folder(LABELS)
    damage, said = DAMAGED[case]
    damage(folder)
    with pytest.raises(UnfitModelError) as caught:
        OPENERS[opener](str(folder))
    text = str(caught.value)
    # a classifier names its weights below the encoder's name
    assert said in text.replace("roberta.encoder", "encoder") or said in text
    assert folder.name in text
    assert len(text) < 900
