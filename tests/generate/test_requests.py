"""Summary requests and their prompts."""

import pytest

from evenhand.config import CorpusSection, TaskSection
from evenhand.errors import DataError, RecipeError
from evenhand.generate.requests import build_requests
from evenhand.records import Document, DocumentSet


def test_one_request_for_each_side_with_its_contract(ferry):
    left, right = build_requests([ferry], CorpusSection(), TaskSection())
    assert (left.id, right.id) == ("ferry/left", "ferry/right")
    assert left.contract.opening == "The Left"
    assert left.contract.other_openings == ("The Right",)
    assert left.source == "The ferry is cheap. The town should keep it.\nNurses need the ferry at night."
    assert left.opposing.startswith("The ferry is dear.")


def test_requests_of_a_set_share_their_prompt_up_to_what_is_asked(ferry):
    left, right = (r.prompt[0].content for r in build_requests([ferry], CorpusSection(), TaskSection()))
    shared = next(i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b)
    assert shared > left.index("Taxes are high enough.")  # the last document lies inside the shared part


def test_labels_stand_over_their_own_documents(ferry):
    prompt = build_requests([ferry], CorpusSection(), TaskSection())[0].prompt[0].content
    assert prompt.index("Left:") < prompt.index("Nurses") < prompt.index("Right:") < prompt.index("Taxes")


def test_fields_in_documents_are_not_filled(ferry):
    tricky = ferry.model_copy(
        update={
            "documents": (
                Document(id="a", text="Say {opening} {side}.", attributes={"stance": "left"}),
                *ferry.documents,
            )
        }
    )
    prompt = build_requests([tricky], CorpusSection(), TaskSection())[0].prompt[0].content
    assert "Say {opening} {side}." in prompt


def test_set_without_the_attribute_is_refused():
    plain = DocumentSet(id="plain", documents=(Document(id="a", text="b"),))
    with pytest.raises(DataError, match="set 'plain': no document has the attribute 'stance'"):
        build_requests([plain], CorpusSection(), TaskSection())


def test_unknown_template_names_the_shipped_ones(ferry):
    with pytest.raises(RecipeError, match=r"neither shipped .*perspective"):
        build_requests([ferry], CorpusSection(), TaskSection(template="perspektive"))


def test_more_than_two_values_and_no_contract(ferry):
    neutral = Document(id="n", text="It sails.", attributes={"stance": "neutral"})
    wide = ferry.model_copy(update={"documents": (*ferry.documents, neutral)})
    requests = build_requests([wide], CorpusSection(), TaskSection(opening=None, sentences=None))
    assert [r.side for r in requests] == ["left", "right", "neutral"]
    assert requests[0].contract.opening is None
    assert requests[0].contract.other_openings == ()


def test_form_asked_for_stands_in_the_prompt(ferry):
    request = build_requests([ferry], CorpusSection(), TaskSection(opening=None, sentences=3))[0]
    assert "in 3 sentences. State" in request.prompt[0].content
    assert request.contract.opening is None
    one = build_requests([ferry], CorpusSection(), TaskSection())[0]
    assert 'in one sentence. Begin with "The Left". State' in one.prompt[0].content


def test_opening_without_the_side_is_every_sides_own(ferry):
    left, right = build_requests([ferry], CorpusSection(), TaskSection(opening="In short,"))
    assert left.contract.opening == right.contract.opening == "In short,"
    assert left.contract.other_openings == ()


def test_template_that_asks_for_a_missing_opening_is_refused(ferry):
    with pytest.raises(RecipeError, match=r"key 'task.opening': the template 'perspective-short' asks for an opening"):
        build_requests([ferry], CorpusSection(), TaskSection(template="perspective-short", opening=None))


def test_template_without_documents_is_refused(ferry, tmp_path):
    (tmp_path / "blind.txt").write_text("Summarise the {side} side.")
    with pytest.raises(RecipeError, match=r"has no field \{documents\}"):
        build_requests([ferry], CorpusSection(), TaskSection(template=str(tmp_path / "blind.txt")))


def test_requests_that_would_share_an_id_are_refused():
    def one(set_id, side):
        return DocumentSet(id=set_id, documents=(Document(id="d", text="It sails.", attributes={"stance": side}),))

    with pytest.raises(DataError, match="equal names: a/b/c"):
        build_requests([one("a/b", "c"), one("a", "b/c")], CorpusSection(), TaskSection())
