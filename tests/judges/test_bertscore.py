"""BERTScore: its arithmetic by hand, its encoders tiny random ones."""

import json

import numpy as np
import pytest

from evenhand.config import BertScoreJudge
from evenhand.errors import JudgeError
from evenhand.judges.bertscore import TokenEmbedder, bert_score, open_bertscore
from evenhand.judges.judge import JudgeInput
from evenhand.judges.shared import SharedModels

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

SOURCE = "The ferry is cheap.\nNurses need it at night."


@pytest.fixture
def roberta(tmp_path, roberta_config, roberta_tokenizer):
    """A random encoder that counts its positions, 24 tokens at most."""
    torch.manual_seed(0)
    folder = tmp_path / "roberta"
    transformers.RobertaModel(roberta_config()).save_pretrained(folder)
    roberta_tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def deberta(tmp_path, roberta_tokenizer):
    """A random encoder with relative positions, of the published kind, made for 24 tokens."""
    torch.manual_seed(0)
    config = transformers.DebertaConfig(
        vocab_size=20, hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2,
        max_position_embeddings=24, pad_token_id=1, relative_attention=True, position_biased_input=False,
        pos_att_type=["c2p", "p2c"], initializer_range=0.5, type_vocab_size=0,
    )  # fmt: skip
    folder = tmp_path / "deberta"
    transformers.DebertaForSequenceClassification(config).save_pretrained(folder)
    roberta_tokenizer.save_pretrained(folder)
    return folder


def embedded(folder, texts, batch_size=4):
    embedder = TokenEmbedder(str(folder), batch_size)
    try:
        return embedder.embed(texts)
    finally:
        embedder.close()


def directly(folder, *texts):
    """Unit vectors of the texts' tokens one text after the other, by transformers alone, without the first and last token."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    with torch.no_grad():
        rows = [model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0, 1:-1].numpy() for text in texts]
    joined = np.concatenate(rows)
    return joined / np.linalg.norm(joined, axis=1, keepdims=True)


def verdict(folder, text, reference=SOURCE, **options):
    section = BertScoreJudge.model_validate({"kind": "bertscore", "model": str(folder), **options})
    judge = open_bertscore("judge", section, SharedModels())
    try:
        return judge.score([JudgeInput("c", "r", text, True, reference)])[0]
    finally:
        judge.close()


def test_bert_score_worked_by_hand():
    # text: east, north, west; summary: east and north-east (3/5, 4/5)
    text = np.array([[1, 0], [0, 1], [-1, 0]], dtype=np.float32)
    summary = np.array([[1, 0], [0.6, 0.8]], dtype=np.float32)
    # precision: best of (1, 0, -1) and (0.6, 0.8, -0.6): 0.9; recall: best of (1, .6), (0, .8), (-1, -.6): (1 + .8 - .6) / 3
    found = bert_score(text, summary)
    # F1 = 2 * 0.9 * 0.4 / 1.3
    assert found == pytest.approx({"precision": 0.9, "recall": 0.4, "fmeasure": 0.72 / 1.3}, abs=1e-6)


def test_swapped_texts_swap_precision_and_recall():
    rng = np.random.default_rng(0)
    a, b = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (rng.normal(size=(5, 4)), rng.normal(size=(3, 4))))
    one, other = bert_score(a, b), bert_score(b, a)
    assert (one["precision"], one["recall"]) == pytest.approx((other["recall"], other["precision"]))


def test_opposed_texts_have_no_harmonic_mean():
    assert bert_score(np.array([[1.0, 0]]), np.array([[-1.0, 0]])) == {"precision": -1, "recall": -1, "fmeasure": 0}


@pytest.mark.parametrize("encoder", ["roberta", "deberta"])
def test_tokens_are_the_last_hidden_layer_without_special_ones(request, encoder):
    folder = request.getfixturevalue(encoder)
    texts = ["The ferry is cheap.", "A bridge pays."]
    found = embedded(folder, texts)
    for text in texts:
        assert found[text] == pytest.approx(directly(folder, text), abs=1e-5)


def test_encoder_that_counts_positions_reads_a_window_for_each_passage(roberta):
    found = embedded(roberta, [SOURCE])[SOURCE]
    assert found == pytest.approx(directly(roberta, *SOURCE.splitlines()), abs=1e-5)


def test_long_passage_is_read_in_several_windows_and_nothing_is_cut(roberta):
    # 24 tokens hold 2 special ones: 50 words are windows of 22, 22 and 6
    found = embedded(roberta, ["nurses need " * 25])["nurses need " * 25]
    windows = ["nurses need " * 11, "nurses need " * 11, "nurses need " * 3]
    assert found == pytest.approx(directly(roberta, *windows), abs=1e-5)


def test_encoder_with_relative_positions_reads_a_text_of_any_length_at_once(deberta):
    # more than the 24 positions that it was made for
    long = " ".join(["nurses need it"] * 20)
    found = embedded(deberta, [long, SOURCE])
    assert found[long].shape == (60, 16)
    assert found[long] == pytest.approx(directly(deberta, long), abs=1e-5)
    assert found[SOURCE] == pytest.approx(directly(deberta, SOURCE), abs=1e-5)


def test_results_do_not_depend_on_batching_or_company(deberta):
    texts = [SOURCE, "A bridge pays.", "nurses " * 30]
    together = embedded(deberta, texts)
    for text in texts:
        assert embedded(deberta, [text], batch_size=1)[text] == pytest.approx(together[text], abs=1e-5)


def test_copied_source_scores_one_and_another_text_less(deberta):
    for measure in ("precision", "recall", "fmeasure"):
        assert verdict(deberta, SOURCE, measure=measure).score == pytest.approx(1.0, abs=1e-5)
        assert verdict(deberta, "A bridge pays.", measure=measure).score < 0.99


def test_judge_gives_its_measure_and_keeps_all(roberta):
    found = verdict(roberta, "A bridge pays.", measure="precision")
    expected = bert_score(directly(roberta, *SOURCE.splitlines()), directly(roberta, "A bridge pays."))
    assert json.loads(found.raw) == pytest.approx(expected, abs=1e-5)
    assert found.score == json.loads(found.raw)["precision"]


def test_model_without_weights_is_refused(tmp_path, roberta_config, roberta_tokenizer):
    model = transformers.RobertaModel(roberta_config(num_hidden_layers=1))
    model.save_pretrained(tmp_path)
    roberta_config(num_hidden_layers=2).save_pretrained(tmp_path)
    roberta_tokenizer.save_pretrained(tmp_path)
    with pytest.raises(JudgeError, match=r"judge 'bertscore': model .* has no weights for encoder\.layer\.1"):
        TokenEmbedder(str(tmp_path), 4)


def test_what_changes_scores_changes_the_signature():
    def signature(**options):
        section = BertScoreJudge.model_validate({"kind": "bertscore", **options})
        return open_bertscore("judge", section, SharedModels()).signature

    assert signature(batch_size=1) == signature()
    assert (
        len({signature(), signature(measure="precision"), signature(model="org/m"), signature(against="opposing")}) == 4
    )
