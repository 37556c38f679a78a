"""Claims of a sentence that makes several: its parts between commas and joining words.

A summary of one sentence, compared whole, is near to whatever it mostly speaks of; taken apart, each of its claims must find a
sentence of its own. Cuts are rough on purpose: parts are compared by meaning and roughly counted, so one that is no clause does
little harm, and nothing is dropped or added. Texts of languages that put no spaces between words stay whole. For units that must
stand by themselves see `measures/clauses.py`.
"""

import re

# changes with the rules
VERSION = 1
# a part of fewer words is joined to what follows: "Yes,", "however,", an item of a list
LEAST_WORDS = 4

# behind a comma, semicolon or colon, or before a spaced dash or a word that joins; joining words are English. A long run of white
# space is looked at once, from its start
_CUT = re.compile(
    r"(?<=[,;:\uff0c\uff1b])\s+|(?<!\s)\s+(?=[\u2013\u2014-]{1,2}\s)"
    r"|(?<!\s)\s+(?=(?:and|but|yet|while|whereas|although|though|despite|alongside)\s)"
)


def claims(sentence: str) -> list[str]:
    """The parts of a sentence in order, each of at least four words unless the sentence has fewer; [] for a blank one.

    >>> claims("The ferry is cheap, quiet and loved by nurses, but nobody runs it at night.")
    ['The ferry is cheap,', 'quiet and loved by nurses,', 'but nobody runs it at night.']
    """
    claims_of_sentence: list[str] = []
    short = ""
    for part in _CUT.split(sentence.strip()):
        short = f"{short} {part}".strip()
        if len(short.split()) >= LEAST_WORDS:
            claims_of_sentence.append(short)
            short = ""
    if short:
        claims_of_sentence[-1:] = [f"{claims_of_sentence[-1]} {short}" if claims_of_sentence else short]
    return claims_of_sentence
