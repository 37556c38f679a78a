"""Import of the authors' files. The texts here are invented; the real ones may not be shipped."""

import json
from itertools import accumulate

import pytest

from evenhand.config import CorpusSection, SplitSection, TaskSection
from evenhand.corpora import split_sets
from evenhand.errors import DataError, StorageError
from evenhand.fairness.groups.tokens import open_nltk
from evenhand.generate.requests import build_requests
from evenhand.plugins.polisum.importer import ReleasedItem, import_polisum, passages_of
from evenhand.records import DocumentSet
from evenhand.storage import read_jsonl, write_jsonl
from evenhand.text import sentences

LEFT = ["The ferry is cheap.", "Nurses need it."]
RIGHT = ["The ferry is dear."]


def item(stance, first=None, second=None, document=None, topic="The Ferry"):
    """An item as released: the passages asked for come first, whatever their side, under "Left:"."""
    asked, other = (LEFT, RIGHT) if stance == "left" else (RIGHT, LEFT)
    first, second = asked if first is None else first, other if second is None else second
    return {
        "topic": topic,
        "stance": stance,
        "input": "Summarise one side.\n\nLeft:\n" + "\n".join(first) + "\n\nRight:\n" + "\n".join(second),
        "document": "\n".join(first if document is None else document),
    }


def write(path, items):
    path.write_text(json.dumps(items))
    return path


def read(record):
    return passages_of(ReleasedItem.model_validate(record))


def test_a_left_item_is_taken_as_labelled():
    found = read(item("left"))
    assert (found.left, found.right, found.swapped) == (tuple(LEFT), tuple(RIGHT), False)


def test_exchanged_labels_of_a_right_item_are_repaired():
    # printed as released: the right passages under "Left:", the left ones under "Right:"
    found = read(item("right"))
    assert (found.left, found.right, found.swapped) == (tuple(LEFT), tuple(RIGHT), True)


def test_a_right_item_with_right_labels_is_not_touched():
    found = read(item("right", first=LEFT, second=RIGHT, document=RIGHT))
    assert (found.left, found.right, found.swapped) == (tuple(LEFT), tuple(RIGHT), False)


def test_equal_blocks_count_as_rightly_labelled():
    assert not read(item("right", first=RIGHT, second=RIGHT)).swapped


def test_white_space_of_document_and_block_may_differ():
    record = item("left")
    record["document"] = "  The ferry   is cheap.\n\nNurses need it. \n"
    assert read(record).left == tuple(LEFT)


def test_labels_with_a_space_and_passages_between_blank_lines_are_understood():
    record = item("right")
    record["input"] = "One side.\n\nLeft: \n\nThe ferry is dear.\n\nRight: \n\nThe ferry is cheap.\n\nNurses need it.\n"
    found = read(record)
    assert (found.left, found.right) == (tuple(LEFT), tuple(RIGHT))


def test_labels_may_stand_in_either_order():
    record = item("left")
    record["input"] = "One side.\n\nRight:\nThe ferry is dear.\n\nLeft:\nThe ferry is cheap.\nNurses need it."
    found = read(record)
    assert (found.left, found.right, found.swapped) == (tuple(LEFT), tuple(RIGHT), False)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"document": "Something else."}, "document_not_in_input"),
        ({"input": "Left: The ferry is cheap. Right: The ferry is dear."}, "labels_not_found"),
        ({"input": "Left:\na\n\nLeft:\nb"}, "labels_not_found"),
        ({"input": "Left:\nThe ferry is cheap.\nNurses need it.\n\nRight:\n"}, "side_empty"),
        ({"stance": "centre"}, "'stance'"),
        ({"document": " "}, "'document'"),
    ],
)
def test_an_item_that_cannot_be_understood_has_a_code(tmp_path, change, code):
    with pytest.raises(DataError, match=f"dev.json: item 1: .*{code}"):
        import_polisum(write(tmp_path / "dev.json", [{**item("left"), **change}]))


def test_two_items_of_a_pair_become_one_set_with_both_sides(tmp_path):
    found = import_polisum(write(tmp_path / "dev.json", [item("right"), item("left")]))
    (documents,) = found.sets
    assert documents.topic == "The Ferry"
    assert [d.text for d in documents.select("stance", "left")] == LEFT
    assert [d.text for d in documents.select("stance", "right")] == RIGHT
    assert [d.id.rpartition("/")[2] for d in documents.documents] == ["left-1", "left-2", "right-1"]
    report = found.report
    assert (report.items, report.sets, report.duplicates, report.single) == (2, 1, 0, 0)
    assert report.repaired == {"left": 0, "right": 1}


def test_the_report_is_a_sentence_for_people(tmp_path):
    found = import_polisum(write(tmp_path / "dev.json", [item("right"), item("left"), item("left")]))
    assert str(found.report) == (
        "3 items in the file; exchanged labels repaired: 0 left, 1 right; "
        "repeated items left out: 1; sets of a single item: 0"
    )


def test_a_lone_item_gives_a_set_with_both_sides(tmp_path):
    found = import_polisum(write(tmp_path / "dev.json", [item("left")]))
    assert found.sets[0].values("stance") == ("left", "right")
    assert found.report.single == 1


def test_ids_follow_the_content_and_not_the_place_in_the_file(tmp_path):
    other = [item(s, ["Keep the bell."] if s == "left" else None, topic="Bell!") for s in ("left",)]
    one = import_polisum(write(tmp_path / "a.json", [item("left"), item("right"), *other])).sets
    two = import_polisum(write(tmp_path / "b.json", [*other, item("right"), item("left")])).sets
    assert {s.id for s in one} == {s.id for s in two}
    assert sorted(s.id.rpartition("-")[0] for s in one) == ["bell", "the-ferry"]


