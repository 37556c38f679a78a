import pytest

from evenhand.fairness.groups import NgramTokenizer


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


def test_english_stop_words_keep_those_of_other_languages(tokenizer):
    english = NgramTokenizer("english")
    assert english("The men die") == ["men", "die"]
    assert english.signature != tokenizer.signature


def test_signature_names_versions_and_stop_words(tokenizer):
    assert tokenizer.signature.startswith("ngram|nltk:3.9")
    assert "|wordnet:3.0|stop:all-" in tokenizer.signature
