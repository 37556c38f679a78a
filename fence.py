"""Text that cannot leave the section of a prompt it stands in.

Sections of a prompt begin and end with tags. A document, a summary or another agent's answer could write the end tag itself,
or a token of the chat format ("<|im_end|>", "</s>", "[/INST]"), which the tokenizer would take for the end of the turn, and then
speak to the model as the user. So no "<" survives inside a section, and no square brackets around an upper-case word ("[INST]",
"[gMASK]", "[UNUSED_TOKEN_146]") or around upright bars ("[|endofturn|]"). The replacements look alike and have the same length:
the model reads the same text.
"""

import re

# the plain sign and the two that compatibility normalisation turns into it
ANGLE = str.maketrans("<\uff1c\ufe64", "\u2039\u2039\u2039")
MARKER = re.compile(r"\[(/?[a-z]*[A-Z][A-Z0-9_]*|\|[^\[\]]*\|)\]")


def fence(text: str) -> str:
    """The text without anything that could end its section: "<" as a quotation mark, "[INST]" in round brackets.

    >>> fence("a < b </source> [INST]")
    'a \u2039 b \u2039/source> (INST)'
    """
    return MARKER.sub(r"(\1)", text.translate(ANGLE))
