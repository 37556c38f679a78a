import pytest
from audit_inputs import make_input, two_sided
from conformance import of_plugins

from evenhand.evaluation.audit import findings
from evenhand.evaluation.audit.contents import NO_GAP, Audit, AuditNumber, ChanceGap, Vote
from evenhand.evaluation.audit.findings import MOST_WORDS, representation, system_note
from evenhand.evaluation.audit.kinds import (
    BUR,
    SHARE_IN_SOURCES,
    SHARE_IN_SUMMARIES,
)

NOTES = {"base": "fair enough", "mine": "x", "more": "x", "fourth": "x", "fifth": "x"}
SYSTEMS = [system_note(system) for system in make_input(two_sided(1), **{name: [""] for name in NOTES}).systems]


def number(
    side,
    value,
    kind=SHARE_IN_SUMMARIES,
    *,
    gap=None,
    verdict="no clear difference",
    small=False,
    width=0.01,
    doubt="",
    system="mine",
):
    found = NO_GAP
    if gap is not None:
        found = ChanceGap(
            reference="a null", expected=value - gap, value=gap, low=None if width is None else gap - width,
            high=None if width is None else gap + width, verdict=verdict, doubt=doubt,
        )  # fmt: skip
    return AuditNumber(
        measure=f"{kind.name} (words)", system=system, side=side, value=value, n_sets=40, is_small=small, gap=found,
        sentence="" if side else "What the measure means.",
    )  # fmt: skip


def titled(numbers, represented, votes, systems):
    """The title of an audit that says all that."""
    parts = {"numbers": numbers, "represented": represented, "votes": votes, "systems": systems}
    return findings.title(Audit.model_construct(**parts))


def sides(*numbers):
    """The same with shares in the sources."""
    return [*(number(each.side, 0.3, SHARE_IN_SOURCES) for each in numbers), *numbers]


def vote(verdict, system="mine", side="left", gap=-0.02, reference_gap=-0.061, apart=()):
    return Vote(
        measure="share in summaries (words)", system=system, reference="base", side=side, value=gap - reference_gap, n_sets=40,
        verdict=verdict, system_gap=gap, reference_gap=reference_gap, apart=apart,
    )  # fmt: skip


def test_length_stands_beside_the_measures():
    given = make_input(two_sided(2), mine=["The ferry is cheap. A bridge costs taxes.", ""])
    found = system_note(given.systems[0])
    assert (found.n_summaries, found.n_words, found.n_sentences) == (2, 4.0, 1.0)


KINDS = {
    "value-shares": SHARE_IN_SUMMARIES,
    **of_plugins("MEASURED"),
}
BROUGHT = [family for family in KINDS if family != "value-shares"]


def of(family, *numbers):
    measure = f"{KINDS[family].name} (words)"
    return representation([each.model_copy(update={"measure": measure}) for each in numbers], "stance")


def test_those_clearly_off_what_is_expected_are_named_the_farthest_first():
    found = representation(
        sides(
            number("left", 0.25, gap=-0.05, verdict="lower"),
            number("right", 0.35, gap=0.14, verdict="higher"),
            # far, but not clearly
            number("third", 0.2, gap=-0.2),
            number("fourth", 0.2, gap=-0.09, verdict="lower"),
        ),
        "stance",
    )
    assert (found.under, found.over) == (("fourth", "left"), ("right",))
    assert found.sentence.startswith("fourth and left ") and "right more" in found.sentence
    assert [detail.split()[0] for detail in found.details] == ["fourth", "left", "right"]
    # share in sources, in summaries, and what is expected
    for share in ("30.0 %", "35.0 %", "21.0 %"):
        assert share in " ".join(found.details)


def test_where_nobody_is_clearly_off_nobody_is_named():
    found = representation(sides(number("left", 0.2, gap=-0.2), number("right", 0.8, gap=0.2)), "stance")
    assert (found.under, found.over) == ((), ())
    assert found.sentence.startswith("No stance ")


