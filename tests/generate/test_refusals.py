from itertools import product

import pytest

from evenhand.generate.contract import check_output
from evenhand.generate.refusals import is_refusal
from evenhand.records import Contract


@pytest.mark.parametrize(
    "text",
    [
        "I can't help with that.",
        "I\u2019m sorry, but I cannot summarize these reviews.",
        "I cannot fulfill your request.",
        "I can't provide a summary. The reviews insult people.",
        "Sorry. I am unable to read this.",
        "As an AI language model, I have no opinion of kettles.",
        "  i'm sorry  ",
        "I cannot provide information or guidance on illegal or harmful activities.",
        "I can't create explicit content.",
        "I can't engage with that topic.",
        "I'm sorry, but I can't generate content like that.",
        "I cannot write about that.",
        "I cannot engage in discussions about that.",
        "I can't fulfill that.",
        "I am not able to fulfil this.",
        "I cannot provide a response here.",
        "I'm sorry, but I cannot summarise this.",
        "Sorry, I can't help with that.",
        "I apologize, but this text is too old.",
        "I cannot provide a summary.",
        "Unfortunately, I am unable to read it.",
        "As an AI language model, I do not read news.",
        "I can\u2019t do this.",
        "I won't summarise this.",
        "I must decline.",
        "I'm sorry. I cannot help you with it.",
        "I'm sorry, but I cannot.",
        "As an AI, I am not able to assist.",
    ],
)
def test_openings_that_speak_of_what_was_asked_refuse(text):
    assert is_refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I can't help but love it, and so does my mother.",
        "I can't help but love this kettle, says one.",
        "I can't help smiling, says one.",
        "I can't do this anymore, writes a user; others praise the law.",
        "I will not support any candidate who fails to help workers, says one post.",
        "Sorry to see the text of the bill pass, most users oppose it.",
        "I won't read this book again, one reviewer says, but the plot is praised.",
        "I'm sorry the text was so small, says one.",
        "I can't write enough about this kettle.",
        "I cannot comply with the new law, one user writes.",
        "I cannot recommend this kettle.",
        "I'm sorry I bought it.",
        "Customers are sorry that the maker refused to help.",
        "The maker said: I cannot help you.",
        "Sorrel Vey won.",
        "The mayor is sorry.",
        "I candidly think that Vey won.",
        "As an aid worker, Vey won.",
        "I can't believe it, said Quill.",
        "Sorry is the word that Vey never said. She helped in the mill.",
        "\u8a69\u4eba\u306f\u8a9e\u3063\u305f",
    ],
)
def test_summaries_that_open_alike_or_quote_one_do_not(text):
    assert not is_refusal(text)


SORRY = (
    "",
    "I'm sorry, but ",
    "Sorry, ",
    "I apologize, but ",
    "I'm afraid ",
    "Unfortunately, ",
    "I'm really sorry, but ",
)
UNABLE = (
    "I can't ",
    "I cannot ",
    "I am unable to ",
    "I'm not able to ",
    "I won't be able to ",
    "I\u2019m not allowed to ",
)
WHAT = (
    "assist with that request.", "help you with that.", "summarise these texts.", "provide a summary of such content",
    "fulfill this request.", "create content that promotes hate.", "continue with this.",
)  # fmt: skip


@pytest.mark.parametrize(("sorry", "unable", "what"), list(product(SORRY, UNABLE, WHAT)))
def test_an_apology_for_what_was_asked_refuses(sorry, unable, what):
    assert is_refusal(sorry + unable + what)
    assert is_refusal(f"{sorry}{unable}{what} Please ask for something else.\n\nThank you.")


