from dataclasses import replace

import numpy as np
import pytest
from audit_inputs import ATTRIBUTE, make_input, make_set, shares_of

from evenhand.config.fairness import MatcherSection
from evenhand.evaluation.audit.build import build_audit
from evenhand.evaluation.audit.page import page
from evenhand.evaluation.audit.plan import AuditPlan
from evenhand.evaluation.pages.blocks import Heading, Prose
from evenhand.fairness.groups.masses import Unscored
from evenhand.judges.measures import open_matcher
from evenhand.plugins.order.family import BLOCKS, NO_MATCH, ONE_DOCUMENT, Order
from evenhand.resampling import Bootstrap

ORDER = Order(open_matcher(MatcherSection(kind="words")))
PLAN = AuditPlan(measures=("order",), bootstrap=Bootstrap(level=0.95, resamples=100, seed=0))
TEXTS = ("apple berry", "cherry grape", "river stone", "cloud storm")


def one_set(*values, name="s"):
    return make_set(name, *zip(values, TEXTS, strict=False))


def placed(documents, summary):
    given = make_input([documents], mine=[summary])
    (found,) = ORDER.measure(given.items(given.systems[0]))
    return found


def test_worked_by_hand():
    # every word is in one document and all documents are alike: .25 of the room is expected for each. Left has 3 of 4 matched
    # words, .375 of the room for each of its documents within it; right .125
    found = placed(one_set("left", "right", "left", "right"), "Apple, berry, cloud and river.")
    (room,) = ORDER.rooms([found])
    assert room.observed == pytest.approx([0.5, 0, 0.25, 0.25])
    assert room.expected == pytest.approx([0.25] * 4)
    assert room.within == pytest.approx([0.375, 0.125, 0.375, 0.125])
    figures = ORDER.figures([found])
    names = [(str(q.measure), q.side) for q in figures.quantities]
    numbers = dict(zip(names, figures.all_sets(), strict=True))
    gaps = dict(zip(names, figures.beyond(figures.columns.sum(axis=0)), strict=True))
    assert numbers["place's share in sources (words)", "middle third"] == pytest.approx(0.5)
    assert numbers["place's share in summaries (words)", "first third"] == pytest.approx(0.5)
    assert gaps["place's share in summaries (words)", "first third"] == pytest.approx(0.125)
    assert gaps["place's share in summaries (words)", "middle third"] == pytest.approx(-0.25)
    assert gaps["place's share in summaries (words)", "last third"] == pytest.approx(0.125)
    # places are dealt among the documents of each value: of 4 words the first has 1/2 beyond 3/2, and the third as much less
    left, right = figures.leftover[0]
    assert [dict(zip(each.labels, each.amounts, strict=True)) for each in (left, right)] == [
        {0: pytest.approx(0.5), 1: pytest.approx(-0.5)},
        {1: pytest.approx(-0.5), 2: pytest.approx(0.5)},
    ]


def test_values_in_blocks_are_left_out_and_so_is_what_has_nothing_to_compare():
    blocks = placed(one_set("left", "middle", "middle", "right"), "Apple.")
    assert ORDER.figures([blocks]).left_out == (BLOCKS,)
    assert placed(one_set("left"), "Apple.") == Unscored(ONE_DOCUMENT)
    assert placed(one_set("left", "right"), "Nothing.") == Unscored(NO_MATCH)
    assert placed(one_set("left", "right"), "") == Unscored("empty summary")


def test_an_example_says_which_third_lacks_room():
    documents = one_set("left", "right", "right", "left")
    given = make_input([documents], mine=["Apple and berry. A river."])
    (item,) = given.items(given.systems[0])
    (found,) = ORDER.measure([item])
    example = ORDER.example(item, found)
    assert example.left_out == ("last third",)
    assert example.documents == ("cloud storm",)
    assert [line.takes for line in example.lines] == [
        {"first third": 2.0, "middle third": 0.0, "last third": 0.0},
        {"first third": 0.0, "middle third": 1.0, "last third": 0.0},
    ]


def test_a_value_that_is_preferred_is_no_place_and_a_place_within_it_is():
    """Left has all the room, which is no place; of its documents the first has all, which is."""
    sets = [one_set("left", "left", "right", "left", name=f"s{k}") for k in range(12)]
    sets = [
        make_set(each.id, *((d.attributes[ATTRIBUTE], f"{d.text} {k}") for d in each.documents))
        for k, each in enumerate(sets)
    ]
    for text, names in (("Apple cherry cloud.", False), ("Apple berry.", True)):
        given = make_input(sets, mine=[text] * 12)
        found = build_audit(given, PLAN, [ORDER])
        (its,) = found.represented
        assert bool(its.under or its.over) == names
    # of the left's documents, a third of its room expected for each
    assert (its.under, its.over) == (("middle third", "last third"), ("first third",))
    assert found.title == "The middle third of the documents is represented less than by summaries that prefer no place"


