"""What of this plug-in is held to what every thing of its kind must do: see tests/conformance.py."""

from pathlib import Path
from typing import Any

from bad_input.good_files import Given, written

from evenhand.evaluation.pages import html
from evenhand.plugins.opinions.family import Opinions
from evenhand.plugins.opinions.labels import opinion_results
from evenhand.plugins.opinions.labels_page import opinions_page
from evenhand.plugins.opinions.measures.exposure import normal
from evenhand.plugins.opinions.reader import AnnotatedSummary
from evenhand.plugins.opinions.sections import ContrastJudge, OpinionGraphJudge
from evenhand.plugins.opinions.texts import read_opinion_texts


def read_case(*case: Any) -> Any:
    import opinion_operations

    return opinion_operations.read_case(*case)


def labelled(path, ids):
    """Summaries of a file with people's labels, by id."""
    read = read_opinion_texts(path, [("town", name) for name in ids])
    return {name: text for (_, name), text in read.summaries.items()}


JUDGES = {
    "opinion-graph": OpinionGraphJudge(kind="opinion-graph"),
    "contrast": ContrastJudge.model_validate({"kind": "contrast", "entailer": {"model": "org/model"}}),
}
TEXT_READERS = {"units": normal}
FAMILIES = {"opinions": lambda given: Opinions()}
SUMMARY_READERS = {"labelled": labelled}
VECTORS = {"opinion-bias": read_case}


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


PAGES = {"opinions": opinions}


OPINIONS = [
    {"set_id": "us", "opinions": {"wall": "Build the wall.", "tax": "He hides his taxes."}},
    {"set_id": "us", "summary_id": "us/a", "annotator": "anna", "labels": {"wall": "complete", "tax": -0.5},
     "fairness": "very_unfair"},
    {"set_id": "us", "summary_id": "us/a", "annotator": "ben", "labels": {"wall": "absent", "tax": "somewhat"},
     "reason": "groups"},
    {"set_id": "us", "summary_id": "us/b", "annotator": "ben", "labels": {"wall": "absent", "tax": 1}},
]  # fmt: skip


def _opinions(folder: Path) -> Given:
    path = written(folder / "opinions.jsonl", *OPINIONS)
    return Given(path, "jsonl", ("human", "opinions", path, "--out", folder / "out.json"))


def _opinion_table(folder: Path) -> Given:
    path = folder / "opinions.csv"
    path.write_text(
        "set_id,summary_id,annotator,fairness,reason,wall,tax\nus,us/a,anna,very_fair,groups,complete,-1\nus,us/b,ben,,,0.5,absent\n"
    )
    return Given(path, "text", ("human", "opinions", path))


def _opinion_texts(folder: Path) -> Given:
    path = written(
        folder / "texts.jsonl",
        {"set_id": "us", "units": ["Build the wall now.", "He hides his taxes again."]},
        {"set_id": "us", "gold": ["The wall and the taxes."]},
        {"set_id": "us", "summary_id": "us/a", "summary": "A wall."},
        {"set_id": "us", "summary_id": "us/b", "summary": "His taxes."},
    )
    return Given(path, "jsonl", ("human", "opinions", written(folder / "opinions.jsonl", *OPINIONS), "--texts", path))


FILES = {
    "opinions": _opinions,
    "opinion table": _opinion_table,
    "opinion texts": _opinion_texts,
}
