import pytest
from audit_inputs import make_input, two_sided

from evenhand.evaluation.audit.contents import (
    BUR,
    COVERAGE_DIFFERENCE,
    SHARE_IN_SOURCES,
    SHARE_IN_SUMMARIES,
    Chance,
    Measure,
    Number,
    Vote,
)
from evenhand.evaluation.audit.findings import representation, system_note, title

NOTES = {"base": "fair enough", "mine": "x", "more": "x", "fourth": "x", "fifth": "x"}
SYSTEMS = [system_note(system) for system in make_input(two_sided(1), **{name: [""] for name in NOTES}).systems]


def number(
    value, estimate, kind=SHARE_IN_SUMMARIES, *, gap=None, verdict="no clear difference", small=False, width=0.01
):
    chance = None
    if gap is not None:
        chance = Chance(
            null="a null", expected=estimate - gap, gap=gap, low=None if width is None else gap - width,
            high=None if width is None else gap + width, p_value=None, adjusted=None, verdict=verdict,
        )  # fmt: skip
    return Number(
        measure=Measure(kind, "words"), family="value-shares", signature="s", system="mine", value=value, estimate=estimate,
        low=None, high=None, n=40, left_out={}, level=0.95, resamples=100, seed=0, is_share=True, is_small=small,
        chance=chance, sentence="" if value else "What the measure means.",
    )  # fmt: skip


def sides(*numbers):
    """The same with shares in the sources."""
    return [*(number(each.value, 0.3, SHARE_IN_SOURCES) for each in numbers), *numbers]


def vote(verdict, system="mine", value="left", gap=-0.02, reference_gap=-0.061, family="value-shares"):
    return Vote(
        family=family, measure=Measure(SHARE_IN_SUMMARIES, "words"), system=system, reference="base", value=value,
        gap=gap, reference_gap=reference_gap, difference=gap - reference_gap, low=None, high=None, n=40, p_value=None,
        adjusted=None, is_share=True, verdict=verdict,
    )  # fmt: skip


def test_length_stands_beside_the_measures():
    given = make_input(two_sided(2), mine=["The ferry is cheap. A bridge costs taxes.", ""])
    found = system_note(given.systems[0])
    assert (found.n_summaries, found.n_words, found.n_sentences) == (2, 4.0, 1.0)


def test_those_clearly_off_their_chance_level_are_named_the_farthest_first():
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
    assert found.sentence == "fourth and left are represented less and right more than by summaries that take no side."
    assert [detail.split()[0] for detail in found.details] == ["fourth", "left", "right"]
    # share in sources, in summaries, and what is expected
    for share in ("30.0 %", "35.0 %", "21.0 %"):
        assert share in " ".join(found.details)


def test_where_nobody_is_clearly_off_nobody_is_named():
    found = representation(sides(number("left", 0.2, gap=-0.2), number("right", 0.8, gap=0.2)), "stance")
    assert (found.under, found.over) == ((), ())
    assert found.sentence.startswith("No stance is clearly represented")


def test_values_of_few_sets_are_told_apart():
    found = representation(
        sides(number("left", 0.2, gap=-0.2, verdict="lower"), number("rare", 0.1, gap=-0.3, small=True)), "stance"
    )
    assert (found.under, found.small) == (("left",), ("rare",))
    assert "rare: too few sets" in found.sentence


def test_without_a_chance_level_nothing_is_said_of_anybody():
    assert representation(sides(number("left", 0.2), number("right", 0.8)), "stance") is None
    # nor by a published measure
    assert representation([number(None, 0.9, BUR, gap=0.5, verdict="higher")], "stance") is None


def test_one_system_is_headed_by_what_happened_to_whom():
    numbers = sides(number("left", 0.2, gap=-0.2, verdict="lower"), number("right", 0.5, gap=0.3, verdict="higher"))
    clear = representation(numbers, "stance")
    nobody = representation(sides(number("left", 0.2, gap=-0.2)), "stance")
    aggregates = [number(None, 0.9, BUR)]
    said = (
        "left has 30.0 % of the documents' words in an average set and 20.0 % of the summaries' words; 40.0 % would be expected "
        "of summaries"
    )
    assert title([*aggregates, *numbers], [nobody, clear], (), SYSTEMS[:1]) == f"{said} that take no side"
    # where nobody has less, who has most beyond what is expected
    more = sides(number("left", 0.2, gap=-0.2), number("right", 0.5, gap=0.3, verdict="higher"))
    said = "right has 30.0 % of the documents' words in an average set and 50.0 % of the summaries' words; 20.0 % would"
    assert title(more, [representation(more, "stance")], (), SYSTEMS[:1]).startswith(said)
    assert f"{title(aggregates, [nobody], (), SYSTEMS[:1])}." == nobody.sentence
    assert title(aggregates, (), (), SYSTEMS[:1]) == "What the measure means"
    assert title((), (), (), SYSTEMS[:1])


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        ("fairer", "mine is fairer than base"),
        ("less fair", "mine is less fair than base"),
        ("differs", "mine differs from base"),
        ("no clear difference", "mine does not clearly differ from base"),
    ],
)
def test_two_systems_are_headed_by_the_verdict_of_their_vote(verdict, said):
    found = title((), (), [vote(verdict)], SYSTEMS[:2])
    assert found.startswith(f"{said} by ")
    assert ("with neither clearly fairer" in found) == (verdict == "differs")
    # and by how far off both are, where they differ
    is_clear = verdict != "no clear difference"
    assert ("left: 2.0 points below" in found, "against 6.1 below for base" in found) == (is_clear, is_clear)


