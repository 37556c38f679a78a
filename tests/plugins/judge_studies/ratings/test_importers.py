"""SummEval-OP's and Label Studio's forms, on made-up files: what becomes of them, and what is refused."""

import json

import commands
import pytest

from evenhand.corpora import read_any
from evenhand.errors import EvenhandError
from evenhand.plugins.judge_studies.ratings.articles import RatingsRequest
from evenhand.plugins.judge_studies.ratings.label_studio_ratings import read_label_studio_ratings
from evenhand.plugins.judge_studies.ratings.rated import read_rated
from evenhand.plugins.judge_studies.ratings.summeval_op import DIMENSIONS, read_summeval_op

REVIEWS = ["Warm and light.", "Warm, but it tore."]


def invoked(*arguments):
    return commands.invoked(*arguments).output


@pytest.fixture
def product():
    """Two summaries with the scores of three raters on every dimension."""
    scores = {letters: [[1, 2, 3], [4, 5, place % 5 + 1]] for place, letters in enumerate(DIMENSIONS)}
    return {"reviews": REVIEWS, "summaries": ["It tore.", "A warm coat that tore."], **scores}


@pytest.fixture
def averaged():
    """The other file's line of the same product."""
    return {
        "reviews": {f"rev{k}": text for k, text in enumerate(REVIEWS, start=1)},
        "summaries": {
            "gpt": {"summary": "It tore.", "dimensions": {"Fluency": 4.33, "Aspect Coverage": 2}},
            "plansum": {"summary": "A coat.", "dimensions": {"Fluency": 3, "Aspect Coverage": 1.67}},
        },
    }


def saved(tmp_path, *lines, name="op.jsonl"):
    path = tmp_path / name
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_every_score_of_every_rater_is_a_rating(product, tmp_path):
    out, ratings = tmp_path / "docs.jsonl", tmp_path / "ratings.jsonl"
    output = invoked("import", "summeval-op", saved(tmp_path, product), "--out", out, "--ratings", ratings)
    # 2 summaries, 3 raters, 7 dimensions
    assert "1 document set;" in output and "42 ratings" in output
    rated = read_rated(RatingsRequest(ratings, read_any(out)))
    assert list(rated.scores) == list(DIMENSIONS.values())
    assert rated.scores["faithfulness"].tolist() == [[[1, 2, 3], [4, 5, 4]]]
    assert rated.sets[0].passages == tuple(REVIEWS)


def test_means_are_nobodys_scores(averaged, product, tmp_path):
    rated = read_summeval_op(saved(tmp_path, averaged))
    assert [(row.system, row.rater, row.dimension, row.score) for row in rated.rows] == [
        ("gpt", "", "fluency", 4.33), ("gpt", "", "aspect coverage", 2.0),
        ("plansum", "", "fluency", 3.0), ("plansum", "", "aspect coverage", 1.67),
    ]  # fmt: skip
    # both files call a product alike
    assert rated.sets == read_summeval_op(saved(tmp_path, product, name="detailed.jsonl")).sets


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fa": [[1, 2, 3]]}, r"op\.jsonl:1: .*'fa' has scores of 1 summaries, and there are 2"),
        ({"co": [[1, 2, 9], [1, 2, 3]]}, r"op\.jsonl:1: .*co.*less than or equal to 5"),
        ({"reviews": []}, r"op\.jsonl:1: .*reviews"),
        ({"sp": None}, r"op\.jsonl:1: .*sp"),
    ],
)
def test_a_wrong_product_is_refused_with_its_line(product, tmp_path, change, message):
    with pytest.raises(EvenhandError, match=message):
        read_summeval_op(saved(tmp_path, {**product, **change}))


def test_lines_that_are_no_products_are_listed_together(product, tmp_path):
    path = saved(tmp_path, product, {"reviews": ["x"]}, [1])
    path.write_text(path.read_text() + "{\n")
    with pytest.raises(EvenhandError) as error:
        read_summeval_op(path)
    assert [line.partition(": ")[0].rpartition(":")[2] for line in str(error.value).splitlines()] == ["2", "3", "4"]
    with pytest.raises(EvenhandError, match="is empty"):
        read_summeval_op(saved(tmp_path, name="empty.jsonl"))


def test_neither_output_is_overwritten(product, tmp_path):
    path, out, ratings = saved(tmp_path, product), tmp_path / "docs.jsonl", tmp_path / "ratings.jsonl"
    ratings.write_text("mine")
    with pytest.raises(EvenhandError, match="already exists"):
        invoked("import", "summeval-op", path, "--out", out, "--ratings", ratings)
    assert ratings.read_text() == "mine" and not out.exists()


@pytest.fixture
def tasks():
    """Two rated summaries of one set, and one that its annotator skipped."""

    def task(summary, *annotations):
        return {
            "data": {"id": "coat", "system": "gpt", "summary": summary, "documents": REVIEWS},
            "annotations": [*annotations],
        }

    def answer(person, **values):
        return {
            "completed_by": person,
            "result": [{"from_name": name, "value": value} for name, value in values.items()],
        }

    return [
        task(
            "It tore.",
            answer(7, faithful={"rating": 4}, style={"choices": ["2"]}),
            answer({"id": 8}, faithful={"number": 3}),
        ),
        task("A coat.", answer(7, faithful={"rating": 1}, style={"choices": ["dull"]})),
        task("Fine.", {"completed_by": 7, "was_cancelled": True, "result": []}),
        task("Warm."),
    ]


def test_ratings_numbers_and_numeric_choices_are_scores(tasks, tmp_path):
    path = tmp_path / "export.json"
    path.write_text(json.dumps(tasks))
    rated = read_label_studio_ratings(path)
    assert [(row.summary, row.rater, row.dimension, row.score) for row in rated.rows] == [
        ("It tore.", "person 7", "faithful", 4.0), ("It tore.", "person 7", "style", 2.0),
        ("It tore.", "person 8", "faithful", 3.0), ("A coat.", "person 7", "faithful", 1.0),
    ]  # fmt: skip
    assert rated.left_out == {
        "answers without a number": 1,
        "annotations that were skipped": 1,
        "tasks that nobody annotated": 1,
    }
    assert [document.text for document in rated.sets[0].documents] == REVIEWS


def test_tasks_of_other_documents_or_without_a_summary_are_refused_together(tasks, tmp_path):
    tasks[1]["data"]["documents"] = ["Another coat."]
    del tasks[2]["data"]["summary"]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(tasks))
    with pytest.raises(EvenhandError) as error:
        read_label_studio_ratings(path)
    first, second = str(error.value).splitlines()
    assert "task 2: id 'coat' has other documents than in an earlier task" in first
    assert "task 3: its data have no text of a summary, under summary or prediction or text" in second