def test_one_title_over_different_passages_gives_two_sets_with_two_ids(tmp_path):
    second = [item("left", ["Paint it."], ["Sell it."]), item("right", ["Sell it."], ["Paint it."])]
    found = import_polisum(write(tmp_path / "dev.json", [item("left"), item("right"), *second]))
    assert len({s.id for s in found.sets}) == 2
    # a seeded split keeps both on one side, so with no third title there is nothing to split
    with pytest.raises(DataError, match="of 1 topic"):
        split_sets(found.sets, CorpusSection(train=SplitSection(), test=SplitSection()), seed=0)


def test_a_pair_that_disagrees_is_refused_and_named(tmp_path):
    items = [item("left"), item("right", second=["Nurses need it."])]
    items[1]["input"] = items[1]["input"].replace("The ferry is cheap.\n", "")
    with pytest.raises(
        DataError, match=r"item 2: has the same right passages as item 1 \('The Ferry'\), but not the same"
    ):
        import_polisum(write(tmp_path / "dev.json", items))


def test_all_wrong_items_are_listed_by_number(tmp_path):
    items = [item("left"), {**item("right"), "document": "no"}, {**item("left"), "stance": "up"}, "text"]
    with pytest.raises(DataError) as caught:
        import_polisum(write(tmp_path / "dev.json", items))
    lines = str(caught.value).splitlines()
    assert len(lines) == 3
    assert "item 2: right of 'The Ferry': document_not_in_input" in lines[0]
    assert "item 3: 'stance'" in lines[1]
    assert "item 4:" in lines[2]


@pytest.mark.parametrize(
    ("text", "part"),
    [("{}", "is not a JSON list"), ("[]", "is not a JSON list"), ("[1,\n2", r"dev\.json:2: is not JSON")],
)
def test_a_file_that_is_no_list_of_items_is_refused(tmp_path, text, part):
    path = tmp_path / "dev.json"
    path.write_text(text)
    with pytest.raises(DataError, match=part):
        import_polisum(path)


def test_an_absent_file_is_named(tmp_path):
    with pytest.raises(StorageError, match=r"dev\.json: cannot be read"):
        import_polisum(tmp_path / "dev.json")


def test_released_prompts_are_kept_on_request_and_only_then(tmp_path):
    path = write(tmp_path / "dev.json", [item("left"), item("right")])
    plain, faithful = import_polisum(path).sets[0], import_polisum(path, faithful_to_release=True).sets[0]
    assert plain.notes == {}
    assert faithful.notes["released_prompts"] == {s: item(s)["input"] for s in ("left", "right")}
    assert faithful.documents == plain.documents


def test_a_split_can_be_named(tmp_path):
    found = import_polisum(write(tmp_path / "dev.json", [item("left")]), split="test")
    assert found.sets[0].split == "test"


def test_what_was_imported_can_be_written_and_read_back(tmp_path):
    sets = import_polisum(write(tmp_path / "dev.json", [item("left"), item("right")]), faithful_to_release=True).sets
    write_jsonl(tmp_path / "docs.jsonl", sets)
    assert read_jsonl(tmp_path / "docs.jsonl", DocumentSet) == sets


def test_the_development_file_is_repaired(polisum):
    # docs/papers.md#ri-data and the data's README: 118 items, 59 pairs, labels exchanged in every right-stance item
    found = import_polisum(polisum / "dev.json")
    assert found.report.items == 118
    assert found.report.sets == len({s.id for s in found.sets}) == 59
    assert found.report.repaired == {"left": 0, "right": 59}
    assert (found.report.duplicates, found.report.single) == (0, 0)
    assert all(s.values("stance") == ("left", "right") for s in found.sets)


def test_the_development_file_keeps_every_word_of_its_documents(polisum):
    items = json.loads((polisum / "dev.json").read_text())
    texts = {
        " ".join(d.text for d in s.select("stance", side)) for s in import_polisum(polisum / "dev.json").sets
        for side in ("left", "right")
    }  # fmt: skip
    assert {" ".join(one["document"].split()) for one in items} == {" ".join(text.split()) for text in texts}


def test_the_development_file_can_be_split_by_topic(polisum):
    sets = import_polisum(polisum / "dev.json").sets
    split = split_sets(sets, CorpusSection(train=SplitSection(), test=SplitSection()), seed=42)
    assert len(split["train"]) + len(split["test"]) == 59
    assert 12 <= len(split["test"]) <= 18


def test_released_prompts_of_polisum_are_those_of_its_file(polisum):
    items = json.loads((polisum / "dev.json").read_text())
    sets = import_polisum(polisum / "dev.json", faithful_to_release=True).sets
    corpus = CorpusSection(sides=("left", "right"))
    prompts = [r.prompt[0].content for r in build_requests(sets, corpus, TaskSection(template="released"))]
    assert len(prompts) == 118
    assert sorted(prompts) == sorted(item["input"] for item in items)


@pytest.mark.needs("nltk")
def test_news_passages_are_split_as_by_punkt_but_for_marks_that_it_cuts_off(polisum):
    nltk = open_nltk("the test", ("punkt_tab",))
    passages = [document.text for each in import_polisum(polisum / "dev.json").sets for document in each.documents]
    ours, theirs = ([split(text) for text in passages] for split in (sentences, nltk.sent_tokenize))
    assert max(len(sentence.split()) for text in ours for sentence in text) <= 100
    ends = [[set(accumulate(len("".join(s.split())) for s in text)) for text in each] for each in (ours, theirs)]
    differing = sum(len(a ^ b) for a, b in zip(*ends, strict=True))
    # 585 when quotations were kept in one piece; of what is left nearly all is punkt's ". || ." and "Gov. || Newsom"
    assert differing < 200
