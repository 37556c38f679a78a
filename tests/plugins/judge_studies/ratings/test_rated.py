"""People's ratings as truth: what is read, what is refused, and that no score is made up."""

import numpy as np
import pytest

from evenhand.corpora import read_any
from evenhand.errors import DataError, RecipeError
from evenhand.plugins.judge_studies.ratings.articles import RatingsRequest
from evenhand.plugins.judge_studies.ratings.rated import read_rated
from evenhand.plugins.judge_studies.ratings.scales import RatingScale, scales_of
from evenhand.text.cells import csv_text


@pytest.fixture
def read(documents, written):
    def ratings(rows, **options):
        return read_rated(RatingsRequest(written(rows), read_any(documents), **options))

    return ratings


def changed(rows, place, **cells):
    return [*rows[:place], {**rows[place], **cells}, *rows[place + 1 :]]


def test_the_truth_is_the_mean_of_the_raters(read, rows):
    rated = read(rows)
    assert [each.id for each in rated.sets] == ["few", "many"]
    assert rated.raters == ("r0", "r1", "r2")
    # (2 + 1 + 1) / 3, (3 + 3 + 2) / 3, (5 + 4 + 3) / 3, and of the other product likewise
    assert rated.truths["faithfulness"] == pytest.approx(np.array([[4 / 3, 8 / 3, 4.0], [4 / 3, 10 / 3, 14 / 3]]))
    assert rated.sets[0].passages == ("The few is good.", "Loud.")
    assert rated.notes == (
        "Scores: from 1 to 5, higher taken to be better (faithfulness).",
        "Only 3 people scored; others may see it otherwise.",
    )


