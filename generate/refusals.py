"""Whether a model's reply is a refusal and no summary; those in English are known, of other languages the commonest.

A summary of what people wrote may open as a refusal does ("I can't help but love this kettle"), so an opening alone is none: what
a model declines, to summarise, to help you, to create content, must follow it at once, or the reply end there. In other languages
"I am sorry, but I cannot" must open the reply, or "I cannot" in some of them, and what was asked for be named beside it.
"""

import re

# ruff: noqa: RUF001
# one more with every change to the rule; part of the key of a bias study's summaries
VERSION = 3

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
WORK = r"(?:summar|writ|generat|creat|provid|help|assist|answer)\w*"
SORRY_I = rf"(?:{APOLOGY}[^.!?]{{0,20}}?)?i"
TEXTS = r"(?:texts?|articles?|documents?|reviews?|passages?|content|posts?)"
GIVEN = r"(?:provided|shared|included|attached|supplied|given)"
BELIEF = r"(?:unfortunately,? |it (?:seems|looks|appears) (?:like |that )?(?:there (?:is|are) )?)?"
OTHER_WAYS = "|".join([
    rf"{SORRY_I}(?: (?:do not|don'?t) feel| am not|'m not)(?: feeling)? comfortable (?:with )?"
    rf"(?:(?:{WORK})\b(?! checks?\b)|\w+ing (?:this|that|from)\b)",
    rf"{SORRY_I} (?:do not|don'?t) have (?:access to|the ability to|enough information to) (?:{WORK}|{ASKED})",
    rf"{SORRY_I} (?:must|have to|need to) (?:\w+ )?decline(?:{END}|,| to (?:{WORK}|do (?:so|that|this)){END}?| {ASKED})",
    rf"{SORRY_I} (?:don'?t|do not) (?:think|believe) i (?:can|could|should) (?:{WORK}|do (?:this|that))",
    rf"{SORRY_I} (?:could not|couldn'?t|was not able to|was unable to) (?:summar|generat|creat|find any {TEXTS})",
    rf"{SORRY_I} (?:do not|don'?t) see any {TEXTS}",
    rf"{SORRY_I} (?:would )?need (?:the|your|more) (?:{TEXTS}|information) (?:first|to (?:{WORK}))",
    rf"i(?: would|'d) be (?:happy|glad) to {WORK}[^.!?]{{0,60}}, but\b",
    r"i'?m (?:just |only )?an ai(?: (?:language )?(?:model|assistant))?(?: and (?:i |can|do|have|so)|[.,;]| trained| developed)",
    r"as an? (?:\w+ )?(?:ai|(?:large )?language model)(?: (?:language )?(?:model|assistant|system))?"
    r"(?: (?:developed|created|made|trained|designed|built) [^,.!?]{1,40})?,? (?:i\b|my\b|it (?:is not|isn't|would))",
    r"i(?: am|'m) (?:designed|programmed|trained) to [^.!?]{1,60}\b(?:cannot|can't|so i)\b",
    rf"it (?:is not|isn'?t|would not be|wouldn'?t be) appropriate (?:for me )?to (?:{WORK}|take (?:a )?sides?)",
    r"(?:that is|that's) (?:something|not something) i can(?:'?t|not)? (?:help|do)",
    r"(?:my|our) (?:guidelines|policies|instructions|programming) (?:do not|don'?t|prevent|prohibit|forbid)",
    r"(?:this|your|the) (?:request|content|prompt) (?:may |might |would |seems to )?violates? (?:our|my|openai|the usage)",
    r"your (?:request|prompt) (?:was|has been|is) (?:rejected|refused|blocked|flagged)",
    rf"{BELIEF}you (?:have not|haven'?t|did not|didn'?t) (?:\w+ )?"
    rf"(?:provided?|shared?|included?) (?:\w+ ){{0,2}}{TEXTS}(?: (?:to|for me to) summar\w+)?"
    rf"(?:{END}|[,;] (?:so|please|and|could)\b)",
    rf"{BELIEF}(?:no|not enough|the|your) (?:{TEXTS}|information) (?:(?:were|was|has been|have been|is|are) (?:not )?)?"
    rf"(?:{GIVEN}|available|missing)(?: (?:to|for me to) summar\w+)?{END}",
    rf"{BELIEF}there (?:is|are) (?:no|not enough) (?:{TEXTS}|information) (?:{GIVEN}{END}|(?:here )?to (?:summar|writ))",
    rf"(?:could|can|would) you (?:please )?(?:provide|share|paste)\b[^.!?]{{0,40}} {TEXTS}[^.!?]{{0,60}}\?",
    rf"please (?:provide|share|paste) (?:me )?(?:with )?(?:the|your) {TEXTS}"
    rf"(?:{END}|[^.!?]{{0,20}}\b(?:you(?:'d| would| want)|i (?:should|can|need)|for me))",
    # nothing else
    rf"(?:n/?a|no (?:summary|{TEXTS})(?: (?:available|found|provided))?"
    rf"|(?:unable|cannot|can't|could not) (?:to )?summari[sz]e[^.!?]{{0,60}}"
    r"|(?:the |your )?request (?:was )?(?:refused|denied|declined))[.!]?$",
])  # fmt: skip
# language -> words of apology, words of not being able, words of what is asked for
LANGUAGES: dict[str, tuple[str, str, str]] = {
    "German": (
        "tut mir (?:sehr )?leid|entschuldig(?:ung|en sie)|ich bedauere", "ich kann|kann ich|ich darf|ich bin nicht",
        "zusammenfass|helfen|behilflich|unterstütz|beantwort|erstell|verfassen|schreiben|anfrage|bearbeit|nachkomm|stellung",
    ),
    "French": (
        "(?:je suis )?(?:vraiment )?désolée?|(?:je )?regrette", "je ne (?:peux|puis|suis)|il m'est impossible",
        "aider|résum|répondre|fournir|rédiger|écrire|générer|traiter|demande|prendre parti|créer",
    ),
    "Spanish": (
        "lo siento(?: mucho)?|lo lamento|disculp[ae]|perdón", "no (?:puedo|me es posible|estoy)",
        "ayudar|resum|responder|proporcion|escrib|generar|redact|cumplir|solicitud|opinar|crear|procesar",
    ),
    "Italian": (
        "mi dispiace|mi scuso|spiacente", "non (?:posso|sono in grado)",
        "aiutar|riassum|rispond|fornir|scriver|generar|richiesta|soddisf",
    ),
    "Portuguese": (
        "desculpe|sinto muito|lamento", "não (?:posso|consigo)",
        "ajud|resum|respond|fornec|escrev|gerar|solicita|pedido",
    ),
    "Dutch": (
        "het spijt me|sorry|excuses", "ik kan|kan ik|ik ben niet",
        "help|samenvat|schrijven|verzoek|beantwoord|maken",
    ),
    "Swedish": (
        "jag är ledsen|jag beklagar|förlåt", "jag kan inte|kan jag inte",
        "hjälp|sammanfatt|skriva|svara|uppfyll|begäran",
    ),
    "Danish, Norwegian": (
        "beklager|undskyld|jeg er ked af det", "jeg kan ikke|kan jeg ikke",
        "hjælp|hjelp|sammenfat|oppsummer|skrive|svar|anmodning|forespørsel",
    ),
    "Polish": (
        "przykro mi|przepraszam", "nie (?:mogę|jestem)",
        "pomóc|pomag|podsumow|streści|napis|odpowied|spełni|prośb",
    ),
    "Czech": (
        "omlouvám se|je mi líto", "nemohu|nemůžu",
        "pomoc|pomoct|shrn|naps|odpověd|žádost|splnit",
    ),
    "Turkish": (
        "üzgünüm|özür dilerim", r"\w+(?:amam|emem|amıyorum|emiyorum)",
        "yardım|özet|yaz|cevap|yanıt|yerine|isteğ",
    ),
    "Russian": (
        "извините|простите|мне жаль", "я не (?:могу|смогу)|не могу",
        "помо|обобщ|резюм|напис|ответ|выполн|предостав|запрос|пересказ",
    ),
    "Arabic": (
        "عذر[ًا]+|آسف|أعتذر", "لا (?:أستطيع|يمكنني)|لن أتمكن",
        "مساعد|تلخيص|ألخص|كتابة|تقديم|الرد|طلب|إنشاء",
    ),
    "Hindi": (
        "क्षमा करें|माफ़ करें|माफ करें|मुझे खेद है", "नहीं",
        "मदद|सहायता|सारांश|लिख|अनुरोध|जवाब",
    ),
    "Chinese": (
        "对不起|對不起|(?:很|非常)?抱歉", "我?(?:无法|無法|不能|不便)",
        "提供|[协協帮幫]助|帮[你您]|[总總][结結]|概括|摘要|完成|回答|[满滿]足|[处處]理|生成|撰写|[请請]求|回[应應]",
    ),
    "Japanese": (
        "申し訳(?:ありません|ございません)|すみません|ごめんなさい", "できません|できかねます|いたしかねます|致しかねます",
        "お手伝い|要約|対応|応え|答え|回答|提供|作成|生成|協力|リクエスト",
    ),
    "Korean": (
        "죄송하지만|죄송합니다|미안하지만", "없습니다|못합니다|없어요",
        "도와|도움|요약|제공|답변|작성|요청|응할|생성|도울",
    ),
}  # fmt: skip
# what is said without an apology, in the first person
ALONE = {
    "German": r"(?:leider,? |als (?:eine )?ki[^.!?\n]{0,30}? )?(?:ich kann|kann ich)\b(?=[^.!?\n]{0,60}\bk?(?:nicht|eine?)\b)",
    "French": r"(?:en tant qu[^.!?\n]{0,30}, )?je ne (?:peux|puis) pas\b",
    "Spanish": r"(?:como (?:una )?(?:ia|modelo)[^.!?\n]{0,30}, )?no puedo\b",
    "Italian": r"non posso\b",
    "Portuguese": r"não posso\b",
    "Russian": r"(?:как (?:ии|языковая модель), )?я не могу\b",
    "Arabic": r"لا (?:أستطيع|يمكنني)\b",
    "Chinese": r"(?:作为[^.!?。\n]{0,20}[，,])?我(?:无法|無法|不能)",
}
STOP = r"[^.!?。\n]"
# what was asked for stands in the same sentence, or nothing more is said
ELSEWHERE = "|".join(
    rf"(?:es )?(?:{sorry})(?:[.!。]\s*)?(?={STOP}{{0,100}}?(?:{work})){STOP}{{0,60}}?(?:{unable})"
    + (
        rf"|{ALONE[language]}(?={STOP}{{0,40}}?(?:{work}))"
        rf"|(?:es )?(?:{sorry}){STOP}{{0,30}}?(?:{unable})(?:\W*nicht)?\W*(?:[.!。]|\Z)"
        if language in ALONE
        else ""
    )
    for language, (sorry, unable, work) in LANGUAGES.items()
)
# characters in which a refusal shows
MOST_READ = 600
REFUSAL = re.compile(
    rf"{OTHER_WAYS}|{ELSEWHERE}"
    rf"|(?:(?:{APOLOGY}|{UNABLE})\W*)+$"
    rf"|{APOLOGY}(?:[,.;:]| but)(?: but)? (?:this|the|a|no) (?:old )?(?:text|article|summary)\b"
    rf"|(?:{APOLOGY}[^.!?]*[.!?]?\s+)?{UNABLE},? (?:\w+ly |in good conscience )?(?:{DECLINED})",
    re.IGNORECASE,
)


def is_refusal(text: str) -> bool:
    """Whether the text opens with a refusal; typographic apostrophes count as straight ones."""
    return REFUSAL.match(text.strip()[:MOST_READ].replace("\u2019", "'")) is not None