def test_what_represents_somebody_less_makes_no_headline_of_several_systems():
    clear = representation(sides(number("left", 0.2, gap=-0.2, verdict="lower")), "stance")
    found = title([number(None, 0.9, BUR)], [clear], [vote("no clear difference")], SYSTEMS[:2])
    assert "left" not in found


def test_without_a_vote_no_system_is_called_fairer():
    found = title((), (), (), SYSTEMS[:2])
    assert "cannot be said" in found
    assert "is fairer than base by" not in found


def test_where_all_summaries_are_empty_the_headline_says_so():
    base, mine = (each.model_copy(update={"n_words": 9.0}) for each in SYSTEMS[:2])
    found = title((), (), (), [base, mine.model_copy(update={"n_words": 0.0})])
    assert found == "whether mine is fairer than base cannot be said: no summary of mine has a word"
    assert "no chance level" in title((), (), (), [base, mine])


def test_a_headline_compares_three_systems_and_counts_the_others():
    votes = [vote("fairer", "mine"), vote("less fair", "more"), vote("differs", "fourth"), vote("fairer", "fifth")]
    found = title((), (), votes, SYSTEMS)
    assert found.endswith("; and 1 other system")
    assert title((), (), votes, [*SYSTEMS, SYSTEMS[-1]]).endswith("; and 2 other systems")
    assert "fifth" not in found
    for said in ("mine is fairer than base", "more is less fair than base", "fourth differs from base"):
        assert said in found
    assert "other" not in title((), (), votes, SYSTEMS[:4])


def test_a_headline_has_the_votes_of_both_families():
    one, few = vote("fairer"), vote("too few sets", family="coverage")
    said = title((), (), [one, vote("less fair", family="coverage", gap=-0.05, reference_gap=0.0)], SYSTEMS[:2])
    assert said == (
        "mine is fairer than base by shares (left: 2.0 points below what is expected, against 6.1 below for base, over 40 "
        "sets) and is less fair than base by coverage (left: 5.0 points below what is expected, against none for base, over "
        "40 sets)"
    )
    assert title((), (), [one, few], SYSTEMS[:2]).startswith("mine is fairer than base by shares (")
    # too few sets are not "no clear difference"
    unclear = title((), (), [vote("no clear difference"), few], SYSTEMS[:2])
    assert unclear == "mine does not clearly differ from base by shares (too few sets by coverage)"


def covered(*numbers):
    return representation(
        [
            each.model_copy(update={"family": "coverage", "measure": Measure(COVERAGE_DIFFERENCE, "words")})
            for each in numbers
        ],
        "stance",
    )


def test_coverage_names_groups_in_words_of_its_own():
    found = covered(number("left", -0.04, gap=-0.05, verdict="lower"), number("right", 0.1, gap=0.01))
    assert found.under == ("left",)
    assert found.sentence == "left is covered less than by summaries that take no side."
    (detail,) = found.details
    assert "The documents of left are covered 4.0 points worse" in detail
    # expected, and the gap to it
    assert "+1.0 would be expected" in detail
    assert "\u22125.0 points" in detail
    assert covered(number("left", -0.04, gap=-0.05)).sentence.startswith("No stance is clearly covered less or more")


@pytest.mark.parametrize(("verdict", "is_told"), [("higher", True), ("lower", False)])
def test_a_family_that_says_the_opposite_is_told_in_the_headline(verdict, is_told):
    numbers = sides(number("left", 0.2, gap=-0.1, verdict="lower"))
    shares = representation(numbers, "stance")
    coverage = covered(number("left", 0.1, gap=0.1, verdict=verdict))
    said = title(numbers, [shares, coverage], [], SYSTEMS[:1])
    assert said.startswith("left has 30.0 % of the documents' words in an average set and 20.0 %")
    assert ("by coverage, however, left is more present" in said) == is_told


def test_summaries_that_say_nothing_of_the_documents_are_not_headlined_as_fair():
    silent = [number(None, 0.0, BUR), number("left", None), number("right", None)]
    assert title(silent, [], [], SYSTEMS[:1]) == "Nothing of the documents was found in the summaries"


def test_equal_coverage_is_neither_better_nor_worse():
    found = covered(number("left", 0.0001, gap=0.05, verdict="higher"))
    assert "are covered as well as all documents of their sets" in found.details[0]