def test_a_table_reads_like_json_lines(read, rows, documents, tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text(csv_text([list(rows[0]), *[list(row.values()) for row in rows]]))
    rated = read_rated(RatingsRequest(path, read_any(documents)))
    assert np.array_equal(rated.scores["faithfulness"], read(rows).scores["faithfulness"])


def test_the_order_of_rows_does_not_matter(read, rows):
    turned = read(rows[::-1])
    assert turned.truths["faithfulness"][::-1, ::-1] == pytest.approx(read(rows).truths["faithfulness"])


def test_the_texts_of_what_was_summarised_may_stand_with_the_ratings(written, rows):
    rated = read_rated(RatingsRequest(written([{**row, "documents": ["One.", "Two."]} for row in rows])))
    assert rated.sets[0].passages == ("One.", "Two.")
    with pytest.raises(DataError, match=r"ratings\.jsonl:1: what was summarised is not known; give the document sets"):
        read_rated(RatingsRequest(written(rows)))


def test_texts_of_one_set_that_differ_are_refused(written, rows):
    texts = [{**row, "documents": ["One." if place else "Two."]} for place, row in enumerate(rows)]
    with pytest.raises(DataError, match=r"ratings\.jsonl:1: 'few' has other documents in other rows"):
        read_rated(RatingsRequest(written(texts)))


def test_nobody_who_rated_anything_is_refused(read, rows):
    with pytest.raises(DataError, match=r"ratings\.jsonl: every score is empty, so nobody rated anything"):
        read([{**row, "score": None} for row in rows])


def test_columns_of_dimensions_are_named_and_taken(read, rows):
    wide = [
        {
            "id": row["id"],
            "summary": row["summary"],
            "rater": row["rater"],
            "truth": row["score"],
            "style": 6 - row["score"],
        }
        for row in rows
    ]
    rated = read(wide, dimensions=("truth", "style"))
    assert rated.truths["truth"] + rated.truths["style"] == pytest.approx(np.full((2, 3), 6.0))
    with pytest.raises(DataError, match=r"no column of scores; .*'truth', 'style' could be: --dimension 'truth'"):
        read(wide)
    with pytest.raises(DataError, match=r"has no column 'trutth'; did you mean 'truth'\?"):
        read(wide, dimensions=("trutth",))
    # a score of the whole stands beside them
    both = [row | {"score": 3} for row in wide]
    assert read(both, dimensions=("truth",)).truths["truth"] == pytest.approx(rated.truths["truth"])
    assert list(read(both).truths) == ["score"]


def test_a_dimension_that_a_file_of_scores_alone_lacks_is_refused(read, rows):
    plain = [{key: cell for key, cell in row.items() if key != "dimension"} for row in rows]
    with pytest.raises(DataError, match=r"--dimension 'truth': .*has no such dimension\.\nits dimensions are 'score'$"):
        read(plain, dimensions=("truth",))


def test_an_empty_score_is_no_score_and_is_counted(read, rows):
    rated = read(changed(rows, 0, score=None))
    assert rated.truths["faithfulness"][0, 0] == pytest.approx(1.0)
    assert rated.notes[-1] == "Left out: 1 ratings without a score."


def test_groups_of_raters_have_a_truth_each(read, rows):
    rated = read([{**row, "group": "critics" if row["rater"] == "r2" else "buyers"} for row in rows])
    assert rated.truths["faithfulness, critics"][0] == pytest.approx([1, 2, 3])
    assert rated.truths["faithfulness, buyers"][0] == pytest.approx([1.5, 3, 4.5])
    assert rated.truths["faithfulness"] == pytest.approx(read(rows).truths["faithfulness"])


def test_a_scale_that_is_best_at_its_low_end_is_turned_round(read, rows):
    turned = read([{**row, "score": 6 - row["score"]} for row in rows], scales=scales_of(["faithfulness=5..1"]))
    plain = read(rows)
    assert np.array_equal(turned.scores["faithfulness"], plain.scores["faithfulness"] - 6)
    assert turned.notes[0] == "Scores: 5 is worst and 1 best, as stated (faithfulness)."


@pytest.mark.parametrize("entry", ["5", "1..1", "a..b", "1-5", "1.2.3..5"])
def test_what_is_no_scale_is_refused(entry):
    with pytest.raises(RecipeError, match=r"write .*WORST\.\.BEST"):
        scales_of([entry])


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"score": "good"}, r"ratings\.jsonl:2: the score of 'faithfulness' is 'good', which is no number"),
        ({"score": "4,5"}, r"ratings\.jsonl:2: .* is '4,5', which is no number; write a decimal point"),
        ({"score": True}, r"ratings\.jsonl:2: the score of 'faithfulness' is True"),
        ({"score": "nan"}, r"ratings\.jsonl:2: the score of 'faithfulness' is 'nan'"),
        ({"dimension": ""}, r"ratings\.jsonl:2: column 'dimension' is empty; say what was scored"),
        ({"id": "fewer"}, r"ratings\.jsonl:2: no document set has the id 'fewer'; the documents' ids are like 'few'"),
        ({"id": "Few"}, r"ids differ from the documents' only by capitals.*'Few' for 'few'"),
        (
            {"rater": "r0"},
            r"ratings\.jsonl:2: 'r0' has scored 'faithfulness' of this summary already, in .*ratings\.jsonl:1",
        ),
        ({"summary": "Bad."}, r"ratings\.jsonl:1, .*ratings\.jsonl:2: 's0' has several texts of 'few'"),
        ({"rater": ""}, r"ratings\.jsonl:2: column 'rater' is empty, and other rows name a rater"),
        ({"summary": 3}, r"ratings\.jsonl:2: column 'summary' holds 3, which is not a text"),
    ],
)
def test_a_wrong_rating_is_refused_with_its_line(read, rows, cells, message):
    with pytest.raises(DataError, match=message):
        read(changed(rows, 1, **cells))


def test_mistakes_are_listed_together(read, rows):
    wrong = changed(changed(rows, 0, score="good"), 5, dimension="")
    with pytest.raises(DataError) as error:
        read(wrong)
    assert [line.partition(": ")[0][-2:] for line in str(error.value).splitlines()] == [":1", ":6"]
    with pytest.raises(DataError, match=r"no document set has the id 'x'.*the same in 17 more rows"):
        read([{**row, "id": "x"} for row in rows])
    with pytest.raises(
        DataError, match=r"^\S+:1: .* is 'n/a', which is no number; write one.*; the same in 17 more rows$"
    ):
        read([{**row, "score": "n/a"} for row in rows])


@pytest.mark.parametrize(
    ("absent", "message"),
    [
        (("id",), "no column with the id of what was summarised"),
        (("summary", "system"), "does not say which summary was rated"),
        (("score",), "has no column of scores"),
    ],
)
def test_a_file_without_a_needed_column_is_refused_once(read, rows, absent, message):
    with pytest.raises(DataError, match=message) as error:
        read([{name: cell for name, cell in row.items() if name not in absent} for row in rows])
    assert "its columns are" in str(error.value)
    assert len(str(error.value).splitlines()) == 2


