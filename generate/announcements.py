"""First words of a reply that announce its summary ("Sure! Here is the summary:"): they are no part of it.

What is no announcement stays: "It sails: at night." is a summary, and so is "Here is where the left objects: the price." Known
are the announcements of the languages below; a first line that ends in a colon is read by the contract, in any language.
"""

import re

# ruff: noqa: RUF001
# language -> what is announced, what an announcement begins with, words of politeness that may come first
LANGUAGES: dict[str, tuple[str, str, str]] = {
    "English": (
        "summary|summaries|summarization|summarisation|synopsis|overview|recap|abstract|tl;dr|tldr",
        "here is|here's|here’s|here are|here i have|below is|below are|below you will find|below you'll find|please find"
        "|the following is|following is|as requested, here",
        "sure|sure thing|certainly|of course|absolutely",
    ),
    "German": (
        "zusammenfassung|kurzfassung",
        "hier ist|hier sind|hier kommt|nachfolgend|im folgenden|es folgt|anbei",
        "gern|gerne|natürlich|selbstverständlich|klar",
    ),
    "French": ("résumé|synthèse", "voici|ci-dessous", "bien sûr|d'accord|avec plaisir|certainement"),
    "Spanish": ("resumen|síntesis", "aquí está|aquí tienes|aquí tiene|aquí va|a continuación|este es", "claro|por supuesto"),
    "Italian": ("riassunto|sintesi", "ecco|di seguito", "certamente|certo"),
    "Portuguese": ("resumo|síntese", "aqui está|segue|abaixo", "com certeza|claro"),
    "Dutch": ("samenvatting", "hier is|hier volgt|hieronder", "natuurlijk|zeker"),
    "Swedish, Danish, Norwegian": (
        "sammanfattning|sammendrag|sammenfatning|resumé", "här är|här kommer|her er|her kommer", "självklart|selvfølgelig",
    ),
    "Polish, Czech": ("podsumowanie|streszczenie|shrnutí", "oto|poniżej|zde je", "oczywiście|jistě|samozřejmě"),
    "Turkish": ("özet|özeti", "işte|aşağıda", "tabii|elbette"),
    "Russian": ("резюме|сводка|краткое изложение|краткое содержание|обзор", "вот|ниже", "конечно|хорошо"),
    "Arabic": ("ملخص|الملخص|ملخصًا", "فيما يلي|إليك|هذا", "بالتأكيد|بالطبع"),
    "Hindi": ("सारांश", "यहाँ|यहां|निम्नलिखित|नीचे|यह", "ज़रूर|बिल्कुल"),
    # no spaces part their words
    "Chinese": ("摘要|总结|總結|概要|概括|综述", "以下|下面|这是|這是", "好的|当然|當然|没问题"),
    "Japanese": ("要約|まとめ", "以下|下記|次|これ", "はい|承知しました|もちろんです"),
    "Korean": ("요약", "다음은|아래는|여기", "네|물론입니다|물론이죠"),
    "Vietnamese": ("tóm tắt", "dưới đây|sau đây|đây là", "chắc chắn"),
    "Indonesian, Malay": ("ringkasan|ringkasannya|rangkuman", "berikut", "tentu|baik"),
    "Thai": ("บทสรุป|สรุป", "นี่คือ|ต่อไปนี้", "แน่นอน"),
    "Finnish, Hungarian": (
        "tiivistelmä|yhteenveto|összefoglaló|összefoglalás", "tässä|alla|íme|itt van", "toki|persze|természetesen",
    ),
    "Romanian": ("rezumat|rezumatul", "iată|mai jos|aici este", "desigur|sigur"),
    "Greek": ("σύνοψη|περίληψη", "ακολουθεί|παρακάτω|εδώ είναι", "βεβαίως|φυσικά"),
    "Croatian, Serbian, Slovene, Slovak": (
        "sažetak|sažetka|rezime|povzetek|povzetka|zhrnutie|zhrnutia|сажетак|сажетка", "evo|ovdje je|ovde je|tukaj je|tu je|ево",
        "naravno|svakako|seveda|samozrejme|iste|наравно",
    ),
    "Estonian, Latvian, Lithuanian": (
        "kokkuvõte|kopsavilkums|santrauka", "siin on|šeit ir|štai|čia yra", "muidugi|protams|žinoma",
    ),
    "Ukrainian": ("підсумок|стислий виклад", "ось|нижче", "звичайно"),
    "Hebrew": ("סיכום|תקציר", "הנה|להלן", "בטח"),
    "Persian, Urdu": ("خلاصه|خلاصہ", "در اینجا|این|یہ", "حتما"),
    "Bengali, Tamil": ("সারাংশ|সারসংক্ষেপ|சுருக்கம்", "এখানে|নিচে|இதோ", "অবশ্যই"),
}  # fmt: skip
SUMMARY, HERE, POLITE = ("|".join(words) for words in zip(*LANGUAGES.values(), strict=True))
# English words for a summary that mean other things alone
VERSION = "version|revision|rewrite|draft|refinement|answer|response|result|output|sentence|paragraph|text|attempt"
CHANGED = "final|refined|revised|improved|updated|corrected|rewritten|rephrased"
KIND = (
    f"{CHANGED}|a|an|the|my|your|our|one|new|short|brief|concise|balanced|fair|neutral|overall|quick|draft"
    "|one-sentence|single-sentence|eine|die|kurze|finale|un|une|le|el|la|il|o|um|court|bref|breve"
)
# English beginnings that announce where a colon ends their line, or "here is" follows
LOOSE = (
    "based on|taking|considering|after|given|in light of|in response|following|incorporating|with|to address|thank you|thanks"
    "|i have|i've|i’ve|i will|i'll|i would|i can|let me|allow me|this is|below|okay|ok|great|understood|got it"
)
# what can be "of events" or "to the crisis", which is a summary's own
OTHER = rf"\b(?:{VERSION})\b(?![ \t](?:of|to|that|der|des)\b(?!(?: (?:the|this|your|my))? (?:request|question|task|feedback)))"
# what will be done, in words of politeness
WILLING = (
    r"(?:i can|i could|i will|i'll|i would be|i'd be|i’d be|i'm|i’m|i am|happy|glad)(?: (?:happy|glad))?(?: to)?"
    r" (?:help|assist|do)(?: you)?(?:(?: out)?(?: with)?(?: that| this| it| your request)?)?"
)
AROUND = r"[\s*_#>`~=\[\"'“”‘’«»「」-]{0,12}(?:\d[.)][ \t]{1,3}[*_]{0,3})?"
COLON, DASH = (
    r"[ \t\xa0*_\"]{0,6}[:：][*_]{0,4}(?:[\"'”’»]{1,3}(?=\s|\Z))?[*_]{0,4}(?:[ \t][>|][+-]?(?=\n))?",
    r"[ \t]{1,3}[-–—]{1,3}[ \t]",
)
# nothing else in the line
LINE = r"[ \t]{0,9}[.!…。]?[ \t*_~=\]\"'”]{0,9}(?=\n|\Z)"
WITHIN = r"(?:[^:：.!?。\n]|[.](?=\w)){0,160}?"
ASIDE = r"(?:[ \t]?\([^()\n]{0,60}\))?[ \t]?\d{0,2}"
OF = r"(?:[ \t](?:of|for|from|in|by|on|der|des|von|zu|du|de|del|dei|di|do|da|van)\b[^:：.!?\n]{0,100})?"
ANNOUNCEMENTS = (
    # "Final summary (left):", "Summary of the texts - ", "**Summary**"
    rf"(?:(?:{KIND})[ \t]){{0,4}}(?:{SUMMARY}){OF}{ASIDE}(?:(?:[ \t]is(?:[ \t]as[ \t]follows)?)?{COLON}|{DASH}|{LINE})",
    rf"(?:[\w-]{{1,20}}[ \t]){{1,3}}(?:{SUMMARY}){ASIDE}{COLON}|in (?:one|a single|two|three) (?:short )?sentences?{COLON}",
    rf"(?:to summari[sz]e|in summary){COLON}",
    # Chinese and Japanese, which say "here" behind it
    rf"(?:{POLITE})?[、，,。！! ]{{0,2}}(?:{SUMMARY})(?:如下|は(?:以下|次)の(?:通り|とおり)です)[ \t*]{{0,4}}[。:：](?=\s|\Z)",
    # "Revised version:", "Answer:"; "The result: ..." is a statement
    rf"(?:(?:{KIND})[ \t]){{0,2}}(?:{CHANGED})(?:[ \t](?:{VERSION}))?{ASIDE}(?: is)?{COLON}",
    rf"(?:answer|response|output){ASIDE}{COLON}",
    # "Here is a short summary of the texts:", "Here is the refined version"
    rf"(?:{HERE}){WITHIN}(?:{SUMMARY}|{OTHER}){WITHIN}(?:{COLON}|{LINE})",
    rf"(?:{HERE})[ \t](?:(?:{KIND})[ \t,]{{1,2}}){{1,5}}(?:{SUMMARY}|version|revision|draft)(?:{DASH}|{WITHIN}[.!](?=\s))",
    r"here (?:it is|you go|we go)(?:[ \t]?[:.!])?|here goes:|as (?:follows|requested):|tl;?dr[ \t]+(?=[^\W\d_])",
    r"(?:here is|here's|here’s) what (?:i|i've|i’ve|i have) (?:came up with|got|have|written|wrote|summari[sz]ed):",
    # what stands where a thought was
    rf"thought for (?:\d{{1,4}}|a few|a couple of) (?:seconds?|minutes?){LINE}",
    # "Draft 2:", "Step 3: Final summary:"
    rf"draft{ASIDE}{COLON}|step[ \t]\d{{1,2}}[ \t]?[:.][ \t*]{{0,4}}(?=(?:(?:{KIND})[ \t]){{0,4}}(?:{SUMMARY}))",
    rf"(?:(?:{POLITE}|okay|ok|yes|alright)[!,.][ \t]{{1,3}})?{WILLING}(?:[.!:](?=\s|\Z)|,? (?=here ))",
    # "Based on the feedback, I would say it so:", "Taking it into account, here is the revised summary. "
    rf"(?:{LOOSE})\b[^\n]{{0,240}}?\b(?:here is|here's|here’s)[ \t](?:(?:{KIND})[ \t]){{0,4}}(?:{SUMMARY}|{VERSION})\b{WITHIN}"
    rf"(?:{COLON}|{LINE})",
    rf"(?:{LOOSE})\b[^\n]{{0,240}}?(?:{SUMMARY}|summari[sz]ed?)\b{WITHIN}{COLON}(?=\s{{0,9}}\n)",
    rf"(?:i have|i've|i’ve) (?:{CHANGED}) (?:the|my|your) (?:{SUMMARY}|{VERSION})\b{WITHIN}{COLON}",
    # what will be done, or was, in a line of its own
    rf"(?:i have|i've|i’ve|i will|i'll|i’ll|let me|i would)\b{WITHIN}(?:{SUMMARY}|summari[sz]e)\b{WITHIN}{LINE}(?=\n\s*\S)",
    # "Sure!", "Of course, here is ...", "Thank you for the feedback." in its line
    rf"(?:{POLITE})(?:[ \t\xa0]?[!！]|{LINE}(?=\n)"
    rf"|[ \t]?[,.;，、。:–—-](?=[ \t]{{0,3}}(?:{HERE}|{SUMMARY}|here it is|here you go)))",
    r"(?:sure|certainly|of course|okay|ok|alright|understood|got it)[.!][ \t]",
    rf"(?:okay|ok|alright|great|yes|understood|got it|no problem|happy to help|(?:thank you|thanks(?! to\b))[^.!?:\n]{{0,120}})"
    rf"(?:[!.,][ \t]{{0,3}}(?=(?:{HERE}|i have|i've|i’ve)\b)|{LINE}(?=\n))",
)  # fmt: skip
# a heading, a title, a line across the page
HEADING = (
    r"\s{0,9}(?:(?P<mark>#{1,6})[ \t][^\n]{1,200}|[*_]{0,4}(?:title|headline|topic)[*_]{0,4}[ \t]?:[^\n]{1,200}"
    r"|[-*_=]{3,40}[ \t]{0,9})(?=\n\s*\S)"
)
# a title in bold letters, before a text that is longer
TITLE = re.compile(r"\s{0,9}(?P<mark>\*\*|__)(?P<words>[^*_\n.!?]{1,100})(?P=mark)[ \t]*(?=\n\s*\S)")
KNOWN = re.compile("|".join([*(f"{AROUND}(?:{pattern})" for pattern in ANNOUNCEMENTS), HEADING]), re.IGNORECASE)
# several stand one after the other: "Sure!", "Here it is:"
MOST = 4
# an announcement that nothing follows is short; a longer one is a summary that begins so
MOST_WORDS_ALONE = 12


def announced(text: str) -> int:
    """Where what is announced begins in a text that begins with an announcement; 0 where it does not."""
    place = 0
    for _ in range(MOST):
        announcement = KNOWN.match(text, place) or _title(text, place)
        if announcement is None or _is_one_of_many(text, announcement):
            break
        place = announcement.end()
    is_all = not text[place:].strip()
    return 0 if is_all and len(text.split()) > MOST_WORDS_ALONE else place


def _title(text: str, place: int) -> "re.Match[str] | None":
    title = TITLE.match(text, place)
    is_title = title and len(text[title.end() :].split()) > 2 * len(title["words"].split())
    return title if is_title else None


def _is_one_of_many(text: str, heading: "re.Match[str]") -> bool:
    """Whether another heading like it stands further on in the paragraph, so that it says what a part of the summary is about."""
    paragraph = text[heading.end() :].partition("\n\n")[0]
    like = {"#": rf"^{heading['mark']}[ \t]+\S", "*": r"^\*\*[^*\n.!?]+\*\*[ \t]*$", "_": r"^__[^_\n.!?]+__[ \t]*$"}
    return bool(heading["mark"]) and re.search(like[heading["mark"][0]], paragraph, re.MULTILINE) is not None
