"""Digests: equal values have equal ones, in whatever order and form they come, and files by their bytes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.digests import canonical_json, digest, digest_of_all, file_digest
from evenhand.errors import StorageError
from evenhand.records import Sampling


@given(
    st.dictionaries(
        st.text(),
        st.one_of(st.none(), st.booleans(), st.integers(), st.text(), st.floats(allow_nan=False, allow_infinity=False)),
    )
)
def test_equal_values_give_equal_canonical_text_whatever_their_order(values):
    turned = dict(reversed(values.items()))
    assert canonical_json(turned) == canonical_json(values)
    assert json.loads(canonical_json(values)) == values


def test_a_digest_is_the_sha256_of_the_canonical_text():
    # printf '{"a":[1,2],"b":"ä"}' | sha256sum
    assert digest({"b": "ä", "a": [1, 2]}) == "b5165d1ad78fdaff"
    assert digest({"b": "ä", "a": [1, 2]}, length=6) == "b5165d"
    assert digest(Sampling()) == digest(Sampling().model_dump())


def test_a_list_has_one_digest_whether_it_is_held_or_streamed():
    for values in ([], [{"b": "ä", "a": 1}], [Sampling(), 2, None]):
        assert digest_of_all(iter(values)) == digest([v.model_dump() if v.__class__ is Sampling else v for v in values])


def test_a_file_digest_follows_the_bytes_and_a_folder_digest_the_names_too(tmp_path):
    (tmp_path / "one" / "sub").mkdir(parents=True)
    (tmp_path / "one" / "a").write_bytes(b"a")
    (tmp_path / "one" / "sub" / "b").write_bytes(b"b")
    # printf a | sha256sum
    assert file_digest(tmp_path / "one" / "a") == "ca978112ca1bbdca"
    before = file_digest(tmp_path / "one")
    (tmp_path / "one").rename(tmp_path / "two")
    assert file_digest(tmp_path / "two") == before
    (tmp_path / "two" / "sub" / "b").rename(tmp_path / "two" / "sub" / "c")
    assert file_digest(tmp_path / "two") != before


def test_the_digest_of_an_absent_file_is_a_storage_error(tmp_path):
    with pytest.raises(StorageError, match=r"absent: cannot be read: No such file"):
        file_digest(tmp_path / "absent")