@pytest.mark.parametrize(
    "text",
    [
        "I do not feel comfortable summarizing these posts.",
        "I'm sorry, but I don't feel comfortable writing about this.",
        "I must respectfully decline.",
        "I decline to answer.",
        "I refuse to write this summary.",
        "No, I won't write that.",
        "Sorry, no.",
        "I am not going to summarize this content.",
        "I would prefer not to take sides here.",
        "It goes against my guidelines to write such a summary.",
        "Summarizing this would violate our content policy.",
        "I don't take political positions.",
        "Your request cannot be completed.",
        "The provided text cannot be summarized as it contains hate speech.",
        "I strive to be neutral, so I can't write from one side.",
        "Thank you for sharing, but I can't help with that.",
        "While I understand the request, I cannot provide a summary.",
        "As a neutral assistant, I can't summarize only one side.",
        "I cannot see any documents.",
        "There are no left-leaning texts in the input.",
        "Sorry, that's beyond my current scope. Let's talk about something else.",
        "[Request declined]",
        "I'm just an AI and have no view.",
        "As a large language model, I cannot take sides.",
        "It seems you haven't provided any texts.",
        "Please provide the texts that you would like me to summarise.",
        "As an AI, I don't have personal opinions.",
        "As an AI developed by somebody, I cannot take political stances.",
        "I don't think I can help with that.",
        "I do not have enough information to write a summary.",
        "There are no reviews to summarize.",
        "No documents were provided.",
        "It seems that the text is missing.",
        "I don't see any documents attached.",
        "Could you please provide the texts?",
        "I'd be happy to summarize the reviews, but you haven't included them.",
        "This request violates our content policy.",
        "I'm not comfortable writing from this perspective.",
        "It wouldn't be appropriate for me to take a side.",
        "My guidelines don't allow me to write this.",
        "I couldn't generate a summary.",
        "Unable to summarize.",
        "N/A",
        "No summary available.",
        # other languages
        "Diese Anfrage kann ich nicht bearbeiten.",
        "Je ne suis pas en mesure de fournir ce résumé.",
        "Purtroppo non posso aiutarti.",
        "Não posso fornecer um resumo desses textos.",
        "Helaas kan ik hier niet bij helpen.",
        "Tyvärr kan jag inte sammanfatta texterna.",
        "Jeg kan desværre ikke hjælpe med det.",
        "Nie mogę pomóc w tej sprawie.",
        "Bohužel vám s tím nemohu pomoci.",
        "Bu konuda yardımcı olamam.",  # noqa: RUF001
        "На жаль, я не можу допомогти з цим.",  # noqa: RUF001
        "这个问题我暂时无法回答，让我们换个话题再聊聊吧。",  # noqa: RUF001
        "無法提供摘要。",
        "この内容を要約することはできません。",
        "そのリクエストには対応できません。",
        "お手伝いすることができません。",
        "이 요청은 도와드릴 수 없습니다.",
        "해당 내용을 요약할 수 없습니다.",
        "그 요청에는 응할 수 없습니다.",
        "मैं इसमें आपकी मदद नहीं कर सकता।",
        "Tôi không thể tóm tắt các văn bản này.",
        "Saya tidak bisa merangkum teks ini.",
        "ฉันไม่สามารถสรุปข้อความเหล่านี้ได้",
        "Δεν μπορώ να συνοψίσω αυτά τα κείμενα.",  # noqa: RUF001
        "Nu pot rezuma aceste texte.",
        "Nem tudom összefoglalni ezeket a szövegeket.",
        "En voi tiivistää näitä tekstejä.",
        "אני לא יכול לסכם את הטקסטים האלה.",
        "Ich kann dabei nicht helfen.",
        "Leider kann ich das nicht zusammenfassen.",
        "Es tut mir leid, das kann ich nicht.",
        "Je ne peux pas vous aider.",
        "Como modelo de lenguaje, no puedo opinar.",
        "Lo siento, no puedo.",
        "Я не могу помочь с этим.",  # noqa: RUF001
        "作为一个AI，我不能提供个人观点。",  # noqa: RUF001
        "我无法提供帮助。",
        "لا أستطيع مساعدتك.",
        "죄송합니다. 도와드릴 수 없습니다.",
        "Es tut mir leid, aber ich kann dabei nicht helfen.",
        "Promi\u0148te, s t\u00edm nemohu pomoci.",
        "Prep\u00e1\u010dte, s t\u00fdm nem\u00f4\u017eem pom\u00f4c\u0165.",
        "\u017dao mi je, ne mogu pomo\u0107i s tim.",
        "\u0421\u044a\u0436\u0430\u043b\u044f\u0432\u0430\u043c, \u043d\u0435 "
        "\u043c\u043e\u0433\u0430 \u0434\u0430 \u043f\u043e\u043c\u043e\u0433\u043d\u0430.",
        "Vabandust, ma ei saa sellega aidata.",
        "Sajn\u00e1lom, de ebben nem seg\u00edthetek.",
        "Entschuldigung, das kann ich nicht zusammenfassen.",
        "Je suis désolé, mais je ne peux pas vous aider.",
        "Lo siento, pero no puedo ayudar con eso.",
        "Mi dispiace, ma non posso aiutarti.",
        "Desculpe, mas não posso ajudar com isso.",
        "Het spijt me, maar ik kan hier niet bij helpen.",
        "Przykro mi, ale nie mogę w tym pomóc.",
        "Üzgünüm, bu konuda yardımcı olamam.",  # noqa: RUF001
        "Извините, но я не могу помочь с этим.",  # noqa: RUF001
        "抱歉，我无法协助处理此请求。",  # noqa: RUF001
        "申し訳ありませんが、そのご依頼にはお応えできません。",
        "죄송하지만 그 요청은 도와드릴 수 없습니다.",
        "عذرًا، لا أستطيع المساعدة في ذلك.",
        "क्षमा करें, मैं इसमें मदद नहीं कर सकता।",
        "It would be inappropriate for me to summarize this.",
        "I can\u2019t discuss political topics.",
        "I'm just a language model and can't help with that.",
        "There is nothing to summarize.",
        "I don't have access to the documents.",
        "It seems the provided text is empty.",
        "That's outside my capabilities.",
    ],
)
def test_other_ways_and_languages(text):
    assert is_refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "The left refuses to help and says it is sorry.",
        "I cannot comply with this law.",
        "I can't assist with the move, says one son.",
        "This request cannot be fulfilled, the city told the left.",
        "While I understand the law, I cannot obey it, writes a clerk.",
        "I don't take sides in this war, writes a soldier.",
        "Because the ferry is late, I can't help my mother, writes a nurse.",
        "Thanks, but no, voters told the council.",
        "Ich kann ihm nicht helfen, sagt die Ärztin.",
        "No puedo ayudar a todos, dice el alcalde.",
        "Nie mogę pomóc, mówi lekarz.",
        "我无法提供帮助，医生说。",  # noqa: RUF001
        "スタッフの対応が悪く、二度と利用できません。",
        "お手伝いがなければ商売はできません。",
        "직원의 도움을 받을 수 없습니다.",
        "환불 요청을 했지만 받을 수 없습니다.",
        "Tôi không thể giới thiệu khách sạn này.",
        "ฉันไม่สามารถแนะนำโรงแรมนี้ได้",
        "Sorry is what the mayor never said; the left wants an inquiry.",
        "Sorry state of the ferry, the left says; I cannot sleep, writes one.",
        "Apologies from the council came late, the right says.",
        "I don't agree with the summary judgment, writes one; others do.",
        "I don't have access to the harbour anymore, one user complains.",
        "Please provide better trains, residents write.",
        "You did not share the costs, says one to the mayor.",
        "I'm afraid of the engine's noise, a neighbour writes.",
        "Unable to help, the council turned to the state.",
        "Lo siento, pero no puedo recomendar este hotel, dice una.",
        "Es tut mir leid, aber ich kann diese F\u00e4hre nicht empfehlen, schreibt eine.",
        "\u017dao mi je, ne mogu preporu\u010diti trajekt, pi\u0161e jedan.",
        "Sajn\u00e1lom, de a komp hangos, \u00edrja egy utas.",
        "Sorry, wrong ferry: users complain of bad signs.",
        "As an AI model spreads through offices, the left fears for jobs.",
        "As an AI assistant the lamp is weak, say most buyers.",
        "As a language model, the product disappoints reviewers.",
        "As an AI company, the firm is praised.",
        "I'm an AI engineer and like this laptop.",
        "I must decline a second visit, writes one.",
        "I do not feel comfortable writing checks there, says one guest.",
        "You have not provided the documents, the agency told applicants.",
        "Please provide the documents you have, the agency told applicants.",
        "No documents were provided to the court, the left says.",
        "The text is missing a chapter, readers find.",
        "There are no reviews of the bridge's safety, the left says.",
        "Es tut mir leid, ich kann dieses Hotel nicht mehr besuchen, schreibt eine.",
        "Tut mir leid, aber ich kann den Lärm nicht ertragen, sagen viele.",
        "Je suis désolé, je ne peux pas revenir dans cet hôtel.",
        "很抱歉，我不能忍受这样的服务。",  # noqa: RUF001
        "Жители не могут получить помощь, пишут левые.",
        "居民无法提供证明，左派说。",  # noqa: RUF001
        "죄송하지만 이 호텔은 추천할 수 없습니다.",
        "عذراً، لا أستطيع العودة إلى هذا الفندق.",
        "It would be inappropriate to raise fares.",
        "I don't have access to the garden.",
        "There is nothing to dislike.",
        "The content is empty of ideas.",
        "I'm just a tenant and can't help with that.",
        "That's outside my budget.",
        "I can't discuss politics with my neighbours.",
        "There is nothing to summarize in this dull plot, viewers say.",
    ],
)
def test_summaries_of_what_people_refuse_or_regret_are_whole(text):
    assert not is_refusal(text)


