import zipfile

import nltk
import pytest

from evenhand.errors import DataError
from evenhand.fairness.groups.tokens import (
    PLACES,
    TRAINED,
    NgramTokenizer,
    english_wordnet,
    lemma,
    open_nltk,
    trained_digest,
)


def test_setting_that_names_no_folder_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("EVENHAND_NLTK", str(tmp_path / "none"))
    with pytest.raises(DataError, match=r"none' \(EVENHAND_NLTK\), which is not a folder"):
        open_nltk("the labels", ("stopwords",))


def test_absent_data_is_named_with_the_command_that_gets_it(monkeypatch, tmp_path):
    monkeypatch.setattr(nltk.data, "path", [])
    with pytest.raises(
        DataError, match=r"the labels needs NLTK's data \(stopwords, wordnet\).*`evenhand models fetch nltk` gets all"
    ):
        open_nltk("the labels", ("stopwords", "wordnet"), tmp_path)


@pytest.mark.parametrize("name", ["stopwords", "wordnet", "punkt_tab"])
def test_unpacked_data_is_found_in_the_folder(monkeypatch, tmp_path, name):
    monkeypatch.setattr(nltk.data, "path", [])
    (tmp_path / PLACES[name][0]).mkdir(parents=True)
    assert open_nltk("the labels", (name,), tmp_path) is nltk


@pytest.mark.parametrize("is_archive", [False, True])
def test_digest_of_trained_data_is_that_of_its_files(monkeypatch, tmp_path, is_archive):
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    folder = tmp_path / "tokenizers"
    folder.mkdir()
    if is_archive:
        with zipfile.ZipFile(folder / "punkt_tab.zip", "w") as archive:
            archive.writestr("punkt_tab/", "")
            archive.writestr("punkt_tab/english/", "")
            for name in TRAINED["punkt_tab"]:
                archive.writestr(f"punkt_tab/english/{name}", name)
    else:
        (folder / "punkt_tab/english").mkdir(parents=True)
        for name in TRAINED["punkt_tab"]:
            (folder / "punkt_tab/english" / name).write_text(name)
    # printf abbrev_types.txtcollocations.tabortho_context.tabsent_starters.txt | sha256sum
    assert trained_digest(nltk, "punkt_tab") == "9782fa"


def _folder(path, name):
    (path / PLACES[name][0]).mkdir(parents=True)
    return path


def test_data_elsewhere_on_the_search_path_does_not_stand_in_for_the_named_folder(monkeypatch, tmp_path):
    elsewhere, named = _folder(tmp_path / "full", "stopwords"), tmp_path / "empty"
    named.mkdir()
    monkeypatch.setattr(nltk.data, "path", [str(elsewhere)])
    monkeypatch.delenv("EVENHAND_NLTK", raising=False)
    assert open_nltk("the labels", ("stopwords",)) is nltk
    monkeypatch.setenv("EVENHAND_NLTK", str(named))
    with pytest.raises(DataError, match=r"needs NLTK's data \(stopwords\), which is not in \S*empty\. "):
        open_nltk("the labels", ("stopwords",))


def test_unpacked_data_elsewhere_that_hides_the_archive_of_the_named_folder_is_refused(monkeypatch, tmp_path):
    elsewhere, named = _folder(tmp_path / "full", "wordnet"), tmp_path / "named"
    (named / "corpora").mkdir(parents=True)
    with zipfile.ZipFile(named / "corpora/wordnet.zip", "w") as archive:
        archive.writestr("wordnet/", "")
    monkeypatch.setattr(nltk.data, "path", [])
    assert open_nltk("the labels", ("wordnet",), named) is nltk
    monkeypatch.setattr(nltk.data, "path", [str(elsewhere)])
    with pytest.raises(DataError, match=r"wordnet\), which is not in \S*named"):
        open_nltk("the labels", ("wordnet",), named)


def test_the_named_folder_comes_first_wherever_it_stood(monkeypatch, tmp_path):
    other, named = (_folder(tmp_path / name, "stopwords") for name in ("other", "named"))
    monkeypatch.setattr(nltk.data, "path", [str(other), str(named)])
    open_nltk("the labels", ("stopwords",), named)
    assert nltk.data.path == [str(named), str(other)]


@pytest.mark.needs("nltk")
@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        ("a || b ... people", ["b"]),
        # stop words of other languages: die (German), men (Danish), over (Dutch), hat (German)
        ("Die men over the hat", []),
        # tagged alone "ran" is a noun and stays; "running" becomes run by its stem
        ("ran running", ["ran", "run"]),
        ("Batteries BATTERIES battery", ["batteri"] * 3),
    ],
)
def test_pipeline(tokenizer, text, tokens):
    assert tokenizer(text) == tokens


@pytest.mark.slow
@pytest.mark.needs("nltk")
def test_lemmas_are_those_of_nltks_lemmatizer():
    nltk = open_nltk("the test", ("wordnet",))
    wordnet, lemmatizer = english_wordnet(nltk), nltk.stem.WordNetLemmatizer()
    listed = [line.split()[0] for name in ("noun", "verb", "adj", "adv") for line in wordnet.open(f"index.{name}")]
    forms = [word + ending for word in listed[30::97] for ending in ("", "s", "ed", "ing", "er")]
    assert len(forms) > 5000
    for form in forms:
        for part in "nvar":
            assert lemma(wordnet, form, part) == lemmatizer.lemmatize(form, part)


@pytest.mark.needs("nltk")
def test_english_stop_words_keep_those_of_other_languages(tokenizer):
    english = NgramTokenizer("english")
    assert english("The men die") == ["men", "die"]
    assert english.signature != tokenizer.signature


@pytest.mark.needs("nltk")
def test_signature_names_versions_and_stop_words(tokenizer):
    assert tokenizer.signature.startswith("ngram|nltk:3.9")
    assert "|wordnet:3.0|stop:all-" in tokenizer.signature
