"""Texts that spell the special tokens of a tokenizer."""

import pytest

from evenhand.errors import JudgeError
from evenhand.judges.aligner import PairAligner, Pairing
from evenhand.judges.tokens import as_text, open_tokenizer, special_tokens

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
    with pytest.raises(JudgeError, match=r"none of the 'fast' kind; save it with tokenizer\.json"):
        open_tokenizer(str(tmp_path), None, "a test")