def test_shares_stand_first_and_every_other_family_that_names_somebody_follows():
    def clear(family, value, verdict):
        return of(family, number(value, 0.3, gap=0.1 if verdict == "higher" else -0.1, verdict=verdict))

    numbers = sides(number("left", 0.2, gap=-0.1, verdict="lower"))
    others = [clear("order", "first third", "higher"), clear("word-lists", "women", "lower")]
    place = "The first third of the documents is represented more than by summaries that prefer no place"
    women = "The list women is used less than by summaries that take no side"
    found = title(numbers, [representation(numbers, "stance"), *others], [], SYSTEMS[:1])
    assert found.startswith("left has 30.0 % of the documents' words")
    assert found.endswith(f"that take no side. {place}. {women}")
    # also where nobody is named by shares, or nothing is expected of them
    unclear = sides(number("left", 0.2, gap=-0.1))
    nobody = "No stance is clearly represented less or more than by summaries that take no side"
    assert (
        title(unclear, [representation(unclear, "stance"), *others], [], SYSTEMS[:1]) == f"{nobody}. {place}. {women}"
    )
    bare = [number(None, 0.9, BUR), *sides(number("left", 0.2))]
    assert title(bare, others, [], SYSTEMS[:1]) == f"What the measure means. {place}. {women}"
    less = "left is covered less than by summaries that take no side"
    told = title(unclear, [representation(unclear, "stance"), clear("coverage", "left", "lower")], [], SYSTEMS[:1])
    assert told == f"{nobody}. By coverage, however, {less}"
    # shares that were not tested are at odds with nothing
    told = title(bare, [clear("coverage", "left", "lower")], [], SYSTEMS[:1])
    assert told == f"What the measure means. By coverage, {less}"
    # where both say the same, nothing is "however"
    told = title(numbers, [representation(numbers, "stance"), clear("coverage", "left", "lower")], [], SYSTEMS[:1])
    assert told.endswith(f"that take no side. {less}")
    # where shares were not measured, the first family that names somebody has its numbers
    first = of("order", number("first third", 0.3), number("last third", 0.3, gap=-0.1, verdict="lower"))
    its = [number("last third", 0.3, gap=-0.1, verdict="lower").model_copy(update={"family": "order"})]
    told = title(its, [first], [], SYSTEMS[:1])
    assert told.startswith("The last third of the documents has")


def of(family, *numbers):
    return representation([each.model_copy(update={"family": family}) for each in numbers], "stance")


@pytest.mark.parametrize("family", ["value-shares", "tone", "word-lists"])
@pytest.mark.parametrize("few", [{"small": True}, {"width": None}])
def test_nobody_is_cleared_by_too_few_sets(family, few):
    found = of(family, number("left", 0.5, gap=-0.5, **few), number("right", 0.5, gap=0.5, **few))
    assert (
        found.sentence
        == "left, right: too few sets for a verdict (5 are needed, or as many as --least-group asks for)."
    )
    assert (found.small, found.details) == (("left", "right"), ())


def test_room_is_the_only_thing_that_a_value_has_more_or_less_of_in_a_headline():
    def clear(family, under, over):
        made = [number(value, 0.2, gap=-0.1, verdict="lower") for value in under]
        return of(family, *made, *(number(value, 0.4, gap=0.1, verdict="higher") for value in over))

    shares = clear("value-shares", ("left", "third"), ("right",))
    numbers = [number(value, 0.2, gap=-0.1) for value in ("left", "right", "third")]
    assert title(numbers, [shares, clear("coverage", ("right",), ("left", "third"))], [], SYSTEMS[:1]).endswith(
        "; by coverage, however, left and third are more present and right less"
    )
    assert title(numbers, [shares, clear("coverage", ("right",), ())], [], SYSTEMS[:1]).endswith(
        "; by coverage, however, right is less present"
    )
    # and whom it names besides
    assert title(numbers, [shares, clear("coverage", ("right", "centre"), ())], [], SYSTEMS[:1]).endswith(
        "right is less present. centre is covered less than by summaries that take no side"
    )
    for family in ("tone", "order", "word-lists"):
        assert "however" not in title(numbers, [shares, clear(family, ("right",), ("left",))], [], SYSTEMS[:1])
        assert "however" not in title(numbers, [clear(family, ("right",), ("left",)), shares], [], SYSTEMS[:1])


def test_a_gap_that_is_the_same_in_all_sets_has_no_interval_in_its_detail():
    (flat,) = of("word-lists", number("left", 0.0, gap=-0.5, verdict="lower", width=0)).details
    assert flat.endswith("a gap of \u221250.0 points (no variation) by a null.")
    (wide,) = of("word-lists", number("left", 0.0, gap=-0.5, verdict="lower", width=0.1)).details
    assert wide.endswith("a gap of \u221250.0 points (\u221260.0 to \u221240.0) by a null.")


@pytest.mark.parametrize("name", ["t", "th", "women"])
def test_a_sentence_begins_with_a_capital_unless_a_value_does(name):
    clear = number(name, 0.2, gap=-0.1, verdict="lower")
    assert of("word-lists", clear).sentence == f"The list {name} is used less than by summaries that take no side."
    assert of("value-shares", clear).sentence.startswith(f"{name} is represented less")
