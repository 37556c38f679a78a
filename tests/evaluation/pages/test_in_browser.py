"""Every kind of page in a browser: a quiet console, nothing wider than a phone, readable by all in both colours and on paper."""

from pathlib import Path
from typing import Any

import pytest
from audit_inputs import make_input, shares_of, two_sided
from browsing import look_at
from sheets import make_item, make_sheet

from evenhand.config.judges import RougeJudge
from evenhand.corpora.controlled import ControlledSet, read_controlled
from evenhand.evaluation.audit.build import build_audit
from evenhand.evaluation.audit.named import AUDIT_PAGE
from evenhand.evaluation.audit.page import page as audit_page
from evenhand.evaluation.audit.plan import AuditPlan
from evenhand.evaluation.gate.decide import gated
from evenhand.evaluation.gate.limits import GateRequest, parse_limit
from evenhand.evaluation.pages import html
from evenhand.evaluation.pages.blocks import Page
from evenhand.evaluation.report.checkpoint.build import build_report
from evenhand.evaluation.report.checkpoint.page import page as report_page
from evenhand.evaluation.report.comparison.build import build_comparison
from evenhand.evaluation.report.comparison.entries import NamedRecipe, read_entries
from evenhand.evaluation.report.comparison.page import page as comparison_page
from evenhand.judges import open_judges
from evenhand.plugins.bias import study as bias
from evenhand.plugins.bias.recipe import BiasRecipe
from evenhand.plugins.cards.pairs import pairs_page
from evenhand.plugins.judge_studies import run as judge_audit
from evenhand.plugins.judge_studies import train_judge
from evenhand.plugins.judge_studies.benchmark import benchmark
from evenhand.plugins.judge_studies.benchmark_page import page as benchmark_page
from evenhand.plugins.judge_studies.page import page as judges_page
from evenhand.plugins.judge_studies.people.agreement import group_agreement
from evenhand.plugins.judge_studies.people.annotations.sheet import unblind
from evenhand.plugins.judge_studies.people.page import render_page
from evenhand.plugins.judge_studies.people.result_pages import agreement_page, results_page
from evenhand.plugins.judge_studies.people.results import human_results
from evenhand.plugins.judge_studies.scoring import BASELINES, judge_sets
from evenhand.plugins.judge_studies.training_page import page as training_page
from evenhand.plugins.opinions.labels import opinion_results
from evenhand.plugins.opinions.labels_page import opinions_page
from evenhand.plugins.opinions.reader import AnnotatedSummary
from evenhand.records import Judgement
from evenhand.rerank.pairs import preference_pair
from evenhand.resampling import Bootstrap
from evenhand.runfolder.files import with_groups
from evenhand.runfolder.phases import JUDGEMENTS, PAIRS, open_phase
from evenhand.storage import read_jsonl, write_jsonl

pytestmark = pytest.mark.slow
DRAWS = Bootstrap(resamples=100)
RECALL = RougeJudge(kind="rouge", measure="recall")
EVIL = "<b>a_name</b>_that_goes_on_and_on_without_a_place_to_break|`x`"


def report(run: Any, folder: Path) -> Page:
    return report_page(build_report(run.recipe, None))


def pairs(run: Any, folder: Path) -> str:
    phase = open_phase(run.recipe, "round-00")
    run.write(phase.name, {"t/left": [(0.1,), (0.5,)]}, candidate=lambda _, index: {"text": f"{EVIL} {index}"})
    (_, group) = next(with_groups(phase.folder))
    write_jsonl(phase.folder / PAIRS, [preference_pair(group, group.candidates[1], group.candidates[0])])
    said = read_jsonl(phase.folder / JUDGEMENTS, Judgement)
    write_jsonl(phase.folder / JUDGEMENTS, [said[0].model_copy(update={"raw": EVIL, "signature": EVIL}), *said[1:]])
    return html.render(pairs_page(phase.folder, 200, "spread"))


def comparison(run: Any, folder: Path) -> Page:
    other = run.recipe.model_copy(update={"name": "other"})
    entries = read_entries([NamedRecipe(EVIL, run.recipe), NamedRecipe("other", other)])
    return comparison_page(build_comparison(entries))


def audit(run: Any, folder: Path) -> Page:
    given = make_input(two_sided(6), **{EVIL: ["Apple berry. River."] * 6, "mine": ["Cherry."] * 5 + [None]})
    plan = AuditPlan(bootstrap=DRAWS, least_group=3)
    shares = shares_of(given.values, mode=plan.mode, tau=plan.tau, target=plan.target)
    return audit_page(build_audit(given, plan, [shares]))


