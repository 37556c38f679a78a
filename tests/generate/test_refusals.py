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
        "I cannot provide information or guidance on illegal or harmful activities.",
        "I can't create explicit content.",
        "I can't engage with that topic.",
        "I'm sorry, but I can't generate content like that.",
        "I cannot write about that.",
        "I cannot engage in discussions about that.",
        "I can't fulfill that.",
        "I am not able to fulfil this.",
        "I cannot provide a response here.",
    ],
)
def test_openings_that_speak_of_what_was_asked_refuse(text):
    assert is_refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I can't help but love it, and so does my mother.",
        "I can't help but love this kettle, says one.",
        "I can't help smiling, says one.",
        "I can't do this anymore, writes a user; others praise the law.",
        "I will not support any candidate who fails to help workers, says one post.",
        "Sorry to see the text of the bill pass, most users oppose it.",
        "I won't read this book again, one reviewer says, but the plot is praised.",
        "I'm sorry the text was so small, says one.",
        "I can't write enough about this kettle.",
        "I cannot comply with the new law, one user writes.",
        "I cannot recommend this kettle.",
        "I'm sorry I bought it.",
        "Customers are sorry that the maker refused to help.",
        "The maker said: I cannot help you.",
    ],
)
def test_summaries_that_open_alike_or_quote_one_do_not(text):
    assert not is_refusal(text)
