"""Control characters of texts that others wrote, made visible before a terminal, a browser or a spreadsheet acts on them.

A document, a label or a file's name may hold sequences that move the cursor, set a window's title or turn the order of letters
around, so that a message says something else than it shows. They are written as Python writes them in a literal: "\\x1b",
"\\u202e". Left alone are line breaks and tabs, and what ordinary texts are made of: joiners of emoji, Persian and Hindi, marks of
direction that belong to one place, soft hyphens.
"""

import re

# C0 and C1 but for tab, line feed and the carriage return before one; line and paragraph separators; embeddings, overrides and
# isolates of direction with the deprecated ones; annotations between lines; marks of music; the tag of a language; half
# characters, as names of files that are not UTF-8 have; what is no character
CONTROL = re.compile(
    "\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u206f\ud800-\udfff\ufff9-\ufffb\ufffe\uffff\U0001d173-\U0001d17a\U000e0001]"
)


def visible(text: str) -> str:
    """The text with each control character written as its escape; ordinary text as it is."""
    return CONTROL.sub(_escape, text)


def _escape(control: re.Match[str]) -> str:
    number = ord(control[0])
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
