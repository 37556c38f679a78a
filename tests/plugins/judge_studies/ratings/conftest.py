"""Two products, three made-up systems and three raters, whose correlations a person can count."""

import json

import pytest

# raters of each summary, a column a rater: the third is stricter than the others and orders alike
SCORES = {"few": [(2, 1, 1), (3, 3, 2), (5, 4, 3)], "many": [(1, 2, 1), (4, 4, 2), (5, 5, 4)]}
TEXTS = ["Good.", "Good and cheap.", "Good and cheap, but it is loud."]


@pytest.fixture
def documents(tmp_path):
    """A file of two products."""
    path = tmp_path / "docs.jsonl"
    sets = [
        {
            "id": name,
            "documents": [{"id": f"{name}/1", "text": f"The {name} is good."}, {"id": f"{name}/2", "text": "Loud."}],
        }
        for name in SCORES
    ]
    path.write_text("".join(json.dumps(each) + "\n" for each in sets))
    return path


@pytest.fixture
def rows():
    """A row for each score: every rater of every summary."""
    return [
        {
            "id": name, "system": f"s{place}", "summary": TEXTS[place], "rater": f"r{rater}", "dimension": "faithfulness",
            "score": score,
        }
        for name, summaries in SCORES.items()
        for place, scores in enumerate(summaries)
        for rater, score in enumerate(scores)
    ]  # fmt: skip


@pytest.fixture
def written(tmp_path):
    """A function that writes rows as JSON lines, and gives the path."""

    def write(rows, name="ratings.jsonl"):
        path = tmp_path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    return write
