"""Whether a model's reply is a refusal and no summary; refusals in English are known, others pass.

A summary of what people wrote may open as a refusal does ("I can't help but love this kettle"), so an opening alone is none: what
a model declines, to summarise, to help you, to create content, must follow it at once, or the reply end there.
"""

import re

# one more with every change to the rule; part of the key of a bias study's summaries
VERSION = 2

APOLOGY = r"(?:(?:i'?m |i am )?(?:very )?sorry|i apologi[sz]e|as an ai)\b"
UNABLE = r"(?:unfortunately,? |but )?i(?: cannot| can'?t| can not| won'?t| will not|(?:'?m| am) (?:unable|not able)(?: to)?)\b"
END = r"\s*(?:[.!?]|$)"
# what was asked for
ASKED = r"(?:this|that|it|your|such|requests?|(?:the|any) (?:request|text|article))\b"
DECLINED = "|".join(
    [
        r"[^.!?]*?\b(?:summar\w+|(?:your|this|that|such) requests?\b)",
        rf"(?:help|assist)(?:{END}| you\b| (?:with|in) (?:{ASKED}|\w+ing\b))|assist with\b",
        r"be (?:of )?(?:any )?(?:help|assistance)\b",
        rf"(?:comply|fulfil\w*)(?:{END}|(?: with)? {ASKED})",
        rf"(?:do|read) (?:this|that|so|it)(?: for you)?{END}",
        r"(?:read|open|access|process|understand|interpret) (?:this|the|your) (?:old )?(?:text|article)\b(?! (?:of|again)\b)",
        r"(?:provide|create|generate|write|engage|discuss) (?:\S+ ){0,4}?(?:content|information|guidance|responses?|answers?)\b",
        rf"(?:provide|create|generate|write|discuss) (?:this|that|it)(?:{END}| (?:kind|sort|topic|subject)\b)",
        r"(?:write|engage|discuss) (?:about|(?:with|in) (?:this|that|such))\b",
        rf"(?:write|engage|talk) (?:\S+ ){{0,4}}?about (?:this|that){END}",
    ]
)
REFUSAL = re.compile(
    r"as an ai (?:language )?(?:model|assistant)\b|i (?:must|have to) (?:\w+ )?decline\b"
    rf"|(?:(?:{APOLOGY}|{UNABLE})\W*)+$"
    rf"|{APOLOGY}(?:[,.;:]| but)(?: but)? (?:this|the|a|no) (?:old )?(?:text|article|summary)\b"
    rf"|(?:{APOLOGY}[^.!?]*[.!?]?\s+)?{UNABLE},? (?:\w+ly |in good conscience )?(?:{DECLINED})",
    re.IGNORECASE,
)


def is_refusal(text: str) -> bool:
    """Whether the text opens with a refusal; typographic apostrophes count as straight ones."""
    return REFUSAL.match(text.strip().replace("\u2019", "'")) is not None
