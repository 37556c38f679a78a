"""Whether a model's reply is a refusal and no summary; those in English are known, of other languages the commonest.

A summary of what people wrote may open as a refusal does ("I can't help but love this kettle"), so an opening alone is none: what
a model declines, to summarise, to help you, to create content, must follow it at once, or the reply end there. In other languages
"I am sorry, but I cannot" must open the reply, and nothing be recommended.
"""

import re

# ruff: noqa: RUF001
# one more with every change to the rule; part of the key of a bias study's summaries
VERSION = 2

APOLOGY = (
    r"(?:(?:i'?m |i am )?(?:very |truly |so |really )?sorry|i apologi[sz]e|(?:my )?apologies"
    r"|i(?:'?m| am) afraid|i regret|as an ai)\b"
)
UNABLE = (
    r"(?:unfortunately,? |but |that )*i(?: cannot(?: and will not)?| can'?t| can not| won'?t| will not"
    r"|(?: won'?t| will not) be able to|(?:'?d| would) (?:rather|prefer) not(?: to)?"
    r"|(?:'?m| am) (?:unable|not (?:able|allowed|permitted|programmed|designed|equipped))(?: to)?)\b"
)
END = r"\s*(?:[.!?]|$)"
# what was asked for
ASKED = r"(?:this|that|it|your|such|requests?|(?:the|any) (?:request|text|article))\b"
DECLINED = "|".join(
    [
        r"[^.!?]*?\b(?:summar\w+|(?:your|this|that|such) requests?\b)",
        rf"(?:help|assist)(?:{END}| you\b| (?:with|in) (?:{ASKED}|\w+ing\b))|assist with\b",
        r"be (?:of )?(?:any )?(?:help|assistance)\b",
        rf"(?:continue|proceed)(?:{END}| with {ASKED})|(?:answer|respond to) {ASKED}{END}",
        rf"(?:comply|fulfil\w*)(?:{END}|(?: with)? {ASKED})",
        r"take (?:a )?(?:sides?|stance|position)\b",
        rf"(?:do|read) (?:this|that|so|it)(?: for you)?{END}",
        r"(?:read|open|access|process|understand|interpret) (?:this|the|your) (?:old )?(?:text|article)\b(?! (?:of|again)\b)",
        r"(?:provide|create|generate|write|engage|discuss) (?:\S+ ){0,4}?(?:content|information|guidance|responses?|answers?)\b",
        rf"(?:provide|create|generate|write|discuss) (?:this|that|it)(?:{END}| (?:kind|sort|topic|subject)\b)",
        r"(?:write|engage|discuss) (?:about|(?:with|in) (?:this|that|such))\b",
        rf"(?:write|engage|talk) (?:\S+ ){{0,4}}?about (?:this|that){END}",
    ]
)
WORK = r"(?:summar|writ|generat|creat|provid|help|assist|answer)\w*"
# what cannot be done is said in other ways, or the texts are asked for in place of their summary
SORRY_I = rf"(?:{APOLOGY}[^.!?]{{0,20}}?)?i"
OTHER_WAYS = "|".join([
    rf"{SORRY_I} (?:do not|don'?t) feel comfortable\b[^.!?]{{0,20}} {WORK}",
    rf"{SORRY_I} (?:do not|don'?t) have (?:access to|the ability to) (?:{WORK}|{ASKED})",
    rf"{SORRY_I} (?:must|have to|need to) (?:\w+ )?decline\b|i'?m (?:just |only )?an ai\b",
    r"(?:it (?:seems|looks|appears) (?:like |that )?)?you (?:have not|haven'?t|did not|didn'?t) (?:\w+ )?"
    r"(?:provided?|shared?|included?) (?:\w+ ){0,2}(?:texts?|articles?|documents?|reviews?|passages?)\b",
    r"please (?:provide|share|paste) (?:me )?(?:with )?(?:the|your) (?:texts?|articles?|documents?|reviews?|passages?)\b"
    r"[^.!?]{0,20}\b(?:you|i|me)\b",
])  # fmt: skip
# language -> words of apology, words of not being able
LANGUAGES: dict[str, tuple[str, str]] = {
    "German": ("tut mir (?:sehr )?leid|entschuldig(?:ung|en sie)|ich bedauere", "ich kann|kann ich|ich darf|ich bin nicht"),
    "French": ("(?:je suis )?(?:vraiment )?désolée?|(?:je )?regrette", "je ne (?:peux|puis|suis)|il m'est impossible"),
    "Spanish": ("lo siento(?: mucho)?|lo lamento|disculp[ae]|perdón", "no (?:puedo|me es posible|estoy)"),
    "Italian": ("mi dispiace|mi scuso|spiacente", "non (?:posso|sono in grado)"),
    "Portuguese": ("desculpe|sinto muito|lamento", "não (?:posso|consigo)"),
    "Dutch": ("het spijt me|sorry|excuses", "ik kan|kan ik|ik ben niet"),
    "Swedish": ("jag är ledsen|jag beklagar|förlåt", "jag kan inte|kan jag inte"),
    "Danish, Norwegian": ("beklager|undskyld|jeg er ked af det", "jeg kan ikke|kan jeg ikke"),
    "Polish": ("przykro mi|przepraszam", "nie (?:mogę|jestem)"),
    "Czech": ("omlouvám se|je mi líto", "nemohu|nemůžu"),
    "Turkish": ("üzgünüm|özür dilerim", r"\w+(?:amam|emem|amıyorum|emiyorum)"),
    "Russian": ("извините|простите|мне жаль", "я не (?:могу|смогу)|не могу"),
    "Arabic": ("عذر[ًا]+|آسف|أعتذر", "لا (?:أستطيع|يمكنني)|لن أتمكن"),
    "Hindi": ("क्षमा करें|माफ़ करें|माफ करें|मुझे खेद है", "नहीं"),
    "Chinese": ("对不起|對不起|(?:很|非常)?抱歉", "我?(?:无法|無法|不能|不便)"),
    "Japanese": (
        "申し訳(?:ありません|ございません)|すみません|ごめんなさい",
        "できません|できかねます|いたしかねます|致しかねます",
    ),
    "Korean": ("죄송하지만|죄송합니다|미안하지만", "없습니다|못합니다|없어요"),
}  # fmt: skip
RECOMMENDED = (
    "empfehl|recom|consigli|aanbevel|aanraden|rekommend|anbefal|polec|doporuč|öner|рекоменд|推荐|推薦|すすめ|추천"
)
ELSEWHERE = "|".join(
    rf"(?:es )?(?:{sorry})[^.!?。\n]{{0,60}}?(?:{unable})(?![^.!?。\n]{{0,80}}?(?:{RECOMMENDED}))"
    for sorry, unable in LANGUAGES.values()
)
# characters in which a refusal shows
MOST_READ = 600
REFUSAL = re.compile(
    rf"as an? (?:ai|large)(?: language)? (?:model|assistant)\b|as a language model\b|{OTHER_WAYS}|{ELSEWHERE}"
    rf"|(?:(?:{APOLOGY}|{UNABLE})\W*)+$"
    rf"|{APOLOGY}(?:[,.;:]| but)(?: but)? (?:this|the|a|no) (?:old )?(?:text|article|summary)\b"
    rf"|(?:{APOLOGY}[^.!?]*[.!?]?\s+)?{UNABLE},? (?:\w+ly |in good conscience )?(?:{DECLINED})",
    re.IGNORECASE,
)


def is_refusal(text: str) -> bool:
    """Whether the text opens with a refusal; typographic apostrophes count as straight ones."""
    return REFUSAL.match(text.strip()[:MOST_READ].replace("\u2019", "'")) is not None
