"""Texts that spell the special tokens of a tokenizer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import JudgeError
from evenhand.judges.aligner import PairAligner, Pairing
from evenhand.judges.tokens import as_text, frame_of, open_tokenizer, special_tokens, token_ids

torch = pytest.importorskip("torch")


class Recorder(PairAligner):
    """Keeps what a model would read."""

    def __init__(self, tokenizer):
        super().__init__(tokenizer, 32, 8)
        self.rows = []

    def probabilities(self, encoded):
        self.rows += encoded["input_ids"].tolist()
        return [0.5] * len(encoded["input_ids"])

    def close(self):
        pass


@pytest.mark.parametrize("spelled", ["[SEP]", "[CLS]", "[PAD]", "[MASK]", "\uff3bSEP\uff3d", "x[SEP]x"])
def test_model_reads_no_border_that_a_text_spells(sentencepiece_folder, spelled):
    recorder = Recorder(open_tokenizer(str(sentencepiece_folder), None, "a test"))
    recorder.align([Pairing((f"the {spelled} ferry",), (f"is {spelled}",))])
    (row,) = recorder.rows
    # CLS, premise, SEP, claim, SEP and nothing else that is special, the unknown word apart
    assert [token for token in row if token in (0, 1, 2, 4)] == [1, 2, 2]
    assert (row[0], row[-1]) == (1, 2)


def test_unknown_words_stay_unknown_and_other_tokens_as_they_are(sentencepiece_folder):
    tokenizer = open_tokenizer(str(sentencepiece_folder), None, "a test")
    assert special_tokens(tokenizer) == {0: "[PAD]", 1: "[CLS]", 2: "[SEP]", 4: "[MASK]"}
    # the first and the last are the tokenizer's own
    own = [False, True, True, True, True, False]
    assert as_text(tokenizer, [1, 6, 2, 3, 7, 2], own) == [1, 6, 3, 3, 7, 2]


def test_slow_tokenizer_is_refused(tmp_path):
    transformers = pytest.importorskip("transformers")
    # one of the few that have no fast kind
    (tmp_path / "vocab.json").write_text('{"a": 0, "<unk>": 1, "|": 2, "<pad>": 3, "<s>": 4, "</s>": 5}')
    transformers.Wav2Vec2CTCTokenizer(str(tmp_path / "vocab.json")).save_pretrained(tmp_path)
    with pytest.raises(JudgeError, match=r"not a fast tokenizer; save it with tokenizer\.json"):
        open_tokenizer(str(tmp_path), None, "a test")


tokenizers = pytest.importorskip("tokenizers")
transformers = pytest.importorskip("transformers")

TEXTS = st.lists(st.sampled_from("ferry boat the is, 3 \u00e9t\u00e9 \U0001f6a2".split()), max_size=9).map(" ".join)


def wordpieces():
    """As BERT has them: [CLS] a [SEP] b [SEP], each text with a type of its own."""
    words = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "the", "ferry", "is", "##s", ",", "3"]
    made = tokenizers.Tokenizer(tokenizers.models.WordPiece({w: i for i, w in enumerate(words)}, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    made.post_processor = tokenizers.processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    return transformers.BertTokenizerFast(tokenizer_object=made)


def bytes_of_words():
    """As RoBERTa has them: pieces of bytes, <s> a </s></s> b </s>, a word's space before it."""
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {piece: i for i, piece in enumerate(["<s>", "<pad>", "</s>", *letters])}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, []))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.post_processor = tokenizers.processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token="<s>", pad_token="<pad>", eos_token="</s>", cls_token="<s>", sep_token="</s>"
    )


def types_behind():
    """As XLNet has them: a <sep> b <sep> <cls>, the last of a third type."""
    words = ["<pad>", "<cls>", "<sep>", "<unk>", "the", "ferry", "is"]
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<unk>"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="$A:0 <sep>:0 <cls>:2", pair="$A:0 <sep>:0 $B:1 <sep>:1 <cls>:2", special_tokens=[("<sep>", 2), ("<cls>", 1)]
    )  # fmt: skip
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, unk_token="<unk>", pad_token="<pad>")


TOKENIZERS = {make.__name__: make() for make in (wordpieces, bytes_of_words, types_behind)}


@pytest.mark.parametrize("name", TOKENIZERS)
@given(texts=st.lists(TEXTS, min_size=1, max_size=2), most=st.integers(30, 60))
def test_texts_in_their_frame_are_what_the_tokenizer_makes_of_them(name, texts, most):
    tokenizer = TOKENIZERS[name]
    frame = frame_of(tokenizer, len(texts))
    ids = token_ids(tokenizer, texts)
    # the first text gives way
    room = most - frame.n_special - sum(map(len, ids[1:]))
    if room <= 0:
        return
    # in lists: a single pair whose second text is empty is taken for one text
    encoded = tokenizer(*([text] for text in texts), truncation="only_first", max_length=most)
    found = frame.row([ids[0][:room], *ids[1:]])
    assert found == {key: encoded[key][0] for key in ("input_ids", "token_type_ids") if key in encoded}


def test_frame_counts_its_special_tokens():
    # <s> a </s>, and <s> a </s></s> b </s>
    assert [frame_of(TOKENIZERS["bytes_of_words"], n).n_special for n in (1, 2)] == [2, 4]


def test_special_tokens_that_a_text_spells_are_unknown_words():
    # here "[SEP]" is split; without splitting its id is 2
    tokenizer = TOKENIZERS["wordpieces"]
    (ids,) = token_ids(tokenizer, ["the [SEP] ferry"])
    assert 2 not in ids
    assert (ids[0], ids[-1]) == (4, 5)
