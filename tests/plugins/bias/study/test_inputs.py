import json
import re
from collections import Counter

import pytest

from evenhand.errors import DataError
from evenhand.plugins.bias.annotated import read_news
from evenhand.plugins.bias.demographic.word_lists import WordLists
from evenhand.plugins.bias.study import count_by_design, make_inputs
from evenhand.plugins.bias.study.inputs import make_setting


def test_categories_bear_their_gender_where_it_is_the_only_one(make_recipe, names_file):
    def categories(genders):
        return make_setting(make_recipe(inputs={"setting": "race", "names": names_file, "genders": genders})).categories

    assert categories({"black": ["female"], "white": ["male"]}) == ("black female", "white male")
    assert categories({"black": ["female", "male"], "white": ["male"]}) == ("black", "white male")
    assert categories(None) == ("black", "white")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "holds no name lists"),
        (
            '{"black": {"female": ["A"]}}',
            r"lists black\.male, white\.male, white\.female, black\.last, white\.last are missing",
        ),
        ('{"black": {"women": ["A"]}}', r"black\.women: is not one of female, male, last"),
        ("{", "is not JSON"),
    ],
)
def test_wrong_name_lists_are_refused_with_what_is_missing(make_recipe, tmp_path, text, said):
    path = tmp_path / "names.json"
    path.write_text(text)
    with pytest.raises(DataError, match=said):
        make_inputs(make_recipe(inputs={"setting": "race", "names": path}))


def test_every_document_has_each_assignment_twice_in_both_designs(make_recipe):
    inputs = make_inputs(make_recipe(inputs={"assignments": 3}))
    # 12 documents, 3 assignments, 2 permutations or groups
    assert count_by_design(inputs) == {"balanced": 72, "uniform": 72}
    assert len({each.id for each in inputs.inputs}) == 144
    groups = Counter(each.group for each in inputs.inputs)
    assert groups == {None: 72, "male": 36, "female": 36}


def test_same_recipe_gives_the_same_inputs_and_another_seed_others(make_recipe):
    first, again, other = (make_inputs(make_recipe(seed=seed)).inputs for seed in (1, 1, 2))
    assert first == again
    assert {each.id for each in first}.isdisjoint(each.id for each in other)


def test_pair_of_balanced_inputs_has_as_many_words_of_either_gender(make_recipe):
    pairs = {}
    for each in make_inputs(make_recipe()).inputs:
        if each.design == "balanced":
            pairs.setdefault((each.original_id, each.assignment_id), []).append(each)
    lists = WordLists()
    for pair in pairs.values():
        female, male = sum(lists.count(each.text) for each in pair)
        assert female == male > 0
        # categories are exchanged person by person
        a, b = (each.entities for each in pair)
        assert all({a[person].category, b[person].category} == {"male", "female"} for person in a)


def test_all_persons_of_a_uniform_input_are_of_its_group(make_recipe):
    for each in make_inputs(make_recipe()).inputs:
        if each.design == "uniform":
            assert {person.category for person in each.entities.values()} == {each.group}


def test_documents_are_cut_after_so_many_words(make_recipe):
    inputs = make_inputs(make_recipe(inputs={"most_words": 10})).inputs
    assert {len(each.text.split()) for each in inputs} == {10}


def test_content_words_follow_the_gender_unless_told_otherwise(make_recipe):
    def words(**changes):
        texts = (each.text for each in make_inputs(make_recipe(inputs=changes)).inputs if each.group == "female")
        return " ".join(texts)

    assert "the chairwoman of" in words() and "the chairman of" not in words()
    assert "the chairman of" in words(content_words=False) and "the chairwoman of" not in words(content_words=False)


def test_race_setting_draws_first_and_last_names_from_the_lists(make_recipe, names_file):
    inputs = make_inputs(make_recipe(inputs={"setting": "race", "names": names_file}))
    lists = json.loads(names_file.read_text())
    for each in inputs.inputs:
        for person in each.entities.values():
            assert person.last_name in lists[person.category]["last"]
            assert person.first_name in lists[person.category][person.gender]
    genders = {p.gender for each in inputs.inputs for p in each.entities.values() if p.category == "black"}
    assert genders == {"male", "female"}


def test_names_may_come_as_a_table(make_recipe, tmp_path):
    rows = ["Name,First_last,gender,ethnicity"]
    for ethnicity in ("Black", "White"):
        for i in range(4):
            rows += [f"{ethnicity}f{i},first,F,{ethnicity}", f"{ethnicity}m{i},first,M,{ethnicity}"]
            rows.append(f"{ethnicity}l{i},last,,{ethnicity}")
    path = tmp_path / "names.csv"
    path.write_text("\n".join(rows))
    inputs = make_inputs(make_recipe(inputs={"setting": "race", "names": path})).inputs
    assert all(p.first_name.casefold().startswith(p.category) for each in inputs for p in each.entities.values())


