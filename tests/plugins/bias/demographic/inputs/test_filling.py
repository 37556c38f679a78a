import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.plugins.bias.demographic.inputs.document import AnnotatedDocument
from evenhand.plugins.bias.demographic.inputs.filling import FillOptions, Instruction, fill_template
from evenhand.plugins.bias.demographic.inputs.template import TemplateEntity, build_template

WORDS = "Ms. Ida Vey praised herself . MRS. Vey said the actress she saw was her friend , not hers ."


# tokens of WORDS that mention Ida Vey
MENTIONS = [(0, 3), (4, 5), (6, 8), (11, 12), (14, 15), (18, 19)]


def document(words: str = WORDS, content_spans=()) -> AnnotatedDocument:
    return AnnotatedDocument.model_validate({
        "doc_id": "d",
        "tokens": [{"text": word} for word in words.split()],
        "chains": [{"id": "c", "mentions": [{"start": start, "end": end} for start, end in MENTIONS]}],
        "named_entities": [{"start": 1, "end": 3, "label": "PERSON"}, {"start": 7, "end": 8, "label": "PERSON"}],
        "content_spans": content_spans,
    })  # fmt: skip


def entity(name: str, start: int, end: int, kind: str) -> TemplateEntity:
    mention = {"start": start, "end": end, "class": kind}
    return TemplateEntity.model_validate({"id": name, "mentions": [mention], "gendered": True})


def filled(instruction: Instruction, options: FillOptions | None = None, content_spans=()) -> str:
    made = document(content_spans=content_spans)
    return fill_template(made, build_template(made), {"c": instruction}, options).text


MAN = Instruction(first_name="Ivo", last_name="Orr", gender="male")
WOMAN = Instruction(first_name="Nora", last_name="Vey", gender="female")


def test_all_marks_follow_the_instruction():
    assert filled(MAN) == "Mr. Ivo Orr praised himself. Mr. Orr said the actress he saw was his friend, not his."


def test_female_title_is_mrs_unless_asked_for():
    assert filled(WOMAN).startswith("Mrs. Nora Vey praised herself. Mrs. Vey")
    assert filled(WOMAN, FillOptions(title_female="Ms.")).startswith("Ms. Nora Vey praised herself. Ms. Vey")
    with pytest.raises(DataError, match="title_female 'Miss' is not known"):
        FillOptions(title_female="Miss")


def test_pronouns_can_be_left_alone():
    text = filled(MAN, FillOptions(rewrite_pronouns=False))
    assert text == "Mr. Ivo Orr praised herself. Mr. Orr said the actress she saw was her friend, not hers."


def test_person_without_instruction_or_not_modified_stays():
    made = document()
    for instructions in ({}, {"c": Instruction(first_name="X", last_name="Y", gender="male", modified=False)}):
        assert fill_template(made, build_template(made), instructions).text == made.text()


ACTRESS = {
    "start": 9,
    "end": 11,
    "entities": ["c"],
    "male": "the actor",
    "female": "the actress",
    "neutral": "the player",
}


def test_content_words_follow_the_gender_and_their_case():
    assert "said the actor he" in filled(MAN, content_spans=[ACTRESS])
    assert "said the actress she" in filled(WOMAN, content_spans=[ACTRESS])
    assert "said the actress he" in filled(MAN, FillOptions(rewrite_content_words=False), [ACTRESS])


def test_content_words_about_persons_of_several_genders_are_neutral():
    words = "Ida Vey met Ivo Orr . The women left".split()
    span = {
        "start": 6,
        "end": 8,
        "entities": ["a", "b"],
        "male": "the men",
        "female": "the women",
        "neutral": "the pair",
    }
    made = AnnotatedDocument.model_validate({"tokens": [{"text": word} for word in words], "content_spans": [span]})
    template = [entity("a", 0, 1, "first_name"), entity("b", 3, 4, "first_name")]
    woman, man = Instruction(first_name="Eve", gender="female"), Instruction(first_name="Bo", gender="male")

    def written(**instructions: Instruction) -> str:
        return fill_template(made, template, instructions).text

    assert written(a=woman, b=man) == "Eve Vey met Bo Orr. The pair left"
    assert written(a=woman, b=woman) == "Eve Vey met Eve Orr. The women left"
    assert written(a=man, b=man) == "Bo Vey met Bo Orr. The men left"
    # of one person nothing is said
    assert written(a=woman) == "Eve Vey met Ivo Orr. The pair left"
    assert written() == made.text()


def test_overlapping_mentions_are_skipped_and_counted():
    template = [entity("a", 0, 3, "full_name"), entity("b", 2, 3, "last_name")]
    found = fill_template(document(), template, {"a": MAN, "b": WOMAN})
    assert found.text.startswith("Ivo Orr praised")
    assert found.n_overlaps == 1


def test_lower_case_stays_lower_case():
    made = AnnotatedDocument.model_validate({"tokens": [{"text": "mr"}, {"text": "McArdle"}]})
    template = [TemplateEntity.model_validate({
        "id": "a", "last_name": "McArdle", "gendered": True,
        "mentions": [{"start": 0, "end": 1, "class": "title"}, {"start": 1, "end": 2, "class": "last_name"}],
    })]  # fmt: skip
    new = Instruction(last_name="deVries", gender="female")
    assert fill_template(made, template, {"a": new}).text == "mrs DeVries"


def test_mistakes_are_told_together():
    template = [entity("a", 0, 2, "full_name"), entity("b", 40, 41, "title")]
    with pytest.raises(
        DataError, match=r"document 'd': instructions are for z, .*'b' ends at token 41 of 20"
    ) as caught:
        fill_template(document(), template, {"z": MAN, "a": Instruction(first_name="Ivo", gender="male")})
    assert "'a' lacks a name that its mention as full_name needs" in str(caught.value)


@given(st.sampled_from([MAN, WOMAN]))
def test_filling_back_the_same_marks_changes_nothing_more(instruction):
    # a text whose title already is Mrs. or Mr. is a fixed point
    once = filled(instruction)
    made = document(once.replace(".", " .").replace("Mr .", "Mr.").replace("Mrs .", "Mrs.").replace(",", " ,"))
    assert fill_template(made, build_template(made), {"c": instruction}).text == once