def gate(run: Any, folder: Path) -> Page:
    given = make_input(two_sided(6), **{EVIL: ["Apple berry. River."] * 6, "mine": ["Cherry."] * 5 + [None]})
    plan = AuditPlan(bootstrap=DRAWS, least_group=3)
    shares = shares_of(given.values, mode=plan.mode, tau=plan.tau, target=plan.target)
    limits = (parse_limit("worst_gap(shares) < -0.1", name=EVIL), parse_limit("opinion_graph < 0"))
    return audit_page(gated(build_audit(given, plan, [shares]), AUDIT_PAGE, GateRequest(limits)))


def bias_study(run: Any, folder: Path) -> Page:
    recipe = BiasRecipe.model_validate(
        {
            "name": "study",
            "output": folder / "study",
            "inputs": {"assignments": 2},
            "simulated": "one-sided",
            "measures": {"persons": "known", "encoder": None, "resamples": 100},
        }
    )
    return bias.page(bias.bias_study(recipe).report)


def human_scores(run: Any, folder: Path) -> str:
    units = [unit for _, unit in unblind(make_sheet(*(make_item(f"{name}/left") for name in "abcdef")), None)]
    return html.render(results_page(human_results(units, {("not finished", "left"): 1}, DRAWS)))


def agreement(run: Any, folder: Path) -> str:
    units = {name: [unit for _, unit in unblind(make_sheet(annotator=name), None)] for name in ("anna", "ben")}
    return html.render(agreement_page(group_agreement(units, draws=2, seed=0)))


def opinions(run: Any, folder: Path) -> str:
    annotated = [
        AnnotatedSummary(
            set_id="us",
            summary_id=name,
            annotators=("a",),
            opinions=("wall", "tax"),
            labels=(labels,),
            fairness=(fair,),
            reasons=(None,),
        )
        for name, labels, fair in (("1", ("complete", "absent"), "very_unfair"), ("2", ("absent", "absent"), None))
    ]
    return html.render(opinions_page(opinion_results(annotated)))


def annotation(run: Any, folder: Path) -> str:
    return render_page(make_sheet(make_item(), make_item("ferry/right")))


def judges(run: Any, folder: Path) -> Page:
    sets = [
        ControlledSet(
            id=f"{topic}-{side}",
            topic=topic,
            side=side,
            passages=("The ferry is cheap.",),
            n_key_points=2,
            summaries=(
                {"text": "Cheap and needed.", "relevant": 2},
                {"text": "Dear.", "relevant": 0, "opposite": 1},
            ),
        )
        for topic in ("ferry", "park")
        for side in ("left", "right")
    ]
    scored = judge_sets(open_judges({"length": BASELINES["length"]}), sets)
    found = benchmark(sets, scored, file=f"{EVIL}.jsonl", digest="0" * 16)
    return benchmark_page(found)


def audit_of_judges(run: Any, folder: Path) -> Page:
    path = folder / f"{EVIL.replace('/', '')}.jsonl"
    write_jsonl(path, read_controlled(Path("sample"))[:24])
    wanted = judge_audit.AuditRequest(path, {EVIL: RECALL, "length": BASELINES["length"]}, limit=12)
    return judges_page(judge_audit.audit_judges(judge_audit.prepare(wanted), folder / "out"))


def trained_judge(run: Any, folder: Path) -> Page:
    wanted = train_judge.TrainingRequest(
        "coverage", {EVIL: RougeJudge(kind="rouge", type="average", measure="fmeasure")}
    )
    return training_page(train_judge.train_judge(Path("sample"), wanted, folder / "out"))


PAGES = (
    *(report, pairs, comparison, audit, gate, bias_study, human_scores, agreement, opinions, annotation),
    *(judges, audit_of_judges, trained_judge),
)


@pytest.mark.parametrize("make", PAGES)
def test_page_is_quiet_fits_a_phone_and_is_readable_in_both_colours_and_on_paper(
    make: Any, small_run: Any, chromium: Any, tmp_path: Path
):
    made = make(small_run, tmp_path)
    pages = {"index.html": made}
    if isinstance(made, Page):
        assert made.overview is not None
        pages = {"index.html": html.overview(made, made.overview), "details.html": html.render(made)}
    for name, text in pages.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        look_at(chromium, tmp_path / name)
    if isinstance(made, Page):
        first_screen(chromium, tmp_path / "index.html")


def first_screen(chromium: Any, path: Path) -> None:
    """The first page is short, and its one picture begins on the first screen, the fitting drawing of the two."""
    for width, height, shown, hidden in ((1280, 800, "wide", "narrow"), (390, 844, "narrow", "wide")):
        page = chromium.new_page(viewport={"width": width, "height": height})
        page.goto(path.as_uri())
        drawn = page.locator(f"svg.picture.{shown}")
        if drawn.count():
            assert drawn.count() == 1 and drawn.is_visible() and not page.locator(f"svg.picture.{hidden}").is_visible()
            assert drawn.bounding_box()["y"] < height
        assert len(page.inner_text("body").split()) <= 900
        assert width == 390 or page.evaluate("document.documentElement.scrollHeight") <= 3000
        page.close()
