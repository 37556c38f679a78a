"""Where systems stand in the plane of two judges: better to the right and above."""

from evenhand.evaluation.report.systems.contents import Estimate, JudgeNote, Plane, PlanePoint
from evenhand.evaluation.report.systems.planes import plane_plots, standing


def judge(name, better, role="report"):
    return JudgeNote(name=name, signature=name, role=role, better=better)


def estimate(mean):
    return Estimate(
        measure="m", signature="m", subject="s", side=None, mean=mean, low=mean, high=mean, n=9, n_sets=9, left_out=0,
        level=0.95, resamples=100, seed=0,
    )  # fmt: skip


def point(name, quality, fairness, standing="on the front", behind=()):
    return PlanePoint(
        name=name,
        label=name,
        k=1,
        quality=estimate(quality),
        fairness=estimate(fairness),
        standing=standing,
        behind=behind,
    )


def test_lower_is_further_up_where_lower_is_better():
    plane = Plane(quality="recall", fairness="uer", points=(point("fair", 0.0, 0.0), point("good", 1.0, 1.0)))
    (plot,) = plane_plots([plane], [judge("recall", "higher"), judge("uer", "lower")])
    assert plot.quality.scale.at(0.0) < 50 < plot.quality.scale.at(1.0)
    assert plot.fairness.scale.at(1.0) < 50 < plot.fairness.scale.at(0.0)


def test_front_goes_from_left_to_right_over_the_systems_on_it():
    # in both directions the axes reach from 0 to 1 with 6 % of room
    points = (point("fair", 0.0, 0.0), point("good", 1.0, 1.0), point("lost", 0.5, 1.0, "off the front", ("good",)))
    plane = Plane(quality="recall", fairness="uer", points=points)
    (plot,) = plane_plots([plane], [judge("recall", "higher"), judge("uer", "lower")])
    (left, high), (right, low) = plot.front
    assert left < right
    assert high > low
    assert plot.styles == {"fair": 0, "good": 1, "lost": 2}


def test_axis_that_summaries_were_chosen_by_is_said():
    plane = Plane(quality="recall", fairness="uer", points=(point("fair", 0.0, 0.0), point("good", 1.0, 1.0)))
    for role, said in (("report", ""), ("both", ""), ("reward", "Of the reward alone: uer.")):
        (plot,) = plane_plots([plane], [judge("recall", "higher"), judge("uer", "lower", role)])
        assert plot.caution.startswith(said) and bool(plot.caution) == bool(said)
    (plot,) = plane_plots([plane], [judge("recall", "higher", "reward"), judge("uer", "lower", "reward")])
    assert plot.caution.startswith("Of the reward alone: recall and uer.")


def test_plane_without_a_point_is_not_drawn():
    assert plane_plots([Plane(quality="a", fairness="b", points=())], [judge("a", "higher"), judge("b", "lower")]) == []


def test_standing_says_who_is_better():
    assert standing(point("a", 0.1, 0.1)) == "on the front"
    assert standing(point("a", 0.1, 0.1, "off the front", ("b",))) == "off the front: b beats it"
    said = standing(point("a", 0.1, 0.1, "no clear difference", ("b", "c", "d")))
    assert said == "no clear difference: b and 2 more beat it, by the means alone"
