import pytest
from pydantic import ValidationError

from evenhand.plugins.bias.demographic.inputs.document import AnnotatedDocument


def document(words: str, **rest) -> AnnotatedDocument:
    return AnnotatedDocument.model_validate({"tokens": [{"text": word} for word in words.split()], **rest})


def test_text_without_white_space_is_joined_like_prose():
    assert document("Rain -LRB- some -RRB- fell , Tom -AMP- Co. said : yes !").text() == (
        "Rain ( some ) fell, Tom & Co. said: yes!"
    )


def test_given_white_space_is_kept_and_bracket_codes_too():
    tokens = [{"text": "a", "ws": False}, {"text": ","}, {"text": "-LRB-", "ws": True}, {"text": "b"}]
    assert AnnotatedDocument.model_validate({"tokens": tokens}).text() == "a, -LRB- b"


def test_missing_tags_are_read_from_the_words():
    made = document("Ida saw her again and her brother . Quill met her")
    assert [made.tag(i) for i in (0, 1, 2, 5, 8, 10)] == ["NNP", None, "PRP", "PRP$", "NNP", "PRP"]


def test_schema_name_is_read_and_another_is_refused():
    assert document("a", schema="evenhand-annotated-document/1", doc_id="d").doc_id == "d"
    with pytest.raises(ValidationError, match="schema"):
        document("a", schema="other/1")


@pytest.mark.parametrize(
    ("rest", "match"),
    [
        (
            {"named_entities": [{"start": 1, "end": 4, "label": "PERSON"}]},
            "from 1 to 4 is outside the document of 3 tokens",
        ),
        ({"chains": [{"id": "c", "mentions": [{"start": 1, "end": 1}]}]}, "span from 1 to 1 is empty"),
        ({"chains": [{"id": "c", "mentions": []}, {"id": "c", "mentions": []}]}, "chain id 'c' occurs more than once"),
        (
            {"named_entities": [{"start": 0, "end": 2, "label": "PERSON"}, {"start": 1, "end": 3, "label": "PERSON"}]},
            "PERSON spans 0 to 2 and 1 to 3 cross",
        ),
        ({"chains": [{"id": "c", "mentions": [{"start": 0, "end": 1, "type": "IDENTITY"}]}]}, "IDENT"),
        ({"sentences": []}, "sentences"),
    ],
)
def test_documents_that_do_not_hold_together_are_refused(rest, match):
    with pytest.raises(ValidationError, match=match):
        document("a b c", **rest)


def test_all_mistakes_of_a_document_are_told_at_once():
    spans = [{"start": 0, "end": 9, "label": "ORG"}, {"start": 2, "end": 8, "label": "PERSON"}]
    with pytest.raises(ValidationError, match=r"document 'd': .*0 to 9.*; .*2 to 8"):
        document("a", doc_id="d", named_entities=spans)


@pytest.mark.parametrize("text", ["", "a b", " a", "a\n"])
def test_token_with_white_space_or_nothing_is_refused(text):
    with pytest.raises(ValidationError):
        AnnotatedDocument.model_validate({"tokens": [{"text": text}]})


def test_nested_persons_are_taken():
    spans = [{"start": 0, "end": 3, "label": "PERSON"}, {"start": 1, "end": 2, "label": "PERSON"}]
    assert len(document("a b c", named_entities=spans).persons()) == 2