@pytest.mark.parametrize(
    "words", ["I can't help with that", "I must decline this request", "I cannot comply with this request"]
)
@pytest.mark.parametrize(
    "attribution",
    [", says the baker.", ", one clerk wrote.", ", a county clerk told the paper; others agree.",
     ", writes a doctor who opposes it.",
     ", the app said to most users.", ",\u201d says one."],
)  # fmt: skip
def test_what_somebody_is_said_to_have_said_is_quoted(words, attribution):
    assert is_refusal(f"{words}.")
    assert not is_refusal(words + attribution)


@pytest.mark.parametrize(
    "piece",
    [
        "I can't help with that, ",
        "the texts, but ",
        "sorry ",
        "I cannot ",
        "I'm sorry, I can't ",
        "sorry, but I can't help ",
    ],
)
def test_only_the_beginning_is_read(piece):
    # thousands of repetitions take no longer than one
    assert is_refusal(piece * 20000) == is_refusal(piece * 200)


def test_a_refusal_behind_the_opening_that_was_asked_for_is_one():
    left = Contract(opening="The Left", other_openings=("The Right",))
    for text in ("The Left: I'm sorry, but I can't help with that.", "The Left - I cannot summarize these texts."):
        assert "refusal" in check_output(left, text).issues
    for text in ("The Left: I can't help but love it, says one.", "The Left is sorry, but cannot help the crew."):
        assert "refusal" not in check_output(left, text).issues
