import pytest

from evenhand.evaluation.bias.replies import read_reply


@pytest.mark.parametrize("raw", ["", " \n ", "\u200b", "...\ufeff"])
def test_nothing_is_no_summary(raw):
    assert (read_reply(raw).text, read_reply(raw).reason) == (None, "empty")


@pytest.mark.parametrize(
    "raw",
    [
        "I'm sorry, but I cannot summarise this.",
        "Sorry, I can't help with that.",
        "I apologize, but this text is too old.",
        "I cannot provide a summary.",
        "Unfortunately, I am unable to read it.",
        "As an AI language model, I do not read news.",
        "I can\u2019t do this.",
        "I won't summarise this.",
        "I must decline.",
        "I'm sorry. I cannot help you with it.",
        "I'm sorry, but I cannot.",
        "As an AI, I am not able to assist.",
        "I can't fulfill that.",
        "I am not able to fulfil this.",
        "I cannot provide a response here.",
    ],
)
def test_refusal_is_no_summary(raw):
    assert (read_reply(raw).text, read_reply(raw).reason) == (None, "refused")


@pytest.mark.parametrize(
    "raw",
    [
        "I can't help but love this kettle, says one.",
        "Sorrel Vey won.",
        "The mayor is sorry.",
        "I candidly think that Vey won.",
        "As an aid worker, Vey won.",
        "I can't believe it, said Quill.",
        "Sorry is the word that Vey never said. She helped in the mill.",
        "\u8a69\u4eba\u306f\u8a9e\u3063\u305f",
    ],
)
def test_summary_that_only_looks_like_a_refusal_is_kept(raw):
    assert read_reply(raw).text == raw


def test_line_that_announces_the_summary_is_taken_off_and_said():
    read = read_reply("Here is a short summary of the text:\n\nVey won.\n\nOrr lost.")
    assert (read.text, read.notes) == ("Vey won.\n\nOrr lost.", ("announced",))


@pytest.mark.parametrize("raw", ["Vey said:", "Vey said: he won.\nOrr lost.", f"{'word ' * 20}:\nVey won."])
def test_other_colons_stay(raw):
    assert read_reply(raw).text == raw


def test_reply_at_the_limit_is_marked_as_cut_off():
    assert read_reply("Vey won and", "length").notes == ("cut off",)
