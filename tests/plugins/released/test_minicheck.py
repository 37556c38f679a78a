"""MiniCheck, on a tiny random T5."""

import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import JudgeError
from evenhand.judges.checkpoint import open_checkpoint
from evenhand.judges.judge import JudgeInput
from evenhand.judges.shared import SharedModels
from evenhand.models import opening
from evenhand.plugins.released.minicheck import open_minicheck, packed
from evenhand.plugins.released.sections import MiniCheckJudge

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

SOURCE = "The ferry is cheap. Nurses need it at night."


def verdict(folder, text, reference=SOURCE, **options):
    section = MiniCheckJudge.model_validate({"kind": "minicheck", "model": str(folder), **options})
    judge = open_minicheck("judge", section, SharedModels())
    try:
        return judge.score([JudgeInput("c", "r", text, True, reference)])[0]
    finally:
        judge.close()


def supported(folder, chunk, claim):
    """As MiniCheck's own code computes it, by transformers alone: softmax over tokens 3 and 209, the second one's share."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    encoded = tokenizer("predict: " + "</s>".join([chunk, claim]), return_tensors="pt")
    with torch.no_grad():
        logits = model(**encoded, decoder_input_ids=torch.zeros((1, 1), dtype=torch.long)).logits[:, 0]
    return float(logits[:, [3, 209]].softmax(-1)[0, 1])


def test_score_is_the_best_chunks_share_and_the_summary_is_not_split(t5_folder):
    claim = "The ferry is dear. A bridge pays."
    found = verdict(t5_folder, claim, chunk_words=5)
    chunks = ("The ferry is cheap.", "Nurses need it at night.")
    expected = [supported(t5_folder, chunk, claim) for chunk in chunks]
    assert found.score == pytest.approx(max(expected), abs=1e-5)
    assert abs(expected[0] - expected[1]) > 1e-3
    whole = verdict(t5_folder, claim)
    assert whole.score == pytest.approx(supported(t5_folder, SOURCE, claim), abs=1e-5)


def test_a_flan_t5_whose_head_is_its_own_is_opened_and_scores_as_transformers_does(tmp_path):
    from hub_models import flan_t5, write_tensors
    from safetensors.torch import load_file

    flan_t5(transformers, tmp_path)
    # as `evenhand validate` opens it
    with opening.without_numbers():
        open_checkpoint("AutoModelForSeq2SeqLM", str(tmp_path), "judge 'minicheck'")
    claim = "The ferry is dear."
    found, expected = verdict(tmp_path, claim), supported(tmp_path, SOURCE, claim)
    assert found.score == pytest.approx(expected, abs=1e-5)
    # with the embedding of words for a head, as it was read before
    write_tensors(tmp_path, {"lm_head.weight": load_file(tmp_path / "model.safetensors")["shared.weight"]})
    assert abs(supported(tmp_path, SOURCE, claim) - expected) > 1e-3


def test_chunks_are_filled_sentence_by_sentence():
    # 4 + 5 words fit into 9 and not into 8; the last sentence has 3
    sentences = ["The ferry is cheap.", "Nurses need it at night.", "A bridge pays."]
    assert packed(sentences, 9) == ["The ferry is cheap. Nurses need it at night.", "A bridge pays."]
    assert packed(sentences, 8) == ["The ferry is cheap.", "Nurses need it at night. A bridge pays."]


def test_a_sentence_longer_than_a_chunk_stands_alone():
    assert packed(["Nurses need it at night.", "It pays."], 2) == ["Nurses need it at night.", "It pays."]


@given(st.lists(st.sampled_from(["One.", "Two words.", "Three words here."]), max_size=12), st.integers(1, 7))
def test_packing_loses_and_repeats_nothing(sentences, most_words):
    found = packed(sentences, most_words)
    assert " ".join(found) == " ".join(sentences)
    assert all(len(chunk.split()) <= max(most_words, 3) for chunk in found)


def test_long_chunk_is_cut_and_not_the_summary(t5_folder):
    # predict: 1, end 1, claim 4 and a full stop, end 1: 24 of 32 tokens are left for the chunk
    found = verdict(t5_folder, "the ferry is dear.", reference="nurses " * 60, most_tokens=32)
    assert found.raw.endswith('"cut":1}')
    assert found.score == pytest.approx(supported(t5_folder, ("nurses " * 24).strip(), "the ferry is dear."), abs=1e-5)


def test_model_whose_label_tokens_are_others_is_refused(t5_folder, tmp_path):
    shutil.copytree(t5_folder, tmp_path / "other")
    path = tmp_path / "other" / "tokenizer.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"\u25811"', '"\u25812"'), encoding="utf-8")
    with pytest.raises(JudgeError, match=r"tokens 3 and 209 of the model are \('\u2581', '\u25812'\)"):
        verdict(tmp_path / "other", "the ferry is dear.")


def test_what_changes_scores_changes_the_signature():
    def signature(**options):
        section = MiniCheckJudge.model_validate({"kind": "minicheck", **options})
        return open_minicheck("judge", section, SharedModels()).signature

    assert signature(batch_size=1) == signature()
    assert len({signature(), signature(most_tokens=512), signature(chunk_words=100), signature(model="org/other")}) == 4
