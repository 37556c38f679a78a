"""Where systems stand in the plane of two judges: better to the right and above."""

from evenhand.evaluation.report.systems.contents import JudgeNote, Plane, PlanePoint
from evenhand.evaluation.report.systems.planes import caution, drawn, standing
from evenhand.evaluation.report.systems.tables import plane_blocks
from evenhand.number import Number


def judge(name, better, role="report"):
    return JudgeNote(name=name, signature=name, role=role, better=better)


def exact(value):
    return Number(value=value, low=value, high=value)


def point(name, quality, fairness, standing="on the front", behind=()):
    return PlanePoint(
        name=name,
        label=name,
        k=1,
        quality=exact(quality),
        fairness=exact(fairness),
        standing=standing,
        behind=behind,
    )


def test_lower_is_further_up_where_lower_is_better():
    plane = Plane(quality="recall", fairness="uer", points=(point("fair", 0.0, 0.0), point("good", 1.0, 1.0)))
    plot = drawn(plane, judge("recall", "higher"), judge("uer", "lower"))
    assert plot.x.scale.at(0.0) < 50 < plot.x.scale.at(1.0)
    assert plot.y.scale.at(1.0) < 50 < plot.y.scale.at(0.0)


def test_front_goes_from_left_to_right_over_the_systems_on_it():
    # in both directions the axes reach from 0 to 1 with 6 % of room
    points = (point("fair", 0.0, 0.0), point("good", 1.0, 1.0), point("lost", 0.5, 1.0, "off the front", ("good",)))
    plane = Plane(quality="recall", fairness="uer", points=points)
    plot = drawn(plane, judge("recall", "higher"), judge("uer", "lower"))
    (left, high), (right, low) = plot.front
    assert left < right
    assert high > low
    assert [(each.name, each.style) for each in plot.points] == [("fair", 0), ("good", 1), ("lost", 2)]


def test_axis_that_summaries_were_chosen_by_is_said():
    for role, said in (("report", ""), ("both", ""), ("reward", "Of the reward alone: uer.")):
        told = caution((judge("recall", "higher"), judge("uer", "lower", role)))
        assert told.startswith(said) and bool(told) == bool(said)
    both = caution((judge("recall", "higher", "reward"), judge("uer", "lower", "reward")))
    assert both.startswith("Of the reward alone: recall and uer.")


def test_plane_without_a_point_is_not_drawn():
    nothing = Plane(quality="a", fairness="b", points=())
    assert list(plane_blocks([nothing], [judge("a", "higher"), judge("b", "lower")])) == []


def test_standing_says_who_is_better():
    assert standing(point("a", 0.1, 0.1)) == "on the front"
    assert standing(point("a", 0.1, 0.1, "off the front", ("b",))) == "off the front: b beats it"
    said = standing(point("a", 0.1, 0.1, "no clear difference", ("b", "c", "d")))
    assert said == "no clear difference: b and 2 more beat it, by the means alone"
