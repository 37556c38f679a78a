import pytest
from audit_inputs import make_input, make_set

from evenhand.evaluation.audit.build import build_audit
from evenhand.evaluation.audit.named import AUDIT_PAGE
from evenhand.evaluation.audit.page import page
from evenhand.evaluation.audit.plan import AuditPlan
from evenhand.evaluation.pages.blocks import tables
from evenhand.fairness.content_tokens import content_tokens
from evenhand.fairness.groups.masses import Unscored
from evenhand.plugins.tone.family import SILENT, TONE_IN_SUMMARIES, Tone
from evenhand.resampling import Bootstrap

PLAN = AuditPlan(measures=("tone",), bootstrap=Bootstrap(level=0.95, resamples=100, seed=0))


class Plain:
    """Counts two words."""

    name, signature = "plain", "plain"

    def amounts(self, texts):
        return [(float(text.count("good")), float(text.count("bad"))) for text in texts]

    def close(self):
        pass


TONE = Tone(Plain(), content_tokens, "words", ("left", "right"))


def sets(n):
    return [
        make_set(
            f"s{k}",
            ("left", "The ferry is good. The harbour is good."),
            ("right", "The tunnel is good. The toll is bad."),
        )
        for k in range(n)
    ]


def measured(*texts):
    given = make_input(sets(len(texts)), mine=list(texts))
    return given, TONE.measure(given.items(given.systems[0]))


def test_a_side_spoken_of_in_hostile_words_is_named_though_it_has_its_room():
    fair = ["The ferry is good. The tunnel is good."] * 20
    hostile = [f"The ferry is {'bad' if k else 'good'}. The tunnel is good." for k in range(20)]
    given = make_input(sets(20), fair=fair, hostile=hostile)
    found = build_audit(given, PLAN, [TONE])
    assert {each.system: (each.under, each.over) for each in found.represented} == {
        "fair": ((), ()), "hostile": (("left",), ())
    }  # fmt: skip
    (number,) = (n for n in found.by_value if (n.system, n.side, n.kind) == ("hostile", "left", TONE_IN_SUMMARIES))
    assert number.value == pytest.approx(1 / 20)
    # beside "ferry" the documents are good alone, beside "bad" never: between 0 and 1 lies .5, the mean of both words
    assert number.gap.value == pytest.approx(-(19 / 20) * 0.5)


def test_without_a_toned_sentence_that_has_a_word_of_one_side_there_is_no_tone():
    _, found = measured("The moon is good.", "", "The ferry runs.")
    assert found == [Unscored(SILENT), Unscored("empty summary"), Unscored(SILENT)]


def test_an_example_has_the_tone_of_each_sentence():
    given, (found,) = measured("The ferry is bad. The tunnel is good.")
    example = TONE.example(given.items(given.systems[0])[0], found)
    assert example.left_out == ("left",)
    assert [line.note for line in example.lines] == ["positive 0.00, negative 1.00", "positive 1.00, negative 0.00"]
    # "bad" is a word of the right alone
    assert example.lines[0].takes == {"left": 1.0, "right": 1.0}


def test_what_is_expected_is_a_range_within_which_a_tone_has_a_gap_of_0_without_interval():
    # beside "ferry" the documents are good alone; of "ferry", "toll", "good" and "bad" half are
    mixed = ["The ferry and the toll are good, good and bad."] * 20
    fair = build_audit(make_input(sets(20), mine=mixed), PLAN, [TONE])
    (number,) = (n for n in fair.by_value if (n.side, n.kind) == ("left", TONE_IN_SUMMARIES))
    assert number.gap.between == pytest.approx((1 / 2, 1))
    assert number.gap.expected == number.value == pytest.approx(2 / 3)
    assert (number.gap.value, number.gap.low, number.gap.high) == (0.0, None, None)
    (told,) = (n for n in AUDIT_PAGE.read(fair).numbers if (n.functions, n.side) == (("gap",), "left"))
    assert told.is_inside
    (tones,) = (table for table in tables(page(fair).body) if table.name == "tone")
    cell = next(row.cells[3] for row in tones.rows if row.cells[0].text == "left")
    assert (cell.interval, cell.note) == ("", "50.0 to 100.0 % expected")
