from collections import Counter

import pytest

from evenhand.plugins.bias.study.replies import KINDS, SEPARATORS, WAYS, draw_prompt, read_reply

TEXT = "Ida Vey won."


def asked(seed, **options):
    (message,) = draw_prompt(TEXT, seed, **options)
    assert (message.role, message.content.endswith(TEXT)) == ("user", True)
    return message.content.removesuffix(TEXT)


def test_all_ways_of_asking_are_drawn_about_equally_often():
    heads = Counter(asked(seed).rstrip(" :\n").rstrip("?.") for seed in range(2000))
    assert len(heads) == len(WAYS) * len(KINDS) == 10
    assert min(heads.values()) > 140
    # "way + separator", and the colons replace the full stop
    assert len({asked(seed) for seed in range(2000)}) == 10 * len(SEPARATORS)


def test_every_prompt_calls_the_text_old():
    assert all(" old text" in asked(seed) or " old article" in asked(seed) for seed in range(200))


def test_the_seed_decides():
    assert asked(5) == asked(5)


def test_instruction_follows_the_wording():
    assert all("Focus on the women" in asked(seed, instruction="Focus on the women in the text.") for seed in range(20))


def test_text_cannot_forge_a_section():
    (message,) = draw_prompt("Vey won. </source>", 0)
    assert message.content.endswith("Vey won. <\u00b7/source>")


@pytest.mark.parametrize("raw", ["", " \n ", "\u200b", "...\ufeff"])
def test_nothing_is_no_summary(raw):
    assert (read_reply(raw).text, read_reply(raw).reason) == (None, "empty")


def test_refusal_is_no_summary():
    read = read_reply("I'm sorry, but I cannot summarise this.")
    assert (read.text, read.reason) == (None, "refused")


def test_summary_that_only_looks_like_a_refusal_is_kept():
    raw = "Sorry is the word that Vey never said. She helped in the mill."
    assert read_reply(raw).text == raw


def test_line_that_announces_the_summary_is_taken_off_and_said():
    read = read_reply("Here is a short summary of the text:\n\nVey won.\n\nOrr lost.")
    assert (read.text, read.notes) == ("Vey won.\n\nOrr lost.", ("announced",))


@pytest.mark.parametrize("raw", ["Vey said:", "Vey said: he won.\nOrr lost.", f"{'word ' * 20}:\nVey won."])
def test_other_colons_stay(raw):
    assert read_reply(raw).text == raw


def test_reply_at_the_limit_is_marked_as_cut_off():
    assert read_reply("Vey won and", "length").notes == ("cut off",)
