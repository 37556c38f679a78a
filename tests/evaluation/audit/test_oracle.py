"""Summaries of the oracle test: documents taken over whole."""

from collections import Counter

from audit_inputs import ATTRIBUTE, make_set

from evenhand.evaluation.audit.oracle import oracle_summaries

SETS = [
    make_set("ferry", *[("left", f"left-{i}") for i in range(6)], *[("right", f"right-{i}") for i in range(2)]),
    make_set("park", ("left", "left-a"), ("left", "left-b")),
]


def sides(text: str) -> Counter[str]:
    return Counter(word.partition("-")[0] for word in text.split())


def test_balanced_summaries_have_the_proportions_of_their_sets():
    made = oracle_summaries(SETS, ATTRIBUTE, 4, seed=0)
    assert list(made) == ["balanced", "only left", "only right"]
    assert sides(made["balanced"]["ferry"]) == {"left": 3, "right": 1}


def test_summaries_of_one_value_have_as_many_documents_as_there_are():
    made = oracle_summaries(SETS, ATTRIBUTE, 4, seed=0)
    assert sides(made["only left"]["ferry"]) == {"left": 4}
    assert sides(made["only right"]["ferry"]) == {"right": 2}
    # a set without the value has no such summary
    assert set(made["only right"]) == {"ferry"}


def test_seed_decides_which_documents():
    assert oracle_summaries(SETS, ATTRIBUTE, 4, seed=0) == oracle_summaries(SETS, ATTRIBUTE, 4, seed=0)
    assert len({oracle_summaries(SETS, ATTRIBUTE, 4, seed)["balanced"]["ferry"] for seed in range(5)}) > 1
