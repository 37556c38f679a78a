"""The commonest refusals in other languages than English: "I am sorry, but I cannot", or "I cannot" beside what was asked for."""

# ruff: noqa: RUF001
# language -> words of apology, words of not being able, words of what is asked for
LANGUAGES: dict[str, tuple[str, str, str]] = {
    "German": (
        "tut mir (?:sehr )?leid|entschuldig(?:ung|en sie)|ich bedauere", "ich kann|kann ich|ich darf|ich bin nicht",
        "zusammenfass|helfen|behilflich|unterstütz|beantwort|erstell|verfassen|schreiben|anfrage|bearbeit|nachkomm|stellung",
    ),
    "French": (
        "(?:je suis )?(?:vraiment )?désolée?|(?:je )?regrette", "je ne (?:peux|puis|suis)|il m'est impossible",
        "aider|résum|répondre|faire cela|fournir|rédiger|écrire|générer|traiter|demande|prendre parti|créer",
    ),
    "Spanish": (
        "lo siento(?: mucho)?|lo lamento|disculp[ae]|perdón", "no (?:puedo|poder|me es posible|estoy)",
        "ayudar|resum|responder|proporcion|escrib|generar|redact|cumplir|solicitud|opinar|tomar partido|crear|procesar",
    ),
    "Italian": (
        "mi dispiace|mi scuso|spiacente", "non (?:posso|sono in grado)",
        "aiutar|riassum|rispond|fornir|scriver|generar|richiesta|soddisf",
    ),
    "Portuguese": (
        "desculpe|peço desculpas|sinto muito|lamento", "não (?:posso|consigo)",
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
        "omlouvám se|je mi líto|promiňte|bohužel", "nemohu|nemůžu",
        "pomoc|pomoct|pomoci|shrn|naps|odpověd|žádost|splnit",
    ),
    "Turkish": (
        "üzgünüm|özür dilerim", r"\w+(?:amam|emem|amıyorum|emiyorum)",
        "yardım|özet|yaz|cevap|yanıt|yerine|isteğ",
    ),
    "Russian": (
        "извините|простите|мне жаль", "я не (?:могу|смогу)|не могу",
        "помо|обобщ|резюм|напис|ответ|выполн|предостав|запрос|пересказ|обсужд",
    ),
    "Arabic": (
        "عذر[ًا]+|آسف|أعتذر", "لا (?:أستطيع|يمكنني)|لن أتمكن",
        "مساعد|تلخيص|ألخص|كتابة|تقديم|الرد|طلب|إنشاء",
    ),
    "Hindi": (
        "क्षमा करें|माफ़ कीजिए|माफ कीजिए|माफ़ करें|माफ करें|मुझे खेद है", "नहीं",
        "मदद|सहायता|सारांश|लिख|अनुरोध|जवाब",
    ),
    "Chinese": (
        "对不起|對不起|(?:很|非常)?抱歉", "我?(?:无法|無法|不能|不便)",
        "提供|[协協帮幫]助|帮[你您]|[总總][结結]|概括|摘要|完成|回答|[满滿]足|[处處]理|生成|撰写|[请請]求|回[应應]|立场|立場",
    ),
    "Japanese": (
        "申し訳(?:ありません|ございません)|すみません|ごめんなさい", "できません|できかねます|いたしかねます|致しかねます",
        "お手伝い|それは|要約|対応|応え|答え|回答|提供|作成|生成|協力|リクエスト",
    ),
    "Korean": (
        "죄송하지만|죄송합니다|미안하지만", "없습니다|못합니다|없어요",
        "도와|도움|요약|제공|답변|작성|요청|응할|생성|도울",
    ),
    "Ukrainian": ("вибачте|перепрошую|на жаль", "не (?:можу|зможу)", "допомог|узагальн|підсум|напис|відповід|викона|запит"),
    "Finnish": ("valitettavasti|pahoittelen|anteeksi", "en (?:voi|pysty)", "autta|tiivist|kirjoitta|vasta|pyyntö"),
    "Slovak": ("prepáčte|ospravedlňujem sa|je mi ľúto|bohužiaľ", "nemôžem", "pomôcť|zhrnú|napísa|odpoved|žiados|spracova"),
    "Croatian, Serbian": (
        "žao mi je|nažalost|ispričavam se|oprostite|izvinite|жао ми је", "(?:ja )?ne mogu|не могу",
        "pomo[ćg]|sažet|napisa|odgovor|zahtjev|zahtev|помо",
    ),
    "Bulgarian": ("съжалявам|извинете|за съжаление", "не мога", "помогна|обобщ|напиша|отговор|заявка|искане"),
    "Estonian": ("vabandust|vabandan|kahjuks", "ma ei saa", "aidata|kokku võtta|kirjutada|vastata|taotlus"),
    "Hungarian": ("sajnálom|sajnos|elnézést", "nem tud(?:ok|om)|nem segíthetek", "segít|összefoglal|írni|válaszol|kérés"),
    "Romanian": ("îmi pare rău|scuze|din păcate", "nu pot", "ajut|rezum|scrie|răspun|cerer|solicit"),
    "Greek": ("λυπάμαι|συγγνώμη|δυστυχώς", "δεν μπορώ", "βοηθ|συνοψ|γράψ|απαντ|αίτημ"),
    "Vietnamese": ("xin lỗi|rất tiếc", "(?:tôi )?không thể", "giúp|tóm tắt|viết|trả lời|yêu cầu|hỗ trợ"),
    "Indonesian": ("maaf|mohon maaf", "(?:saya )?tidak (?:bisa|dapat)", "bantu|ringkas|rangkum|tulis|jawab|permintaan|memenuhi"),
    "Thai": ("ขออภัย|ขอโทษ", "ไม่สามารถ", "ช่วย|สรุป|เขียน|ตอบ|คำขอ"),
    "Hebrew": ("(?:אני )?מצטער(?:ת)?|סליחה", "(?:איני|אינני|לא) (?:יכול|יכולה|מסוגל)", "עזור|סייע|סכם|כתוב|ענות|בקש"),
    "Persian, Urdu": ("متاسفم|متأسفم|ببخشید|معذرت", "نمی‌?توانم|نہیں", "کمک|خلاصه|نوشت|پاسخ|مدد|خلاصہ"),
    "Bengali, Tamil": ("দুঃখিত|மன்னிக்கவும்", "পারব না|পারি না|முடியாது|இயலாது", "সাহায্য|সারাংশ|உதவ|சுருக்க"),
}  # fmt: skip
# words of regret that may come before what is said in the first person
REGRET = (
    r"(?:(?:leider|malheureusement|lamentablemente|desafortunadamente|purtroppo|infelizmente|helaas|tyvärr|desværre|dessverre"
    r"|niestety|bohužel|maalesef|к сожалению|на жаль|很遗憾|遗憾的是|残念ながら|恐れ入りますが|[你您]好)[,，、]? ?)?"
)
# what is said without an apology, in the first person
ALONE = {
    "Dutch": r"(?:ik kan|kan ik)\b(?=[^.!?\n]{0,60}\b(?:niet|geen)\b)",
    "Swedish": r"(?:jag kan|kan jag)\b(?=[^.!?\n]{0,30}\binte\b)",
    "Danish, Norwegian": r"(?:jeg kan|kan jeg)\b(?=[^.!?\n]{0,30}\bikke\b)",
    "Polish": r"nie mogę\b",
    "Czech": r"(?:vám s tím )?(?:nemohu|nemůžu)\b",
    "Ukrainian": r"я не (?:можу|зможу)\b",
    "Finnish": r"en voi\b",
    "Hungarian": r"nem tud(?:ok|om)\b",
    "Romanian": r"nu pot\b",
    "Greek": r"δεν μπορώ\b",
    "Vietnamese": r"tôi không thể\b",
    "Indonesian": r"saya tidak (?:bisa|dapat)\b",
    "Thai": r"ฉันไม่สามารถ|ผมไม่สามารถ",
    "Hebrew": r"(?:אני לא יכולה?|איני יכולה?)",
    "German": r"(?:als (?:eine )?ki[^.!?\n]{0,30}? |(?:das|dabei|diese anfrage) )?(?:ich kann|kann ich|ich möchte)\b"
    r"(?=[^.!?\n]{0,60}\bk?(?:nicht|eine?)\b)",
    "French": r"(?:en tant qu[^.!?\n]{0,30}, )?je ne (?:(?:peux|puis) pas|suis pas en mesure)\b",
    "Spanish": r"(?:como (?:una? )?(?:ia|modelo)[^.!?\n]{0,30}, )?no puedo\b",
    "Italian": r"non (?:posso|sono in grado)\b",
    "Portuguese": r"não (?:posso|consigo)\b",
    "Russian": r"(?:как (?:ии|языковая модель), )?я не могу\b",
    "Arabic": r"لا (?:أستطيع|يمكنني)\b",
    "Chinese": r"(?:作为[^.!?。\n]{0,20}[，,])?我(?:暂时|還|还)?(?:无法|無法|不能|没有学会)",
}
# in other orders of words: what cannot be done stands before that it cannot
OTHER_ORDERS = "|".join([
    # Japanese, Korean, Turkish, Hindi
    r"[^。、\n]{0,20}要約[^。、\n]{0,12}(?:できません|できかねます|いたしかねます)",
    r"[^。、\n]{0,12}お(?:手伝い|応え|答え)(?:する)?(?:こと)?[はがもを]?(?:できません|できかねます|いたしかねます)",
    r"[^。、\n]{0,8}(?:リクエスト|要望|依頼|要求)(?:に|には)[^。、\n]{0,8}(?:できません|できかねます|いたしかねます)",
    r"私は(?:AI|人工知能)[^。\n]{0,40}(?:できません|ありません)",
    r"[^.\n]{0,15}요약(?!하면)[^.\n]{0,12} 수 (?:가 )?없(?:습니다|어요)|[^.\n]{0,15}(?:도와|답변)\s?드릴 수 (?:가 )?없",
    r"[^.\n]{0,6}요청(?:에|은|을|하신)[^.\n]{0,14}(?:응할|처리할|수행할|들어드릴) 수 (?:가 )?없|저는 AI[^.\n]{0,30} 수 없",
    r"(?:\w+ ){0,3}(?:yardımcı ola|özetleye|yerine getire|yanıtlaya)m[ae]m\b",
    r"मैं [^।\n]{0,30}(?:मदद|सहायता|सारांश|अनुरोध)[^।\n]{0,16}नहीं [^।\n]{0,12}सक",
    # Chinese
    r"(?:[你您]好[，,])?(?:这个问题|該問題|该问题)我?(?:暂时)?(?:无法|不能)回答|(?:无法|無法|不能)(?:总结|總結|概括|提供摘要)[。.]?$|让我们换个话题",
])  # fmt: skip
STOP = r"[^.!?。\n]"
# what was asked for stands in the same sentence, or nothing more is said
ELSEWHERE = "|".join(
    rf"(?:es )?(?:{sorry})(?:[.!。]\s*)?(?={STOP}{{0,100}}?(?:{work})){STOP}{{0,60}}?(?:{unable})"
    + (
        rf"|{REGRET}(?:{ALONE[language]})(?={STOP}{{0,60}}?(?:{work}))"
        rf"|(?:es )?(?:{sorry}){STOP}{{0,30}}?(?:{unable})(?:\W*nicht)?\W*(?:[.!。]|\Z)"
        if language in ALONE
        else ""
    )
    for language, (sorry, unable, work) in LANGUAGES.items()
)
