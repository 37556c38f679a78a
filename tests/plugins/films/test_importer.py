"""Critics' snippets of films: contested films become sets, each with one split, whatever names it has."""

import bz2
import csv
import io

import pytest

from evenhand.corpora.splits import refuse_leakage
from evenhand.errors import DataError, StorageError
from evenhand.plugins.films.importer import read_films


def written(path, rows, columns=("category", "text", "movie_name", "has_plot_and_reviews")):
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerows([columns, *rows])
    content = text.getvalue().encode()
    path.write_bytes(bz2.compress(content) if path.suffix == ".bz2" else content)
    return path


def snippets(film, n_fresh, n_rotten):
    verdicts = ["fresh"] * n_fresh + ["rotten"] * n_rotten
    return [(verdict, f"{film}, says critic {i}, is {verdict}.", film, "True") for i, verdict in enumerate(verdicts)]


@pytest.mark.parametrize("name", ["films.csv", "films.csv.bz2"])
def test_contested_films_become_sets_and_the_others_are_counted(tmp_path, name):
    rows = [
        ("plot", "A ship sinks.", "the_ship", "True"),
        *snippets("the_ship", 6, 2),
        *snippets("few", 3, 3),
        *snippets("praised", 9, 1),
        *snippets("panned", 1, 9),
    ]
    found = read_films(written(tmp_path / name, rows))
    (ship,) = found.sets
    assert (ship.id, ship.topic, len(ship.documents)) == ("the_ship", "The Ship", 8)
    assert ship.values("verdict") == ("fresh", "rotten")
    assert ship.declared_values("verdict") == ("fresh", "rotten")
    assert ship.documents[0].text == "the_ship, says critic 0, is fresh."
    assert sum(found.left_out.values()) == 1 + 3


def test_splits_follow_the_name_and_are_seven_to_one_and_a_half_each(tmp_path):
    rows = [row for i in range(400) for row in snippets(f"film_{i}", 4, 4)]
    sets = read_films(written(tmp_path / "films.csv", rows)).sets
    again = read_films(written(tmp_path / "fewer.csv", rows[-80:])).sets
    splits = {documents.id: documents.split for documents in sets}
    assert {documents.id: documents.split for documents in again}.items() <= splits.items()
    share = {name: list(splits.values()).count(name) / 400 for name in ("train", "validation", "test")}
    assert share["train"] == pytest.approx(0.7, abs=0.07)
    assert share["validation"] == pytest.approx(0.15, abs=0.05)
    assert share["test"] == pytest.approx(0.15, abs=0.05)


def test_films_that_share_a_snippet_have_one_split(tmp_path):
    # a chain of twins: were each split by its own name, one of them would stand on another side
    shared = [
        [("fresh", f"Shared  by {i} and the next.", f"film_{each}", "True") for each in (i, i + 1)] for i in range(20)
    ]
    rows = [row for i in range(21) for row in snippets(f"film_{i}", 4, 4)]
    rows += [
        ("fresh", row[1].upper() if n else row[1], row[2], row[3]) for pair in shared for n, row in enumerate(pair)
    ]
    sets = read_films(written(tmp_path / "films.csv", rows)).sets
    assert len({documents.split for documents in sets}) == 1
    refuse_leakage([each for each in sets if each.split == "train"], [each for each in sets if each.split != "train"])


def test_all_mistakes_are_told_with_their_lines(tmp_path):
    rows = [*snippets("a", 4, 4), ("mixed", "So so.", "a", ""), ("fresh", "  ", "a", ""), ("fresh", "Fine.", "", "")]
    with pytest.raises(DataError) as error:
        read_films(written(tmp_path / "films.csv", rows))
    text = str(error.value)
    assert "films.csv:10: category 'mixed' is not one of fresh, rotten, plot" in text
    assert "films.csv:11: column 'text' is empty" in text
    assert "films.csv:12: column 'movie_name' is empty" in text


def test_a_file_of_another_form_is_refused(tmp_path):
    with pytest.raises(DataError, match="has no column 'movie_name'; its columns are 'category', 'text'"):
        read_films(written(tmp_path / "films.csv", [("fresh", "Fine.")], ("category", "text")))
    with pytest.raises(DataError, match="has no film with at least 8 snippets and 2 of each verdict"):
        read_films(written(tmp_path / "few.csv", snippets("few", 2, 2)))
    (tmp_path / "cut.csv.bz2").write_bytes(bz2.compress(b"category,text\n" * 99)[:-9])
    with pytest.raises(StorageError, match="is not a whole bzip2 file"):
        read_films(tmp_path / "cut.csv.bz2")


def test_rows_with_too_many_or_too_few_cells_are_refused_by_line(tmp_path):
    path = written(tmp_path / "films.csv", snippets("a", 4, 4))
    n_lines = len(path.read_text().splitlines())
    first = path.read_text().splitlines()[1]
    path.write_text(path.read_text() + first + ",more\n" + first.rpartition(",")[0] + "\n")
    with pytest.raises(DataError) as error:
        read_films(path)
    assert f"films.csv:{n_lines + 1}: has more cells than there are columns" in str(error.value)
    assert f"films.csv:{n_lines + 2}: has fewer cells than there are columns" in str(error.value)


def test_a_snippet_that_a_film_has_twice_is_taken_once_and_entities_become_characters(tmp_path):
    twice = [("fresh", "Ship &amp; sea.", "a", ""), ("fresh", "Ship  & Sea.", "a", "")]
    found = read_films(written(tmp_path / "films.csv", [*snippets("a", 4, 4), *twice]))
    assert found.sets[0].documents[-1].text == "Ship & sea."
    assert len(found.sets[0].documents) == 9
    assert found.left_out == {"snippets that a film has twice": 1}


def test_repeats_do_not_make_a_film_large_enough(tmp_path):
    rows = [*snippets("a", 4, 4), *snippets("b", 4, 3), snippets("b", 4, 3)[0]]
    assert [film.id for film in read_films(written(tmp_path / "films.csv", rows)).sets] == ["a"]
