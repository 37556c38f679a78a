"""Yes/no questions to a T5, on a tiny random one."""

from pathlib import Path

import numpy as np
import pytest

from evenhand.errors import JudgeError, ModelError
from evenhand.judges.aligner import Pairing
from evenhand.plugins.released.yes_no import YesNoAligner, YesNoQuestion, YesNoTokens

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

PREMISES = ("the ferry is cheap", "nurses need it at night")
CLAIMS = ("the ferry is dear", "a bridge pays")


class Between:
    """Puts the source between two claims, so that cutting anywhere else would be seen."""

    feature = "judge 'between'"

    def __init__(self, no=5, yes=9):
        self._answers = YesNoTokens(no, yes)

    def question(self, premise, claim, end):
        return YesNoQuestion(f"{claim}{end}", premise, f"{end}{claim}")

    def answers(self, tokenizer):
        return self._answers


def aligned(folder, pairings, most_tokens=64, batch_size=3):
    aligner = YesNoAligner(str(folder), Between(), most_tokens, batch_size)
    try:
        return aligner.align(pairings)
    finally:
        aligner.close()


def share_of_yes(folder, text, no=5, yes=9):
    """P(yes) / (P(yes) + P(no)) at the first step, by transformers alone."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    with torch.no_grad():
        encoded = tokenizer(text, return_tensors="pt")
        shares = model(**encoded, decoder_input_ids=torch.tensor([[0]])).logits[0, 0].softmax(-1)
    return float(shares[yes] / (shares[yes] + shares[no]))


def nurses(n):
    return " ".join(["nurses"] * n)


def test_support_is_the_share_of_yes_among_both_answers(t5_folder):
    found = aligned(t5_folder, [Pairing(PREMISES, CLAIMS)])[0].matrix
    expected = [[share_of_yes(t5_folder, f"{c}</s>{p}</s>{c}") for c in CLAIMS] for p in PREMISES]
    assert found == pytest.approx(np.array(expected), abs=1e-5)
    # a model that gave every question the same share would prove nothing
    assert np.ptp(found) > 1e-3


def test_results_do_not_depend_on_batching_or_company(t5_folder):
    pairings = [Pairing(PREMISES, CLAIMS), Pairing(("it is night",), CLAIMS)]
    together = aligned(t5_folder, pairings)
    for pairing, found in zip(pairings, together, strict=True):
        assert found.matrix == pytest.approx(aligned(t5_folder, [pairing], batch_size=1)[0].matrix, abs=1e-5)


def test_only_the_end_of_the_source_is_cut_and_counted(t5_folder):
    # claim 4 + end 1 + source + end 1 + claim 4 + end 1 = 11 tokens without the source, which keeps 9 of its 30
    found = aligned(t5_folder, [Pairing((nurses(30), "it"), CLAIMS[:1])], most_tokens=20)[0]
    assert found.n_cut == 1
    kept = share_of_yes(t5_folder, f"{CLAIMS[0]}</s>{nurses(9)}</s>{CLAIMS[0]}")
    assert found.matrix[0, 0] == pytest.approx(kept, abs=1e-5)


def test_claim_that_leaves_no_room_for_the_source_is_undefined_and_stops_nobody(t5_folder):
    found = aligned(t5_folder, [Pairing(("it is night",), (nurses(40), "a bridge"))], most_tokens=20)[0].matrix
    assert np.isnan(found).tolist() == [[True, False]]


def test_a_text_cannot_write_the_end_token(t5_folder):
    gaps = (" ", "</s>", "<pad>")
    plain, *attacked = aligned(
        t5_folder, [Pairing((f"it is{gap}dear",), tuple(f"{c}{gap}it" for c in CLAIMS)) for gap in gaps]
    )
    for each in attacked:
        assert each.matrix == pytest.approx(plain.matrix, abs=1e-6)


def test_a_text_cannot_write_the_end_token_in_letters_that_normalisation_changes(t5_folder):
    # a word that the tokenizer does not know stands for what would have become the end token
    gaps = ("zz", "\uff1c/s\uff1e", "\uff1cpad\uff1e")
    plain, *attacked = aligned(t5_folder, [Pairing((f"it is {gap} dear",), CLAIMS) for gap in gaps])
    for each in attacked:
        assert each.matrix == pytest.approx(plain.matrix, abs=1e-6)


def test_of_a_long_source_the_beginning_is_kept(t5_folder):
    # 9 tokens are left, as above
    source = "the ferry is cheap " + nurses(26)
    found = aligned(t5_folder, [Pairing((source,), CLAIMS[:1])], most_tokens=20)[0].matrix[0, 0]
    kept, end = (
        share_of_yes(t5_folder, f"{CLAIMS[0]}</s>{text}</s>{CLAIMS[0]}")
        for text in ("the ferry is cheap " + nurses(5), nurses(9))
    )
    assert found == pytest.approx(kept, abs=1e-5)
    assert abs(kept - end) > 1e-3


def test_empty_pairing_gives_an_empty_matrix(t5_folder):
    assert aligned(t5_folder, [Pairing((), CLAIMS)])[0].matrix.size == 0


def test_model_too_small_for_the_answers_is_refused(t5_folder):
    with pytest.raises(JudgeError, match=r"judge 'between': model .* has 256 tokens and none for the answers"):
        YesNoAligner(str(t5_folder), Between(yes=256), 64, 8)


def test_model_of_another_architecture_is_refused(nli_folder):
    folder = nli_folder({0: "contradiction", 1: "entailment"})
    with pytest.raises(ModelError, match=f"judge 'between' cannot open model .*{Path(folder).name}"):
        YesNoAligner(str(folder), Between(), 64, 8)
