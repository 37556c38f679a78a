from collections import Counter

from evenhand.evaluation.bias.prompting import KINDS, SEPARATORS, WAYS, draw_prompt

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
