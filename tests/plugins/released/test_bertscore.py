"""BERTScore: its arithmetic by hand, its encoders tiny random ones."""

import json
import shutil

import numpy as np
import pytest

from evenhand.errors import UnfitModelError
from evenhand.judges.judge import JudgeInput
from evenhand.judges.shared import SharedModels
from evenhand.plugins.released.bertscore import TokenEmbedder, bert_score, open_bertscore
from evenhand.plugins.released.sections import BertScoreJudge

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
    return {text: found.vectors for text, found in embedding(folder, texts, batch_size).items()}


def embedding(folder, texts, batch_size=4, most_tokens=4096):
    embedder = TokenEmbedder(str(folder), batch_size, most_tokens)
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
    # two passages, of which the first is too long
    assert embedding(roberta, ["nurses need " * 25 + "\nIt pays."]).popitem()[1].n_split == 1


def test_text_above_the_bound_is_read_in_windows_and_the_judgement_says_so(deberta):
    # windows of 32 tokens hold 2 special ones: 60 words are two windows of 30
    long = "nurses need it " * 20
    found = embedding(deberta, [long], most_tokens=32)[long]
    assert found.n_split == 1
    assert found.vectors == pytest.approx(directly(deberta, *["nurses need it " * 10] * 2), abs=1e-5)
    assert json.loads(verdict(deberta, "A bridge pays.", long, most_tokens=32).raw)["split"] == 1
    assert "split" not in json.loads(verdict(deberta, "A bridge pays.", long).raw)


def test_long_texts_are_run_fewer_at_a_time(deberta):
    embedder = TokenEmbedder(str(deberta), 4, 4096)
    shapes = []
    embedder._model.register_forward_hook(lambda model, given, out: shapes.append(out.last_hidden_state.shape[:2]))
    short = [f"{'nurses ' * i}" for i in range(1, 7)]
    long = [f"{'ferry ' * n}" for n in (700, 701, 702)]
    embedder.embed([*long, *short])
    embedder.close()
    # memory for 4 windows of 512 tokens: two of 702 take 0.94 of it, three would take 1.41
    assert [tuple(shape) for shape in shapes] == [(4, 6), (2, 8), (2, 703), (1, 704)]


def test_special_tokens_that_a_text_spells_are_unknown_words(roberta, roberta_tokenizer):
    for spelled in ("</s>", "<pad>", "<s>"):
        # its three pieces are words that the tokenizer does not know
        found = embedded(roberta, [f"A bridge {spelled} pays."]).popitem()[1]
        assert found == pytest.approx(directly(roberta, "A bridge zz zz zz pays."), abs=1e-5)


def test_special_token_that_is_a_piece_of_the_vocabulary_is_an_unknown_word(
    sentencepiece_folder, roberta_config, tmp_path
):
    torch.manual_seed(0)
    shutil.copytree(sentencepiece_folder, tmp_path / "model")
    transformers.RobertaModel(roberta_config(pad_token_id=0)).save_pretrained(tmp_path / "model")
    # both are a space and a word that the tokenizer does not know
    attacked, plain = (f"the {word} ferry" for word in ("\uff3bSEP\uff3d", "zz"))
    found = embedded(tmp_path / "model", [attacked, plain])
    assert found[attacked].shape == (4, 16)
    assert found[attacked] == pytest.approx(found[plain], abs=1e-5)


def test_model_without_finite_numbers_is_unscored(roberta):
    model = transformers.RobertaModel.from_pretrained(roberta)
    with torch.no_grad():
        # their distance has no place in float32
        model.encoder.layer[1].output.dense.bias.copy_(torch.tensor([3e38, -3e38]).repeat(8))
    model.save_pretrained(roberta)
    found = verdict(roberta, "A bridge pays.")
    assert (found.score, found.unscored) == (None, "model gave no finite number")


def test_positions_that_begin_behind_the_padding_are_not_exceeded(tmp_path, roberta_tokenizer):
    # MPNet counts like RoBERTa: of 26 positions two are lost, and its tokenizer names no length
    config = transformers.MPNetConfig(
        vocab_size=20, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
        max_position_embeddings=26, pad_token_id=1,
    )  # fmt: skip
    transformers.MPNetModel(config).save_pretrained(tmp_path)
    roberta_tokenizer.save_pretrained(tmp_path)
    path = tmp_path / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"model_max_length": 10**30}))
    assert embedded(tmp_path, ["nurses " * 60])["nurses " * 60].shape == (60, 16)


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
    with pytest.raises(UnfitModelError, match=r"judge 'bertscore': model .* has no weights for encoder\.layer\.1"):
        TokenEmbedder(str(tmp_path), 4, 4096)


def test_what_changes_scores_changes_the_signature():
    def signature(**options):
        section = BertScoreJudge.model_validate({"kind": "bertscore", **options})
        return open_bertscore("judge", section, SharedModels()).signature

    assert signature(batch_size=1) == signature()
    changed = [
        {"measure": "precision"}, {"model": "org/m"}, {"against": "opposing"}, {"most_tokens": 512}, {"revision": "v2"},
    ]  # fmt: skip
    assert len({signature(), *(signature(**change) for change in changed)}) == len(changed) + 1
