"""Digests of values: equal ones have equal digests, in whatever order and form they come."""

import json

from hypothesis import given
from hypothesis import strategies as st

from evenhand.records import Sampling
from evenhand.text.digests import canonical_json, digest, digest_of_all


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
