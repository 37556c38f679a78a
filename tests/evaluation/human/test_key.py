import pytest
from sheets import SUMMARY_A, SUMMARY_B, make_item, make_sheet

from evenhand.errors import DataError
from evenhand.evaluation.human import human_scores
from evenhand.evaluation.human.key import PageKey, SystemSource, parse_key, unblind

SOURCE = SystemSource(folder="runs/a", digest="0" * 16)


def key(**letters):
    return PageKey(
        page="p1", seed=0, systems={"dpo": SOURCE, "base": SOURCE}, letters={"ferry/left": letters},
        shown={"ferry/left": make_item().shown},
    )  # fmt: skip


def test_summaries_get_the_names_and_the_order_of_their_systems():
    ((item, unit),) = unblind(make_sheet(), key(A="base", B="dpo"))
    assert item == make_item()
    assert list(unit.summaries.items()) == [("dpo", SUMMARY_B), ("base", SUMMARY_A)]
    assert (unit.annotator, unit.number, unit.side, unit.cluster) == ("anna", 1, "left", "ferry")
    assert unit.annotation.summaries["base"].points == ("keeps \U0001f6a2", "for nurses")


def test_scores_of_a_sheet_worked_by_hand():
    # summary A has 1 of 2 key points, 1 of its 2 is supported; summary B has none of 2 and no key point
    ((_, unit),) = unblind(make_sheet(), key(A="base", B="dpo"))
    base, dpo = (human_scores(unit.annotation, system) for system in ("base", "dpo"))
    assert (base.coverage, base.faithfulness, base.included, base.omitted, base.hallucinated) == (0.5, 0.5, 1, 1, 1)
    assert (dpo.coverage, dpo.faithfulness, dpo.included, dpo.omitted, dpo.hallucinated) == (0.0, None, 0, 2, 0)


def test_without_a_key_letters_are_the_names():
    ((_, unit),) = unblind(make_sheet(), None)
    assert list(unit.summaries) == ["A", "B"]


def test_unknown_letters_and_items_are_all_listed():
    with pytest.raises(DataError) as caught:
        unblind(make_sheet(make_item(), make_item("other/left")), key(A="base"))
    assert str(caught.value).splitlines() == [
        "item 'ferry/left': the key of page p1 does not know B",
        "item 'other/left': the key of page p1 does not know A, B",
    ]


def test_a_key_of_another_version_is_refused(tmp_path):
    value = key(A="base", B="dpo").model_dump(mode="json") | {"version": 3}
    with pytest.raises(DataError, match=r"k.json: is not a key of a page: 'version'"):
        parse_key(tmp_path / "k.json", value)


def exchanged(item):
    """The item with the texts and marks of its summaries under each other's letter."""
    first, second = item.summaries
    return item.model_copy(
        update={
            "summaries": (
                second.model_copy(update={"letter": first.letter}),
                first.model_copy(update={"letter": second.letter}),
            )
        }
    )


@pytest.mark.parametrize(
    "change", [exchanged, lambda item: item.model_copy(update={"side": "right"})], ids=["letters", "side"]
)
def test_an_item_that_is_not_what_the_page_shows_is_refused_and_named(change):
    with pytest.raises(DataError, match=r"^item 'ferry/left': its texts or letters are not those of page p1"):
        unblind(make_sheet(change(make_item())), key(A="base", B="dpo"))


def test_the_order_of_summaries_in_the_file_does_not_matter():
    item = make_item()
    turned = item.model_copy(update={"summaries": item.summaries[::-1]})
    ((_, unit),) = unblind(make_sheet(turned), key(A="base", B="dpo"))
    assert unit.summaries == {"dpo": SUMMARY_B, "base": SUMMARY_A}
