"""What of this plug-in is held to what every thing of its kind must do: see tests/conformance.py."""

from pathlib import Path

from bad_input.good_files import REPOSITORY, Given, written

from evenhand.corpora.annotated import AnnotatedArticle
from evenhand.plugins.controlled.plan import controlled_plan
from evenhand.plugins.controlled.points import adversarial_tasks, key_point_tasks
from evenhand.plugins.controlled.summaries import PlannedText, summary_tasks


def prompts(text):
    """Every prompt that is asked, with the text wherever a foreign one stands."""
    article = AnnotatedArticle.model_validate(
        {"id": "b", "topic": text, "passages": [f"It is cheap. {text}"], "excerpts": [{"passage": 0, "text": text}]}
    )
    plan = PlannedText(
        id="b#0", article_id="b", side=None, relevant=(0,), opposite=(), adversarial=(), points=(text, f"Cheap. {text}")
    )
    tasks = [
        *key_point_tasks([article]),
        *adversarial_tasks([article], {"b": [text]}),
        *summary_tasks({"b": article}, [plan]),
    ]
    return [task.prompt for task in tasks]


def controlled_plan_of(given):
    return {"combinations": controlled_plan(given["relevant"], given["opposite"])}


OPERATIONS = {"controlled_plan": controlled_plan_of}
PROMPTS = {"controlled": prompts}


def _build_controlled(folder: Path) -> Given:
    path = folder / "controlled.yaml"
    path.write_bytes((REPOSITORY / "recipes" / "controlled" / "sample.yaml").read_bytes())
    return Given(path, "yaml", ("judges", "controlled", path, "--dry-run"))


def _articles(folder: Path) -> Given:
    records = [
        {
            "id": f"a{k}",
            "topic": "ferry",
            "side": side,
            "passages": ["It is cheap.", "It is quick."],
            "key_points": ["Cheap.", "Quick."],
        }
        for k, side in enumerate(("left", "right"))
    ]
    path = written(folder / "articles.jsonl", *records)
    shipped = REPOSITORY / "recipes" / "controlled" / "sample.yaml"
    return Given(path, "jsonl", ("judges", "controlled", shipped, "--dry-run", "--set", f"input={path}"))


FILES = {
    "controlled recipe": _build_controlled,
    "articles": _articles,
}
