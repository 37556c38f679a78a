"""Alignment by an NLI classifier, on a tiny random one."""

import json
import weakref

import numpy as np
import pytest

from evenhand.errors import JudgeError, UnfitModelError
from evenhand.judges.aligner import Pairing

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

THREE = {0: "contradiction", 1: "neutral", 2: "entailment"}
PREMISES = ("The ferry is cheap.", "Nurses need it at night.")
CLAIMS = ("The ferry is dear.", "A bridge pays.")


def aligned(folder, pairings, batch_size=4):
    from evenhand.judges.nli import NliAligner

    aligner = NliAligner(str(folder), batch_size)
    try:
        return aligner.align(pairings)
    finally:
        aligner.close()


def directly(folder, premise, claim):
    """All class probabilities of one pair, by transformers alone."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.no_grad():
        return model(**tokenizer(premise, claim, return_tensors="pt")).logits.softmax(-1)[0].tolist()


def test_support_is_the_probability_of_the_class_named_entailment(nli_folder):
    folder = nli_folder(THREE)
    found = aligned(folder, [Pairing(PREMISES, CLAIMS)])[0].matrix
    expected = [[directly(folder, p, c)[2] for c in CLAIMS] for p in PREMISES]
    assert found == pytest.approx(np.array(expected), abs=1e-5)


def test_class_order_is_read_from_the_model(nli_folder):
    # the same weights under other names: the class in place 0 is the entailment now
    renamed = nli_folder({0: "ENTAILMENT", 1: "NEUTRAL", 2: "CONTRADICTION"})
    found = aligned(renamed, [Pairing(PREMISES[:1], CLAIMS[:1])])[0].matrix[0, 0]
    shares = directly(renamed, PREMISES[0], CLAIMS[0])
    assert found == pytest.approx(shares[0], abs=1e-5)
    assert abs(shares[0] - shares[2]) > 1e-3


@pytest.mark.parametrize(
    "labels", [{0: "LABEL_0", 1: "LABEL_1"}, {0: "not_entailment", 1: "other"}, {0: "supports", 1: "entailment"}]
)
def test_model_without_an_entailment_class_is_refused(nli_folder, labels):
    with pytest.raises(
        JudgeError, match="exactly one class named 'entailment' or 'supports'.*" + labels[0] + ".*key label"
    ):
        aligned(nli_folder(labels), [])


def test_model_without_a_trained_head_is_refused(tmp_path, roberta_config, roberta_tokenizer):
    labels = {"id2label": THREE, "label2id": {name: i for i, name in THREE.items()}}
    transformers.RobertaModel(roberta_config(**labels)).save_pretrained(tmp_path)
    roberta_tokenizer.save_pretrained(tmp_path)
    with pytest.raises(UnfitModelError, match=r"no weights for classifier\."):
        aligned(tmp_path, [])


def test_results_do_not_depend_on_batching_or_company(nli_folder):
    folder = nli_folder(THREE)
    pairings = [Pairing(PREMISES, CLAIMS), Pairing(("It is night.",), (*CLAIMS, "The ferry."))]
    together = aligned(folder, pairings)
    for pairing, found in zip(pairings, together, strict=True):
        assert found.matrix == pytest.approx(aligned(folder, [pairing], batch_size=1)[0].matrix, abs=1e-5)


def test_only_the_source_side_is_cut_and_counted(nli_folder):
    folder = nli_folder(THREE)
    # 24 tokens hold 4 special ones, so 20 words; the claim has 4 ("the ferry is dear") and a full stop, 15 are left
    long = "nurses " * 30
    found = aligned(folder, [Pairing((long, "It is night."), ("The ferry is dear.",))])[0]
    assert found.n_cut == 1
    assert found.matrix[0, 0] == pytest.approx(directly(folder, "nurses " * 15, "The ferry is dear.")[2], abs=1e-5)


def test_what_is_cut_is_the_end_whatever_the_tokenizer_was_saved_with(nli_folder):
    folder = nli_folder(THREE)
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"truncation_side": "left"}))
    # 15 words are left: ten of the beginning and five of the end
    found = aligned(folder, [Pairing(("ferry " * 10 + "nurses " * 20,), ("The ferry is dear.",))])[0].matrix[0, 0]
    kept = directly(folder, "ferry " * 10 + "nurses " * 5, "The ferry is dear.")[2]
    assert found == pytest.approx(kept, abs=1e-5)
    assert abs(kept - directly(folder, "nurses " * 15, "The ferry is dear.")[2]) > 1e-3


@pytest.mark.parametrize("spelled", ["</s>", "<pad>", "<s>", "<unk>"])
def test_special_tokens_that_a_text_spells_are_unknown_words(nli_folder, spelled):
    folder = nli_folder(THREE)
    attacked, plain = (f"The ferry {word} is." for word in (spelled, "zz zz zz"))
    found = aligned(folder, [Pairing((attacked,), (attacked,))])[0].matrix[0, 0]
    # "</", "s" and ">" are words that the tokenizer does not know
    assert found == pytest.approx(directly(folder, plain, plain)[2], abs=1e-5)


def test_closed_aligner_has_let_its_model_go(nli_folder):
    from evenhand.judges.nli import NliAligner

    aligner = NliAligner(str(nli_folder(THREE)), 4)
    model = weakref.ref(aligner._model)
    # models stand in circles, which only a collection finds
    aligner._model.itself = [aligner._model]
    aligner.close()
    assert model() is None


def test_claim_longer_than_the_source_is_still_not_cut(nli_folder):
    folder = nli_folder(THREE)
    # 8 and 15 words in a room for 20: the source keeps 5
    found = aligned(folder, [Pairing(("ferry " * 8,), ("nurses " * 15,))])[0]
    assert found.n_cut == 1
    assert found.matrix[0, 0] == pytest.approx(directly(folder, "ferry " * 5, "nurses " * 15)[2], abs=1e-5)


def test_claim_that_leaves_no_room_for_the_source_is_undefined_and_stops_nobody(nli_folder):
    # 20 words fill the room alone
    found = aligned(nli_folder(THREE), [Pairing(("It is night.",), ("nurses " * 20, "The ferry."))])[0].matrix
    assert np.isnan(found).tolist() == [[True, False]]


def test_empty_pairing_gives_an_empty_matrix(nli_folder):
    assert aligned(nli_folder(THREE), [Pairing((), ("The ferry.",))])[0].matrix.size == 0
