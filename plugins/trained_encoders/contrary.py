"""Contraries by rules: a sentence with one thing in it changed that turns what it says, without a model.

Tried in order, and the first that fits is taken: a negation is taken out; one is put behind the first auxiliary, where there is
none; a word gives way to its opposite; a number to another. Names are left as they are, since a sentence with names exchanged may
still be true. What no rule fits has no contrary, and a question says nothing that could be turned. The sentences are for training
encoders, which see words before they see sense; people and models write better ones, so those of an article come first where it
has them. English only.
"""

import re

# taken out, or put back to the plain form
_NEGATIONS = (
    (r"\b(can)not\b", r"\1"),
    (r"\bcan['\u2019]t\b", "can"),
    (r"\bwon['\u2019]t\b", "will"),
    (r"\b(is|are|was|were|do|does|did|has|have|had|would|could|should|must|need|might)n['\u2019]t\b", r"\1"),
    # "not only cheap" says that it is cheap
    (
        r"\b(is|are|was|were|do|does|did|has|have|had|will|would|can|could|should|may|might|must) (?:not|never)\b"
        r"(?! (?:only|just|merely|simply|even|necessarily)\b)",
        r"\1",
    ),
    (r"\b(?:never|hardly|barely) ", ""),
    (r"\bno longer ", "still "),
)
# small letters alone: "May" is a month, and what opens a sentence asks
_AUXILIARY = re.compile(r"\b(is|are|was|were|will|would|can|could|should|has|have|had|may|might|must|does|do|did)\b")
# a second one would take the first back, or stand beside what only looks like one
_NEGATED = re.compile(
    r"\b(?:no|not|cannot|never|none|nobody|nothing|neither|nor|hardly|barely)\b|n['\u2019]t\b", re.IGNORECASE
)
_OPPOSITES = dict(
    pair.split("/")
    for pair in """
    increases/reduces increased/reduced increase/reduce raises/lowers raised/lowered raise/lower rises/falls rose/fell rise/fall
    supports/opposes supported/opposed support/oppose helps/harms helped/harmed help/harm protects/endangers protect/endanger
    strengthens/weakens strengthen/weaken succeeds/fails succeeded/failed succeed/fail wins/loses won/lost win/lose
    allows/forbids allowed/forbade allow/forbid approves/rejects approved/rejected approve/reject accepts/refuses
    accepted/refused accept/refuse improves/worsens improved/worsened improve/worsen gains/losses praises/criticises
    praised/criticised praise/criticise more/less
    good/bad better/worse best/worst strong/weak safe/dangerous cheap/dear legal/illegal fair/unfair necessary/needless true/false
    popular/unpopular easy/hard effective/useless always/never all/none everyone/nobody many/few most/few before/after
    above/below over/under with/without benefit/harm benefits/harms success/failure victory/defeat hope/fear
    """.split()
)
_OPPOSITES |= {second: first for first, second in reversed(_OPPOSITES.items())} | _OPPOSITES
_OPPOSITE = re.compile(rf"\b({'|'.join(_OPPOSITES)})\b", re.IGNORECASE)
# of no name: not in G7, COVID-19
_NUMBER = re.compile(r"(?<![\w-])\d[\d,]*")
# quotation marks and brackets may close behind it
_QUESTION = re.compile(r"\?\W*$")


def contrary(sentence: str) -> str | None:
    """The sentence turned by the first rule that fits; None where none does.

    >>> contrary("The ferry is cheap and does not run at night.")
    'The ferry is cheap and does run at night.'
    >>> contrary("The ferry is cheap.")
    'The ferry is not cheap.'
    """
    if _QUESTION.search(sentence):
        return None
    for pattern, plain in _NEGATIONS:
        turned, count = re.subn(pattern, plain, sentence, count=1, flags=re.IGNORECASE)
        if count:
            return turned
    if not _NEGATED.search(sentence) and (match := _AUXILIARY.search(sentence)):
        return f"{sentence[: match.end()]} not{sentence[match.end() :]}"
    if match := _OPPOSITE.search(sentence):
        return sentence[: match.start()] + _like(match[0], _OPPOSITES[match[0].lower()]) + sentence[match.end() :]
    if match := _NUMBER.search(sentence):
        return sentence[: match.start()] + _another(match[0]) + sentence[match.end() :]
    return None


def _like(word: str, replacement: str) -> str:
    """The replacement, with a capital where the word has one."""
    return replacement.capitalize() if word[0].isupper() else replacement


def _another(number: str) -> str:
    """The number with its first digit 5 further, so that it keeps its length: 1 becomes 6, 6 becomes 1, and so does 5."""
    return f"{(int(number[0]) + 5) % 10 or 1}{number[1:]}"