def primed(generator, places, preference):
    """Three words of documents that are drawn by where they stand."""
    weights = np.array(preference)[list(places)]
    chosen = generator.choice(4, size=3, p=weights / weights.sum())
    return " ".join(generator.choice(TEXTS[k].split()) for k in chosen)


@pytest.mark.parametrize("is_place", [True, False])
def test_orders_tell_a_place_from_what_stands_there(is_place):
    """The first is preferred: whichever stands there, or the one that does in the file."""
    generator = np.random.default_rng(1)
    sets = [one_set("left", "right", "right", "left", name=f"s{k}") for k in range(60)]
    turns = [tuple((k - turn) % 4 for k in range(4)) for turn in range(4)]
    systems = {
        f"turn-{turn}": [primed(generator, places if is_place else range(4), (6, 1, 1, 1)) for _ in sets]
        for turn, places in enumerate(turns)
    }
    given = make_input(sets, **systems)
    read = zip(given.systems, turns, strict=True)
    given = replace(given, systems=tuple(replace(s, places={each.id: places for each in sets}) for s, places in read))
    found = {(each.measure, each.side): each for each in build_audit(given, PLAN, [ORDER]).orders}
    right, wrong = ("place", "documents") if is_place else ("documents", "place")
    assert found["order of the file", "first third"].verdict == "higher"
    assert found[right, "first third"].verdict == "higher"
    assert {found[wrong, third].verdict for third in ("first third", "middle third", "last third")} == {
        "no clear difference"
    }


def in_orders(sets, *turns):
    """Summaries of the first two documents, in several orders, and what the audit says."""
    given = make_input(sets, **{f"order-{k}": ["Apple, berry and cherry."] * len(sets) for k in range(len(turns))})
    orders = [{each.id: tuple((k - turn) % 4 for k in range(4)) for each in sets} for turn in turns]
    systems = zip(given.systems, orders, strict=True)
    given = replace(given, systems=tuple(replace(system, places=places) for system, places in systems))
    shares = shares_of(given.values)
    return build_audit(given, PLAN, [shares, ORDER])


def test_a_summarizer_is_not_called_fairer_than_itself_nor_is_one_thing_said_twice():
    found = in_orders([one_set("left", "right", "right", "left", name=f"s{k}") for k in range(8)], 0, 0)
    assert found.title == "Place and documents cannot be separated: documents do not stand in all thirds"
    assert found.orders
    assert (found.votes, found.differences) == ((), ())
    said = [each.text for each in page(found).body if isinstance(each, Prose)]
    assert sum(text.count("cannot be separated") for text in said) == 1


@pytest.mark.parametrize("attribute", ["stance", "stars"])
def test_the_picture_of_places_has_places_as_rows_and_claims_no_extracts(attribute):
    given = make_input([one_set("left", "right", "right", "left", name=f"s{k}") for k in range(8)], mine=["Apple."] * 8)
    found = build_audit(given, PLAN, [ORDER]).model_copy(update={"attribute": attribute})
    picture = page(found).overview.picture
    assert [each.name for each in picture.rows] == [f"{each} third of a set" for each in ("first", "last")]
    assert (picture.rows_are, picture.band) == ("place", "expected")
    # what is expected is a mark, as nothing is known of its width
    assert all(low == high for low, high in (each.band for each in picture.rows))
    assert "by place, for each of mine" in picture.title and "extracts" not in repr(picture)


def test_the_gap_in_the_order_of_the_file_is_of_place_and_documents_together_and_says_what_it_is_to():
    # the left has all the room and stands first: within it no place is preferred
    found = in_orders([one_set("left", "left", "right", "right", name=f"s{k}") for k in range(8)], 0, 1, 2, 3)
    gaps = {(each.measure, each.side): each.value for each in found.orders}
    for third in ("first third", "middle third", "last third"):
        assert gaps["order of the file", third] == pytest.approx(gaps["place", third] + gaps["documents", third])
    assert gaps["order of the file", "last third"] == pytest.approx(-0.25)
    (lead,) = (
        each.lead for each in page(found).body if isinstance(each, Heading) and each.text == "Place or documents"
    )
    assert "documents written alike" in lead


def test_places_of_systems_in_orders_without_a_common_set_are_not_told_apart():
    sets = [one_set("left", "right", "left", name=f"s{k}") for k in range(4)]
    given = make_input(sets, first=["Apple.", "Apple.", None, None], second=[None, None, "Apple.", "Apple."])
    orders = [{each.id: places for each in sets} for places in ((0, 1, 2), (2, 0, 1))]
    given = replace(given, systems=tuple(replace(s, places=its) for s, its in zip(given.systems, orders, strict=True)))
    found = build_audit(given, PLAN, [shares_of(given.values), ORDER])
    assert {each.value for each in found.orders} == {None}
    assert found.title == "Place and documents cannot be separated: documents do not stand in all thirds"