def test_columns_may_be_called_as_a_spreadsheet_writes_them(read, rows):
    titles = {
        "id": "ID",
        "system": "System",
        "summary": "Summary",
        "rater": "Rater ID",
        "dimension": "Criterion",
        "score": "Score",
    }
    titled = read([{titles[name]: cell for name, cell in row.items()} for row in rows])
    assert titled.raters == ("r0", "r1", "r2")
    assert np.array_equal(titled.scores["faithfulness"], read(rows).scores["faithfulness"])
    # a column that is named is the dimension of that name, whatever it looks like
    wide = [
        {**{k: v for k, v in row.items() if k not in {"score", "dimension"}}, "Score": row["score"]} for row in rows
    ]
    assert list(read(wide, dimensions=["Score"]).scores) == ["Score"]


def test_a_column_for_each_rater_is_no_dimension_for_each(read, rows):
    wide = {(row["id"], row["summary"]): {"id": row["id"], "summary": row["summary"]} for row in rows}
    for row in rows:
        wide[row["id"], row["summary"]][row["rater"]] = row["score"]
    with pytest.raises(
        DataError, match=r"'r0', 'r1', 'r2' could be.*Where these are raters, write a row for each score"
    ):
        read([*wide.values()])


def test_a_system_without_a_text_is_named_with_the_remedy(read, rows):
    bare = [{name: cell for name, cell in row.items() if name != "summary"} for row in rows]
    with pytest.raises(
        DataError, match=r"no text of the summary by 's0'\. Add a column 'summary', or give --summaries"
    ):
        read(bare)
    texts = {f"s{k}": {"few": "A text.", "many": "" if k else "Another."} for k in range(3)}
    rated = read(bare, summaries=texts)
    assert [len(each.summaries) for each in rated.sets] == [3, 1]
    assert rated.notes[-1] == "Left out: 2 rated summaries without a text."


def test_scores_off_a_stated_scale_are_refused(read, rows):
    with pytest.raises(DataError, match=r"ratings\.jsonl:7: the score of 'faithfulness' is 5, off its scale 1..4"):
        read(rows, scales={"": RatingScale(1, 4)})
    with pytest.raises(DataError, match=r"--scale fairness=: no such dimension; did you mean 'faithfulness'"):
        read(rows, scales={"fairness": RatingScale(1, 5)})


def test_raters_on_different_scales_are_not_averaged(read, rows):
    percent = [{**row, "score": 20 * row["score"]} if row["rater"] == "r2" else row for row in rows]
    with pytest.raises(
        DataError, match=r"'r2' scores 'faithfulness' from 20 to 80, all others from 1 to 5; bring them"
    ):
        read(percent)
    # the user knows better
    assert read(percent, scales={"": RatingScale(0, 100)}).scores["faithfulness"].max() == 80


def test_raters_who_say_nothing_or_the_contrary_are_named_and_stay(read, rows):
    same = read([{**row, "score": 4} if row["rater"] == "r1" else row for row in rows])
    assert (
        "One score for all summaries, which says nothing of their order: r1 (faithfulness: 4, 6 times)." in same.notes
    )
    turned = read([{**row, "score": 5 - row["score"]} if row["rater"] == "r2" else row for row in rows])
    assert turned.notes[-1].startswith(
        "Against the others, as if the scale were the other way round: r2 (faithfulness: rank correlation -0."
    )
    for rated in (same, turned):
        assert not np.isnan(rated.scores["faithfulness"]).any()


def test_ratings_of_nobody_in_particular_are_read_once_each(read, rows):
    unnamed = [{name: cell for name, cell in row.items() if name != "rater"} for row in rows]
    with pytest.raises(
        DataError, match=r"nobody is named, and somebody has scored .* or name the raters in a column 'rater'"
    ):
        read(unnamed)
    rated = read(unnamed[::3])
    assert rated.raters == ()
    assert "how far people agree among themselves is not known" in rated.notes[1]


def test_an_empty_file_and_plain_text_are_refused(documents, tmp_path):
    for text, message in (("", "has no ratings"), ("good\nbad\n", "ratings:1: 'good' is no row of named cells")):
        path = tmp_path / "ratings"
        path.write_text(text)
        with pytest.raises(DataError, match=message):
            read_rated(RatingsRequest(path, read_any(documents)))