def test_a_clear_gap_that_names_nobody_says_why():
    found = representation(sides(number("left", 0.2, gap=-0.2, doubt="any extract has it")), "stance")
    assert (found.under, found.over) == ((), ())
    assert "left is not" in found.sentence and found.sentence.endswith(": any extract has it.")


def test_values_of_few_sets_are_told_apart():
    found = representation(
        sides(number("left", 0.2, gap=-0.2, verdict="lower"), number("rare", 0.1, gap=-0.3, small=True)), "stance"
    )
    assert (found.under, found.small) == (("left",), ("rare",))
    assert "rare: too few" in found.sentence


def test_without_what_is_expected_nothing_is_said_of_anybody():
    assert representation(sides(number("left", 0.2), number("right", 0.8)), "stance") is None
    # nor by a published measure
    assert representation([number(None, 0.9, BUR, gap=0.5, verdict="higher")], "stance") is None


def test_one_system_is_headed_by_what_happened_to_whom():
    numbers = sides(number("left", 0.2, gap=-0.2, verdict="lower"), number("right", 0.5, gap=0.3, verdict="higher"))
    aggregates = [number(None, 0.9, BUR)]
    # who has less, though another has more by more
    said = titled([*aggregates, *numbers], [representation(numbers, "stance")], (), SYSTEMS[:1])
    assert said.startswith("left gets 20.0 %") and "; 40.0 % would" in said
    # where nobody has less, who has most beyond what is expected
    more = sides(number("left", 0.2, gap=-0.2), number("right", 0.5, gap=0.3, verdict="higher"))
    said = titled(more, [representation(more, "stance")], (), SYSTEMS[:1])
    assert said.startswith("right gets 50.0 %") and "; 20.0 % would" in said
    nobody = representation(sides(number("left", 0.2, gap=-0.2)), "stance")
    assert f"{titled(aggregates, [nobody], (), SYSTEMS[:1])}." == nobody.sentence
    assert f"{titled(aggregates, (), (), SYSTEMS[:1])}." == aggregates[0].sentence
    assert titled((), (), (), SYSTEMS[:1]).startswith("Nothing ")


@pytest.mark.parametrize(("gap", "is_told"), [(-0.019, False), (-0.02, True), (0.019, False), (0.02, True)])
def test_a_gap_under_the_smallest_size_is_no_headline(gap, is_told):
    numbers = sides(number("left", 0.5, gap=gap, verdict="lower" if gap < 0 else "higher"))
    said = titled(numbers, [representation(numbers, "stance")], (), SYSTEMS[:1])
    assert said.startswith("left gets") if is_told else said.startswith("No gap ")
    several = titled(numbers, [representation(numbers, "stance")], [vote("fairer")], SYSTEMS[:2])
    assert several.startswith("mine gives left") if is_told else "any of 2" in several


def two(base, mine):
    """Shares of the left under two systems, by their gaps."""
    return [
        number("left", 0.5, gap=gap, verdict="lower" if gap < 0 else "higher", system=name)
        for name, gap in (("base", base), ("mine", mine))
    ]


@pytest.mark.parametrize(
    ("verdict", "gaps", "said"),
    [
        ("fairer", (-0.1, -0.03), "Both systems give left 3 to 10 points less than expected; mine is fairer"),
        (
            "less fair", (-0.03, -0.1),
            "Both systems give left 3 to 10 points less than expected; mine is less fair",
        ),
        ("differs", (-0.03, 0.04), "base gives left 3 points less than expected"),
        ("no clear difference", (-0.03, -0.03), "Both systems give left 3 points less than expected"),
    ],
)  # fmt: skip
def test_two_systems_are_headed_by_what_holds_for_both_and_then_by_who_is_fairer(verdict, gaps, said):
    numbers = two(*gaps)
    votes = [vote(verdict, gap=gaps[1], reference_gap=gaps[0])]
    assert titled(numbers, (), votes, SYSTEMS[:2]) == said


