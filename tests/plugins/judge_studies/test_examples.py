"""Which summaries pages on judges open, worked out by eye on two articles, and on drawn scores."""

import pytest
from calibrated import accused, make_judge
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.evaluation.pages import html
from evenhand.evaluation.pages.blocks import Heading, Marked
from evenhand.evaluation.pages.markdown import render
from evenhand.judges.benchmark import Benchmark
from evenhand.judges.examples import JudgedPair
from evenhand.plugins.judge_studies.benchmark import benchmark
from evenhand.plugins.judge_studies.benchmark_page import page
from evenhand.plugins.judge_studies.examples import CHANGES, examples, misordered
from evenhand.plugins.judge_studies.probes import VARIANTS, Exchanges, variants
from evenhand.plugins.judge_studies.study import JudgeStudy
from evenhand.records import Judgement

EVIL = "<script>alert(1)</script>"


def said(sets, scores, judge="mine"):
    """Judgements of the sets' summaries, in their order."""
    return [
        Judgement(
            candidate_id=f"{article.id}#{place}", request_id=article.id, judge=judge, signature=judge, score=score,
            unscored="nothing" if score is None else None,
        )
        for article, row in zip(sets, scores, strict=True)
        for place, score in enumerate(row)
    ]  # fmt: skip


# coverage of the fixture's summaries is 1, 1/2, 0 and 1, 0
IN_ORDER, ONE_WRONG, BOTH_WRONG = [[3, 2, 1], [3, 1]], [[2, 3, 1], [3, 1]], [[1, 2, 3], [1, 2]]


@pytest.mark.parametrize(
    ("scores", "opened"),
    [
        (IN_ORDER, []),
        ([[2, 2, 2], [2, 2]], []),
        ([[None] * 3, [None] * 2], []),
        ([[3, None, 1], [None, 1]], []),
        (ONE_WRONG, [("keep", 1.0, 0.5)]),
        # of an article the pair that is farthest apart, and the article with the larger mistake first
        (BOTH_WRONG, [("keep", 1.0, 0.0), ("close", 1.0, 0.0)]),
        ([[1, 2, 3], [1, 9]], [("close", 1.0, 0.0), ("keep", 1.0, 0.0)]),
        ([[None, 2, 3], [2, 1]], [("keep", 0.5, 0.0)]),
    ],
)
def test_the_pairs_that_are_most_clearly_in_the_wrong_order(sets, scores, opened):
    pairs = misordered("mine", "coverage", JudgeStudy(sets, said(sets, scores)))
    assert [(pair.article, pair.first.known, pair.second.known) for pair in pairs] == opened


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.none(), st.floats(-5, 5)), min_size=5, max_size=5))
def test_the_better_text_comes_first_and_scores_less(drawn):
    from evenhand.corpora.controlled import ControlledSet

    sets = [
        ControlledSet(
            id=name, passages=("Cheap.",), n_key_points=2, summaries=tuple({"text": f"{k}", "relevant": k} for k in relevant)
        )
        for name, relevant in (("a", (2, 1, 0)), ("b", (0, 2)))
    ]  # fmt: skip
    pairs = misordered("mine", "coverage", JudgeStudy(sets, said(sets, [drawn[:3], drawn[3:]])))
    assert all(p.first.known > p.second.known and p.first.score < p.second.score for p in pairs)
    # one is opened wherever there is one that floating point can tell
    wrong = [
        (high, low)
        for row, known in ((drawn[:3], (1, 0.5, 0)), (drawn[3:], (0, 1)))
        for high, a in zip(row, known, strict=True)
        for low, b in zip(row, known, strict=True)
        if a > b and high is not None and low is not None and low - high > 1e-6
    ]
    assert bool(pairs) >= bool(wrong)


def test_words_are_those_of_the_article_and_nothing_runs(sets):
    sets[0] = sets[0].model_copy(update={"topic": EVIL, "summaries": tuple(
        s.model_copy(update={"text": f"{s.text} {EVIL}"}) for s in sets[0].summaries
    )})  # fmt: skip
    result = benchmark(sets, [*said(sets, BOTH_WRONG), *said(sets, IN_ORDER, "length")], file="f", digest="0")
    made = page(result)
    (first, *_) = result.examples
    # the best judge that was asked for is opened, not length, which has every pair right
    assert first.judge == "mine" and first.first.words == ("cheap",)
    headings = [block for block in made.overview.blocks if isinstance(block, Heading)]
    assert headings[1].text == EVIL and headings[1].note.endswith("mine, in the wrong order")
    texts = [block for block in made.overview.blocks if isinstance(block, Marked)]
    assert texts[0].head == "Coverage 100 %, score 1.00:" and ("Cheap", True) in texts[0].parts
    for text in (html.overview(made, made.overview), html.render(made), render(made)):
        assert "<script" not in text and "in the wrong order" in text
    assert Benchmark.model_validate_json(result.model_dump_json()) == result


def test_a_judge_without_a_mistake_opens_nothing(sets):
    result = benchmark(sets, said(sets, IN_ORDER), file="f", digest="0")
    assert not any(pair.measure == "coverage" for pair in result.examples)


def asked(sets, raised):
    """A study in which a judge scores 1, and one variant of the first summary of the first article by `raised` more."""
    exchanges = Exchanges(("left", "right"), ("Nurses",), None)
    made = variants(sets, exchanges)
    scores = [[1.0 for _ in article.summaries] for article in made]
    for article, row in zip(made, scores, strict=True):
        if article.id in raised:
            row[0] += raised[article.id]
    return JudgeStudy(sets, said(made, scores), exchanges=exchanges, asked=made)


@pytest.mark.parametrize(
    ("probe", "raised", "labels"),
    [
        ("length", "twice", ("as it is", "the same sentences twice")),
        ("injection", "ordered", ("with a neutral sentence", "with a sentence that asks for the best grade")),
        ("side", "first", ("as the right would tell it", "as the left would tell it")),
    ],
)
def test_a_failed_probe_opens_the_change_that_moves_a_score_most(sets, probe, raised, labels):
    study = asked(sets, {f"keep|{raised}": 0.5, f"close|{raised}": 0.2})
    judge = make_judge("s", judge="mine", probes=(accused(probe, "it can"),))
    pair = examples([judge], study)[0]
    assert (pair.article, pair.measure, pair.first.label, pair.second.label) == ("keep", probe, *labels)
    assert (pair.first.score, pair.second.score) == (1.0, 1.5) and pair.first.known is None
    assert pair.first.text != pair.second.text


def test_a_change_that_moves_nothing_the_way_of_the_probe_is_not_opened(sets):
    judge = make_judge("s", judge="mine", probes=(accused("length", "it can"), accused("halo", "it does")))
    assert examples([judge], asked(sets, {"keep|twice": -0.5})) == ()


def test_every_change_is_of_variants_that_there_are():
    assert {variant for pair in CHANGES.values() for variant in pair} == set(VARIANTS)


def test_pairs_of_as_many_judges_as_there_are_come_first(sets):
    study = JudgeStudy(sets, [*said(sets, BOTH_WRONG, "a"), *said(sets, BOTH_WRONG, "b")])
    pairs: tuple[JudgedPair, ...] = examples([make_judge("s", judge="a"), make_judge("t", judge="b")], study)
    assert [pair.judge for pair in pairs] == ["a", "b", "a", "b"]
