import pytest

from evenhand.generate.refusals import is_refusal


@pytest.mark.parametrize(
    "text",
    [
        "I can't help with that.",
        "I\u2019m sorry, but I cannot summarize these reviews.",
        "I cannot fulfill your request.",
        "I can't provide a summary. The reviews insult people.",
        "Sorry. I am unable to read this.",
        "As an AI language model, I have no opinion of kettles.",
        "  i'm sorry  ",
    ],
)
def test_openings_that_speak_of_what_was_asked_refuse(text):
    assert is_refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I can't help but love it, and so does my mother.",
        "I cannot recommend this kettle.",
        "I'm sorry I bought it.",
        "Customers are sorry that the maker refused to help.",
        "The maker said: I cannot help you.",
    ],
)
def test_summaries_that_open_alike_or_quote_one_do_not(text):
    assert not is_refusal(text)