def test_of_several_systems_the_nearest_is_told_where_a_vote_says_so():
    numbers = [
        number("left", 0.5, gap=gap, verdict="lower", system=name)
        for name, gap in (("base", -0.1), ("mine", -0.08), ("more", -0.03))
    ]
    votes = [vote("no clear difference", "mine"), vote("fairer", "more", gap=-0.03, reference_gap=-0.1)]
    told = titled(numbers, (), votes, SYSTEMS[:3])
    assert told.startswith("3 of 3 ") and " left 3 to 10 " in told and told.endswith("; more is nearest")
    # a vote for one that is not the nearest to what is expected of this value says nothing of who is
    votes = [vote("fairer", "mine", gap=-0.08, reference_gap=-0.1), vote("no clear difference", "more")]
    assert titled(numbers, (), votes, SYSTEMS[:3]) == told.removesuffix("; more is nearest")


def test_the_value_of_which_most_systems_say_the_same_is_told():
    numbers = [
        number(value, 0.5, gap=gap, verdict="lower", system=name)
        for name, value, gap in (("base", "left", -0.3), ("base", "right", -0.1), ("mine", "right", -0.1))
    ]
    assert titled(numbers, (), (), SYSTEMS[:3]).startswith("2 of 3 ")
    assert " right 10 points" in titled(numbers, (), (), SYSTEMS[:3])


def test_without_what_is_expected_no_system_is_called_fairer():
    base, mine = (each.model_copy(update={"n_words": 9.0}) for each in SYSTEMS[:2])
    assert ": shares were not" in titled((), (), (), [base, mine])
    unknown = [number("left", 0.5, gap=None, system=name) for name in ("base", "mine")]
    assert ": no chance level" in titled(unknown, (), (), [base, mine])
    wordless = mine.model_copy(update={"n_words": 0.0})
    assert " of mine has" in titled((), (), (), [base, wordless])
    assert " of 4 systems" in titled((), (), (), [wordless] * 4)


def test_that_shares_and_published_measures_point_apart_is_a_sentence():
    said = findings.apart(vote("differs", apart=("BUR (words)", "UER (words)")))
    assert all(each in said for each in ("mine leans 4.1", "points less", "base (left)", "BUR (words) and UER (words)"))
    assert findings.apart(vote("fairer")) == ""


def clear(family, value, verdict):
    return of(family, number(value, 0.3, gap=0.1 if verdict == "higher" else -0.1, verdict=verdict))


def test_shares_alone_head_the_page_where_they_were_measured():
    others = [clear(family, "left", "higher") for family in BROUGHT]
    unclear = sides(number("left", 0.2, gap=-0.1))
    nobody = "No stance is clearly represented less or more than documents written alike would be"
    assert titled(unclear, [representation(unclear, "stance"), *others], [], SYSTEMS[:1]) == nobody


@pytest.mark.parametrize("family", BROUGHT)
def test_without_shares_the_first_that_names_somebody_heads_the_page(family):
    none, one = of(family, number("left", 0.2, gap=-0.1)), clear(family, "left", "higher")
    bare = [number(None, 0.9, BUR)]
    assert one.sentence.startswith(titled(bare, [none, one], [], SYSTEMS[:1]))
    assert "left" in titled(bare, [none, one], [], SYSTEMS[:1])
    assert none.sentence.startswith(titled(bare, [none], [], SYSTEMS[:1]))
    assert titled(bare, [none], [], SYSTEMS[:1]).startswith("No ")


