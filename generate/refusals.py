"""Whether a model's reply is a refusal and no summary; those in English are known, of other languages the commonest.

A summary of what people wrote may open as a refusal does ("I can't help but love this kettle"), so an opening alone is none: what
a model declines, to summarise, to help you, to create content, must follow it at once, or the reply end there. In other languages
"I am sorry, but I cannot" must open the reply, or "I cannot" in some of them, and what was asked for be named beside it. A
sentence that goes on with who says it ("I cannot comply with this law, says the baker") is quoted and no refusal.
"""

import re
from collections.abc import Sequence

from ..text.shown import shortened
from .refusal_languages import ELSEWHERE, OTHER_ORDERS, REGRET

# ruff: noqa: RUF001
# one more with every change to the rule; part of the key of a bias study's summaries
VERSION = 6

APOLOGY = (
    r"(?:(?:i'?m |i am )?(?:very |truly |so |really )?sorry|i apologi[sz]e|(?:my )?apologies"
    r"|i(?:'?m| am) afraid|i regret|as an ai)\b"
)
UNABLE = (
    r"(?:unfortunately,? |but |that |no,? )*i(?: cannot(?: and will not)?| can'?t| can not| won'?t| will not"
    r"|(?: won'?t| will not) be able to|(?:'?d| would) (?:rather|prefer) not(?: to)?"
    r"|(?: would)? prefer not(?: to)?|(?:'?m| am) not going to"
    r"|(?:'?m| am) (?:unable|not (?:able|allowed|permitted|programmed|designed|equipped))(?: to)?)\b"
)
END = r"\s*(?:[.!?]|$)"
# what was asked for
ASKED = (
    r"(?:(?:it|requests?|(?:the|any) (?:request|text|article))\b|(?:this|that|such|your)(?=\s*(?:[.!?,;:]|$)"
    r"| (?:\w+ ){0,2}?(?:request|task|prompt|question|instruction|topic|subject|matter|kind|type|sort|content|text|article|review"
    r"|summary|one|message|conversation)s?\b| (?:as|because|for|since|due|at|without|and|but|or|if)\b))"
)
TEXTS = r"(?:texts?|articles?|documents?|reviews?|passages?|content|posts?)"
DECLINED = "|".join(
    [
        r"[^.!?]*?\b(?:summar\w+|(?:your|this|that|such) requests?\b)",
        rf"(?:help|assist)(?:{END}| you\b| (?:with|in) (?:{ASKED}|\w+ing\b))|assist with\b",
        r"be (?:of )?(?:any )?(?:help|assistance)\b",
        rf"(?:continue|proceed)(?:{END}| (?:with )?{ASKED})|(?:answer|respond to) {ASKED}{END}",
        rf"(?:comply|fulfil\w*|complete)(?:{END}|(?: with)? {ASKED})",
        r"take (?:a )?(?:sides?|stance|position)\b",
        rf"(?:do|read) (?:this|that|so|it)(?: for you)?{END}",
        r"(?:read|open|access|process|understand|interpret) (?:this|the|your) (?:old )?(?:text|article)\b(?! (?:of|again)\b)",
        r"(?:provide|produce|create|generate|write|engage|discuss) (?:\S+ ){0,4}?"
        r"(?:content|information|guidance|responses?|answers?)\b",
        rf"(?:provide|create|generate|write|discuss|share|process) (?:this|that|it)(?:{END}| (?:kind|sort|topic|subject)\b)",
        r"(?:write|engage|discuss) (?:about|(?:with|in) (?:this|that|such))\b",
        rf"(?:see|access) (?:(?:any|the|those) {TEXTS}|(?:any )?external links?){END}",
        rf"(?:discuss|talk about) (?:(?:this|that) (?:topic|subject|matter)|(?:\w+ ){{0,2}}(?:topics|politics)){END}",
        rf"(?:write|engage|talk) (?:\S+ ){{0,4}}?about (?:this|that){END}",
    ]
)
# what cannot be done is said in other ways, or the texts are asked for in place of their summary
WORK = r"(?:summar|writ|generat|creat|provid|produc|help|assist|answer)\w*"
SORRY_I = rf"(?:{APOLOGY}[^.!?]{{0,20}}?)?i"
GIVEN = r"(?:provided|shared|included|attached|supplied|given)"
BELIEF = r"(?:unfortunately,? |it (?:seems|looks|appears) (?:like |that )?(?:there (?:is|are) )?)?"
# what a refusal in a clause of its own may begin with
REASON = (
    r"i (?:aim|strive|try|noticed?|understand|appreciate)|while i|given|due to|because|thanks?|as an? (?:[\w-]+ ){1,2}assistant"
    rf"|(?:the|this) (?:topic|content|subject|request|task)|(?:the|these)(?: provided)? {TEXTS}"
)
OTHER_WAYS = "|".join([
    rf"{SORRY_I}(?: (?:do not|don'?t) feel| am not|'m not)(?: feeling)? comfortable (?:with )?"
    rf"(?:(?:{WORK})\b(?! checks?\b)|\w+ing (?:this|that|from)\b)",
    rf"{SORRY_I} (?:do not|don'?t) have (?:access to|the ability to|enough information to) (?:{WORK}|{ASKED})",
    rf"{SORRY_I} (?:(?:must|have to|need to) )?(?:\w+ly )?(?:decline|refuse)"
    rf"(?:{END}|,| to (?:(?:summar|answer){END}|(?:{WORK}) {ASKED}|do (?:so|that|this){END}|[^.!?]{{0,20}}summar)| {ASKED})",
    rf"{SORRY_I} (?:don'?t|do not) (?:think|believe) i (?:can|could|should) (?:{WORK}|do (?:this|that))",
    rf"{SORRY_I} (?:could not|couldn'?t|was not able to|was unable to) (?:summar|generat|creat|find any {TEXTS})",
    rf"{SORRY_I} (?:do not|don'?t) (?:engage in (?:political|such|this)|take (?:political |any )?(?:sides|positions|stances)\b"
    rf"|have (?:the|any|those) {TEXTS}{END})",
    # "It goes against my guidelines", "Summarizing this would violate our content policy"
    r"[^.!?\n]{0,80}\b(?:against|violates?) (?:my (?:guidelines|polic|programming|principles|values)"
    r"|(?:our|the|openai'?s?) (?:usage|content|safety) (?:guidelines|polic))",
    # "I aim to be neutral, so I can't write from one side"
    rf"(?:{REASON})\b[^.!?\n]{{0,100}}?(?:[,.!] (?:so |but |and )?|\b(?:and|that|but|so) )(?:{UNABLE}|cannot|can't) (?:summar"
    rf"|take (?:a )?sides?\b|(?:help|assist)(?: you)? with {ASKED}"
    r"|(?:write|provide|produce|generate|create|give) (?:\S+ ){0,3}?(?:summar|from one side))",
    rf"(?:the|your|this) request (?:cannot|can't|could not) be (?:fulfilled|completed|processed|granted|answered){END}",
    rf"(?:the|this|these)(?: provided)? {TEXTS} (?:cannot|can't|could not) be summari[sz]ed",
    r"(?:[^.!?\n]{0,80}[.!?,] ){0,2}let's (?:talk about something else|change the (?:topic|subject))\b",
    rf"{APOLOGY},? (?:but )?no[.!]?$"
    rf"|{APOLOGY},? (?:but )?th(?:at|is)(?: request|'s| is)* (?:beyond|outside|against|goes against)",
    rf"{SORRY_I} (?:do not|don'?t) see any {TEXTS}",
    rf"{SORRY_I} (?:would )?need (?:the|your|more) (?:{TEXTS}|information) (?:first|to (?:{WORK}))",
    rf"i(?: would|'d) be (?:happy|glad) to {WORK}[^.!?]{{0,60}}, but\b",
    r"i'?m (?:just |only )?(?:an ai(?: (?:language )?(?:model|assistant))?|a (?:large )?language model)"
    r"(?: and (?:i |can|do|have|so)|[.,;]| trained| developed)",
    r"as an? (?:\w+ )?(?:ai|(?:large )?language model)(?: (?:language )?(?:model|assistant|system))?"
    r"(?: (?:developed|created|made|trained|designed|built) [^,.!?]{1,40})?,? (?:i\b|my\b|it (?:is not|isn't|would))",
    r"i(?: am|'m) (?:designed|programmed|trained) to [^.!?]{1,60}\b(?:cannot|can't|so i)\b",
    rf"it (?:is|would be) inappropriate for me to (?:{WORK}|take (?:a )?sides?)",
    r"(?:that|this)(?: is|'s) (?:outside|beyond) my (?:capabilit|abilit|guideline)",
    rf"{SORRY_I} (?:do not|don'?t) have access to (?:any|the|those|these) {TEXTS}{END}",
    rf"{BELIEF}there is nothing (?:here )?to summari[sz]e{END}",
    rf"{BELIEF}(?:the|your)(?: provided)? {TEXTS} (?:is|are|was|were|(?:appears?|seems?) to be) (?:empty|blank){END}",
    rf"it (?:is not|isn'?t|would not be|wouldn'?t be) appropriate (?:for me )?to (?:{WORK}|take (?:a )?sides?)",
    r"(?:that is|that's|this is) (?:something|not something) i can(?:'?t|not)? (?:help|do)",
    r"(?:my|our) (?:guidelines|policies|instructions|programming) (?:do not|don'?t|prevent|prohibit|forbid)",
    r"(?:this|your|the) (?:request|content|prompt) (?:may |might |would |seems to )?violates? (?:our|my|openai|the usage)",
    r"your (?:request|prompt) (?:was|has been|is) (?:rejected|refused|blocked|flagged)",
    rf"{BELIEF}you (?:have not|haven'?t|did not|didn'?t) (?:\w+ )?"
    rf"(?:provided?|shared?|included?) (?:\w+ ){{0,2}}{TEXTS}(?: (?:to|for me to) summar\w+)?"
    rf"(?:{END}|[,;] (?:so|please|and|could)\b)",
    rf"{BELIEF}(?:no|not enough|the|your) (?:{TEXTS}|information) (?:(?:were|was|has been|have been|is|are) (?:not )?)?"
    rf"(?:{GIVEN}|available|missing)(?: (?:to|for me to) summar\w+)?{END}",
    rf"{BELIEF}there (?:is|are) (?:no|not enough) (?:{TEXTS}|information) (?:{GIVEN}{END}|(?:here )?to (?:summar|writ))",
    rf"{BELIEF}there (?:is|are) no (?:[\w-]+ )?{TEXTS} in the (?:input|prompt|request|message){END}",
    rf"(?:could|can|would) you (?:please )?(?:provide|share|paste)\b[^.!?]{{0,40}} {TEXTS}[^.!?]{{0,60}}\?",
    rf"please (?:provide|share|paste) (?:me )?(?:with )?(?:the|your) {TEXTS}"
    rf"(?:{END}|[^.!?]{{0,20}}\b(?:you(?:'d| would| want)|i (?:should|can|need)|for me))",
    # nothing else
    rf"(?:n/?a|no (?:summary|{TEXTS})(?: (?:available|found|provided))?"
    rf"|(?:unable|cannot|can't|could not) (?:to )?summari[sz]e[^.!?]{{0,60}}"
    r"|(?:the |your )?request (?:was )?(?:refused|denied|declined))[.!\]]?$",
])  # fmt: skip
# who says it, where it is quoted: "I cannot comply with this law, says the baker"
SAYS = (
    r"(?:says?|said|writes?|wrote|complain(?:s|ed)?|explain(?:s|ed)?|told|tells?|add(?:s|ed)|argue[sd]?|insist(?:s|ed)?|not(?:es|ed)"
    r"|report(?:s|ed)|answer(?:s|ed)|repl(?:y|ies|ied)|claim(?:s|ed)?|declare[sd]?|admit(?:s|ted)?|state[sd]|recall(?:s|ed)|warn(?:s|ed)?)"
)
# who is no speaker: what the model says of the texts, and of itself
NO_SPEAKER = rf"(?:the|these|those|this) (?:{TEXTS}|authors?|sources?)\b|(?:as|i|we|but|so|and|it|you|let)\b"
ATTRIBUTION = re.compile(
    rf"[,\"\u201d] ?{SAYS}\b|[,\"\u201d] ?(?!{NO_SPEAKER})(?:[\w'-]+ ){{1,5}}?{SAYS}\b"
    r"|, (?:sagt|schr[ei]{2}b|meint|klagt|erklär|dit\b|écri|déclar|expliqu|affirm|dice|dijo|escrib|explic|scriv|diz\b|disse"
    r"|escrev|zeg|schrij|diyor|säger|skriv|siger|sier|mówi|pisze|říká|píše|говор|пиш|сказа|заяв)"
    r"|[，,”」][^，,。\n]{0,12}(?:说|說|写道|寫道|抱怨|表示)|と[^。\n]{0,15}(?:述べ|言|語|書)|(?:라고|다고)[^.\n]{0,15}(?:말|썼|쓴|적)",
    re.IGNORECASE,
)
SENTENCE_END = re.compile(r"[.!?。\n]")
# characters in which a refusal shows
MOST_READ = 600
REFUSAL = re.compile(
    rf"(?:{REGRET}|[\[*_(]{{0,3}})(?:{OTHER_WAYS}|{ELSEWHERE}|{OTHER_ORDERS})"
    rf"|(?:(?:{APOLOGY}|{UNABLE})\W*)+$"
    rf"|{APOLOGY}(?:[,.;:]| but)(?: but)? (?:this|the|a|no) (?:old )?(?:text|article|summary)\b"
    rf"|(?:{APOLOGY}[^.!?]*[.!?]?\s+)?{UNABLE},? (?:\w+ly |in good conscience )?(?:{DECLINED})",
    re.IGNORECASE,
)


def is_refusal(text: str) -> bool:
    """Whether the text opens with a refusal; what somebody is said to have said is none."""
    # typographic apostrophes count as straight ones
    text = text.strip()[:MOST_READ].replace("\u2019", "'")
    refusal = REFUSAL.match(text)
    return refusal is not None and not is_attributed(text, refusal.end())


def refusals_told(texts: Sequence[str]) -> str:
    """The warning of how many of these summaries from elsewhere begin as refusals do; "" where none is."""
    refusals = [text for text in texts if is_refusal(text)]
    if not refusals:
        return ""
    return (
        f"{len(refusals):,} of {len(texts):,} summaries {'begins' if len(refusals) == 1 else 'begin'} as refusals do "
        f"({shortened(refusals[0].strip())}); they count like any other. Take them out, and see whose documents they are of."
    )


def is_attributed(text: str, end: int) -> bool:
    """Whether the sentence that is open at `end` goes on with who says it."""
    stop = SENTENCE_END.search(text, max(0, end - 1), end + MOST_READ)
    return ATTRIBUTION.search(text, 0, stop.start() if stop else end + MOST_READ) is not None
