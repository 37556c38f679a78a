"""Whether a model's reply is a refusal and no summary.

A summary of what people wrote may open as a refusal does ("I can't help but love this kettle"), so an opening alone is none: its
sentence must speak of what was asked for, or end there.
"""

import re

OPENING = (
    r"(?:(?:i'?m |i am )?(?:very )?sorry|i apologi[sz]e|as an ai|"
    r"(?:unfortunately,? |but )?i(?: cannot| can'?t| can not| won'?t| will not|(?:'?m| am) (?:unable|not able)))\b"
)
ASKED = (
    r"\b(?:summar\w+|help(?! but\b)|assist|request|comply|fulfil\w*|(?:provide|create|generate) (?:a|any|the|this|that)\b|"
    r"do (?:this|that|so)|read (?:it|this|that)|(?:this|the) (?:old )?(?:text|article))\b"
)
OUTRIGHT = r"as an ai (?:language )?(?:model|assistant)\b|i (?:must|have to) (?:\w+ )?decline\b"
REFUSAL = re.compile(
    rf"{OUTRIGHT}|(?:{OPENING}\W*)+$|(?:{OPENING}[^.!?]*[.!?]\s+)?{OPENING}[^.!?]*?{ASKED}", re.IGNORECASE
)


def is_refusal(text: str) -> bool:
    """Whether the text opens with a refusal; typographic apostrophes count as straight ones."""
    return REFUSAL.match(text.strip().replace("\u2019", "'")) is not None