VALUES = [f"value{n}" for n in range(12)]
LESS = [number(value, 0.05, gap=-0.03, verdict="lower") for value in VALUES]
# what an audit says, of how many systems, and the words of its title: whole, but for measures of plug-ins
HEADLINES = {
    "named": ((sides(*LESS), [representation(sides(*LESS), "stance")]), 1,
              "value0 gets 5.0 % of the summaries' words; 8.0 % would be even-handed"),
    "nobody": (([], [representation(sides(number("left", 0.2, gap=-0.2)), "stance")]), 1,
               "No stance is clearly represented less or more than documents written alike would be"),
    "few": (([], [representation([number(v, 0.1, gap=0.1, small=True) for v in VALUES], "stance")]), 1,
            "Too few sets for a verdict (5 are needed, or as many as --least-group asks for)"),
    "small": ((sides(number("left", 0.2, gap=-0.01, verdict="lower")),
               [representation(sides(number("left", 0.2, gap=-0.01, verdict="lower")), "stance")]), 1,
              "No gap of shares reaches 2 points"),
    **{f"{family}, {which}": (([], [of(family, *(number(v, 0.1, gap=gap, verdict=which) for v in VALUES))]), 1, said)
       for family in BROUGHT
       for which, gap, said in (("lower", -0.1, "value0"), ("higher", 0.1, "value0"), ("no clear difference", 0.1, "No "))},
    "silent": (([number(None, 0.0, BUR), number("left", None), number("right", None)], []), 1,
               "Nothing of the documents was found in the summaries"),
    "measure": (([number(None, 0.9, BUR).model_copy(update={"sentence": "word " * 20})], []), 1, "BUR (words): 90.0 %"),
    "undefined": (([number(None, None, BUR).model_copy(update={"sentence": "Undefined: no set has an answer."})], []), 1,
                  "Undefined: no set has an answer"),
    "two systems": ((two(-0.1, -0.03), (), [vote("less fair", gap=-0.03, reference_gap=-0.1)]), 2,
                    "Both systems give left 3 to 10 points less than expected; mine is less fair"),
    "five systems": (([number("left", 0.5, gap=-0.1 * k, verdict="lower", system=SYSTEMS[k].label) for k in range(5)],
                      (), [vote("less fair", "fifth")]), 5,
                     "4 of 5 systems give left 10 to 40 points less than expected; base is nearest"),
    "nobody of several": (([number("left", 0.5, gap=0.1)], ()), 3,
                          "Nobody is clearly represented less or more under any of 3 systems"),
    "few of several": (([number("left", 0.5, gap=0.1)], (), [vote("too few sets")]), 2,
                       "Too few sets to say which system is fairer (5 or --least-group are needed)"),
    "wordless": (((), ()), 5, "Which system is fairer cannot be said: no summary of 5 systems has a word"),
}  # fmt: skip


@pytest.mark.parametrize(("given", "n_systems", "said"), HEADLINES.values(), ids=HEADLINES)
def test_every_kind_of_headline_is_short(given, n_systems, said):
    numbers, represented, votes = (*given, *((),)[len(given) - 2 :])
    found = titled(numbers, represented, votes, SYSTEMS[:n_systems])
    assert said in found
    assert len(found.split()) <= MOST_WORDS, found
    assert not found.endswith(".")


@pytest.mark.parametrize("family", KINDS)
@pytest.mark.parametrize("few", [{"small": True}, {"width": None}])
def test_nobody_is_cleared_by_too_few_sets(family, few):
    found = of(family, number("left", 0.5, gap=-0.5, **few), number("right", 0.5, gap=0.5, **few))
    assert found.sentence.startswith("left, right: too few") and "--least-group" in found.sentence
    assert (found.small, found.details) == (("left", "right"), ())


@pytest.mark.needs("plugins/bias")
def test_a_gap_that_is_the_same_in_all_sets_has_no_interval_in_its_detail():
    (flat,) = of("word-lists", number("left", 0.0, gap=-0.5, verdict="lower", width=0)).details
    assert "points (no variation)" in flat
    (wide,) = of("word-lists", number("left", 0.0, gap=-0.5, verdict="lower", width=0.1)).details
    assert "(\u221260.0 to \u221240.0)" in wide


@pytest.mark.needs("plugins/bias")
@pytest.mark.parametrize("name", ["t", "th", "women"])
def test_a_sentence_begins_with_a_capital_unless_a_value_does(name):
    clear = number(name, 0.2, gap=-0.1, verdict="lower")
    assert of("word-lists", clear).sentence.startswith(f"The list {name} is")
    assert of("value-shares", clear).sentence.startswith(f"{name} is represented less")