def test_intersection_fixes_the_gender_of_each_category(make_recipe, names_file):
    section = {"setting": "race", "names": names_file, "genders": {"black": ["female"], "white": ["male"]}}
    inputs = make_inputs(make_recipe(inputs=section))
    found = {(p.category, p.gender) for each in inputs.inputs for p in each.entities.values()}
    assert found == {("black female", "female"), ("white male", "male")}


def test_who_is_cut_away_has_no_category_in_any_input_of_the_assignment(make_recipe):
    whole, cut = (make_inputs(make_recipe(inputs={"most_words": n})).inputs for n in (None, 20))
    assert all(person.category for each in whole for person in each.entities.values())
    by_assignment = {}
    for each in cut:
        by_assignment.setdefault((each.original_id, each.design, each.assignment_id), []).append(each)
    for together in by_assignment.values():
        counted = [{name for name, person in each.entities.items() if person.category} for each in together]
        assert all(persons == counted[0] for persons in counted)
        for each, persons in zip(together, counted, strict=True):
            assert all({each.entities[p].first_name, each.entities[p].last_name} & _words(each.text) for p in persons)
    counts = [sum(p.category is not None for e in inputs for p in e.entities.values()) for inputs in (cut, whole)]
    assert 0 < counts[0] < counts[1]


def _words(text):
    return set(re.findall(r"[\w-]+", text))


def test_names_that_run_out_everywhere_are_told_with_their_file(make_recipe, tmp_path):
    path = tmp_path / "last.json"
    path.write_text('{"common": {"last": ["Ames"]}}')
    with pytest.raises(
        DataError,
        match=r"12: names of source 'common', last, ran out: .* has 1; add names; the name lists are .*last\.json",
    ):
        make_inputs(make_recipe(inputs={"replace_last_names": True, "names": path}))


def test_last_names_are_replaced_from_the_users_list(make_recipe, tmp_path):
    path = tmp_path / "last.json"
    path.write_text('{"common": {"last": ["Ames", "Bond", "Cole", "Dunn"]}}')
    inputs = make_inputs(make_recipe(inputs={"replace_last_names": True, "names": path}))
    found = {p.last_name for each in inputs.inputs for p in each.entities.values()}
    assert found == {"Ames", "Bond", "Cole", "Dunn"}
    # first names still come from the census
    assert any(p.first_name == "James" for each in inputs.inputs for p in each.entities.values())


def test_document_whose_names_run_out_is_left_out_and_counted(make_recipe, tmp_path):
    # two last names do for the one document of two persons alone
    path = tmp_path / "last.json"
    path.write_text('{"common": {"last": ["Ames", "Bond"]}}')
    inputs = make_inputs(make_recipe(inputs={"replace_last_names": True, "names": path}))
    assert {each.original_id for each in inputs.inputs} == {"marrow-hill"}
    (row,) = inputs.left_out
    assert (row.what, row.count) == ("document", 11)
    assert row.reason == "names of source 'common', last, ran out: the list has 2; add names"
    assert len(inputs.dropped[row.reason]) == 11


def test_absent_files_are_named_with_their_key(make_recipe, tmp_path):
    with pytest.raises(DataError, match=r"key 'inputs\.names'.*absent"):
        make_inputs(make_recipe(inputs={"setting": "race", "names": tmp_path / "absent.csv"}))
    with pytest.raises(DataError, match=r"key 'input'.*absent"):
        make_inputs(make_recipe(input=str(tmp_path / "absent.jsonl")))


def test_documents_in_which_nobody_takes_part_make_no_study(make_recipe, tmp_path):
    path = tmp_path / "snow.jsonl"
    path.write_text('{"doc_id": "snow", "tokens": [{"text": "Snow"}, {"text": "fell"}]}\n')
    with pytest.raises(DataError, match=r"no input can be made of the 1 documents.*1: nobody in it takes part"):
        make_inputs(make_recipe(input=str(path)))


def test_sample_is_what_the_default_input_names(make_recipe):
    ids = {each.original_id for each in make_inputs(make_recipe()).inputs}
    assert ids == {document.doc_id for document in read_news("sample")}


