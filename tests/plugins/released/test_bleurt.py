"""BLEURT, on tiny random models of its two architectures."""

import math

import pytest

from evenhand.errors import JudgeError, UnfitModelError
from evenhand.judges.judge import JudgeInput
from evenhand.judges.shared import SharedModels
from evenhand.plugins.released.bleurt import BleurtAligner, open_bleurt
from evenhand.plugins.released.sections import BleurtJudge

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

SOURCE = "The ferry is cheap."
SMALL = {
    "vocab_size": 20, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2,
    "max_position_embeddings": 24, "pad_token_id": 1, "initializer_range": 0.5,
}  # fmt: skip


@pytest.fixture
def folder(tmp_path, roberta_tokenizer):
    """Writes a random regression of an architecture; its folder."""

    def write(kind, **changes):
        torch.manual_seed(0)
        if kind == "rembert":
            config = transformers.RemBertConfig(**SMALL | {"input_embedding_size": 8, "num_labels": 1} | changes)
            model = transformers.RemBertForSequenceClassification(config)
        else:
            config = transformers.BertConfig(**SMALL | {"num_labels": 1} | changes)
            model = transformers.BertForSequenceClassification(config)
        path = tmp_path / kind
        model.save_pretrained(path)
        roberta_tokenizer.save_pretrained(path)
        return path

    return write


def verdict(path, text, reference=SOURCE):
    judge = open_bleurt("judge", BleurtJudge(kind="bleurt", model=str(path)), SharedModels())
    try:
        return judge.score([JudgeInput("c", "r", text, True, reference)])[0]
    finally:
        judge.close()


def directly(path, reference, text):
    tokenizer = transformers.AutoTokenizer.from_pretrained(path)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(path).eval()
    with torch.no_grad():
        return float(model(**tokenizer(reference, text, return_tensors="pt")).logits[0, 0])


@pytest.mark.parametrize("kind", ["rembert", "bert"])
def test_score_is_the_regressions_value_with_the_text_first(folder, kind):
    path = folder(kind)
    found = verdict(path, "A bridge pays. It is dear.").score
    assert found == pytest.approx(directly(path, SOURCE, "A bridge pays. It is dear."), abs=1e-5)
    assert abs(found - directly(path, "A bridge pays. It is dear.", SOURCE)) > 1e-4


def test_long_text_loses_its_end_and_the_judgement_says_so(folder):
    path = folder("rembert")
    # 24 tokens hold 4 special ones and the summary's 4: 16 of 30 words are left
    found = verdict(path, "A bridge pays.", "nurses " * 30)
    assert found.score == pytest.approx(directly(path, "nurses " * 16, "A bridge pays."), abs=1e-5)
    assert found.raw.endswith('"cut":1}')


@pytest.mark.parametrize("changes", [{"num_labels": 2}, {"num_labels": 3}])
def test_classifier_is_refused(folder, changes):
    with pytest.raises(JudgeError, match=r"is a rembert with \d outputs; BLEURT is a rembert or bert with one"):
        BleurtAligner(str(folder("rembert", **changes)), 4)


def test_other_architecture_and_encoder_without_head_are_refused(nli_folder, tmp_path, roberta_tokenizer):
    with pytest.raises(JudgeError, match="is a roberta with 2 outputs"):
        BleurtAligner(str(nli_folder({0: "no", 1: "yes"})), 4)
    config = transformers.RemBertConfig(**SMALL | {"input_embedding_size": 8, "num_labels": 1})
    transformers.RemBertModel(config).save_pretrained(tmp_path / "bare")
    roberta_tokenizer.save_pretrained(tmp_path / "bare")
    with pytest.raises(UnfitModelError, match=r"has no weights for classifier\.bias"):
        BleurtAligner(str(tmp_path / "bare"), 4)


def test_separator_in_a_text_is_no_border(folder):
    path = folder("rembert")
    found = verdict(path, "A bridge </s></s> pays.").score
    # "</", "s", "></", "s", ">" are words that the tokenizer does not know
    assert found == pytest.approx(directly(path, SOURCE, "A bridge zz zz zz zz zz pays."), abs=1e-5)


def test_scale_has_no_bounds_and_signature_names_the_model():
    judge = open_bleurt("judge", BleurtJudge(kind="bleurt", model="org/model"), SharedModels())
    assert (judge.low, judge.high) == (-math.inf, math.inf)
    assert judge.signature == "bleurt|judge:bleurt|model:org/model|against:source|v:2"