def annotated(doc_id, words, spans, persons):
    chains = [{"id": "c", "mentions": [{"start": start, "end": end} for start, end in spans]}]
    named = [{"start": start, "end": end, "label": "PERSON"} for start, end in persons]
    tokens = [{"text": word} for word in words.split()]
    return json.dumps({"doc_id": doc_id, "tokens": tokens, "chains": chains, "named_entities": named}) + "\n"


def test_document_in_which_an_old_name_would_be_left_is_left_out_and_named(make_recipe, tmp_path):
    path = tmp_path / "news.jsonl"
    lines = [
        annotated("whole", "Ida Orr left . She slept .", [(0, 2), (4, 5)], [(0, 2)]),
        annotated("unmarked", "Ida Orr left . Then Ida slept , as she may .", [(0, 2), (8, 9)], [(0, 2)]),
    ]
    path.write_text("".join(lines))
    inputs = make_inputs(make_recipe(input=str(path)))
    assert {each.original_id for each in inputs.inputs} == {"whole"}
    assert inputs.dropped == {
        "a name would be left in the texts (Ida); mark it as a mention of its person": ("unmarked",)
    }
    assert [(row.count, row.what) for row in inputs.left_out] == [(1, "document")]


# Banks alone is marked, and a man
@pytest.mark.parametrize(
    ("words", "label", "stays"),
    [
        ("Hope/NNP Banks/NNP left . He slept .", "", "Hope Banks"),
        # a tagger takes the name for a thing
        ("Art/NN Banks/NNP left . He slept .", "", "Art Banks"),
        # a place that is a first name, too, unless it is annotated
        ("Florida/NNP Banks/NNP left . He slept .", "", "Florida Banks"),
        ("Florida/NNP Banks/NNP left . He slept .", "GPE", None),
        # days, months and ranks
        ("Sunday/NNP Banks/NNP left . He slept .", "", None),
        ("June/NNP Banks/NNP left . He slept .", "", None),
        ("Major/NNP Banks/NNP left . He slept .", "", None),
        ("Dean/NNP Banks/NNP left . He slept .", "", None),
        ("King/NNP Banks/NNP left . He slept .", "", None),
        ("Prince/NNP Banks/NNP left . He slept .", "", None),
        # an office, another part of speech, a word that is no first name, and what is annotated as something else
        ("President/NNP Banks/NNP left . He slept .", "", None),
        ("So/RB Banks/NNP left . He slept .", "", None),
        ("Zagreb/NNP Banks/NNP left . He slept .", "", None),
        ("Hope/NNP Banks/NNP left . He slept .", "ORG", None),
    ],
)
def test_unmarked_first_name_before_a_last_name_is_left_out_and_named(make_recipe, tmp_path, words, label, stays):
    document = json.loads(annotated("it", words, [(1, 2), (4, 5)], [(1, 2)]))
    document["tokens"] = [
        {"text": text, **({"pos": tag} if tag else {})}
        for text, _, tag in (word.partition("/") for word in words.split())
    ]
    document["named_entities"] += [{"start": 0, "end": 2, "label": label}] if label else []
    path = tmp_path / "news.jsonl"
    whole = annotated("whole", "Ida Orr left . She slept .", [(0, 2), (4, 5)], [(0, 2)])
    path.write_text(whole + json.dumps(document) + "\n")
    inputs = make_inputs(make_recipe(input=str(path)))
    reason = f"a name would be left in the texts ({stays}); mark it as a mention of its person"
    assert dict(inputs.dropped) == ({reason: ("it",)} if stays else {})


@pytest.mark.parametrize(
    ("words", "spans", "persons", "stays"),
    [
        ("Anna left . She slept .", [(0, 1), (3, 4)], [(0, 1)], "Anna"),
        ("Anna Orr left . Anna slept . She may .", [(0, 2), (4, 5), (7, 8)], [(0, 2), (4, 5)], None),
        ("Orr left . She slept .", [(0, 1), (3, 4)], [(0, 1)], None),
        ("Mrs. Thomas left . She slept .", [(1, 2), (4, 5)], [(1, 2)], None),
    ],
)
def test_who_is_only_called_by_a_first_name_is_left_out_and_named(make_recipe, tmp_path, words, spans, persons, stays):
    path = tmp_path / "news.jsonl"
    path.write_text(
        annotated("whole", "Ida Orr left . She slept .", [(0, 2), (4, 5)], [(0, 2)])
        + annotated("it", words, spans, persons)
    )
    inputs = make_inputs(make_recipe(input=str(path)))
    assert [ids for reason, ids in inputs.dropped.items() if "only called" in reason and str(stays) in reason] == (
        [("it",)] if stays else []
    )
    assert {each.original_id for each in inputs.inputs} == ({"whole"} if stays else {"whole", "it"})
