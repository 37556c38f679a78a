"""What of a reply is the summary: every mark of thoughts and turns, every wrapper, every announcement, with one another."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.generate.contract import check_output
from evenhand.generate.reply_text import ReplyText, answer_of, summary_of
from evenhand.records import Contract
from evenhand.text.chat_marks import FAMILIES

LEFT = Contract(opening="The Left", other_openings=("The Right",), sentences=1)
SUMMARY = "The Left argues that the ferry's crew is paid too little."
SMALL = "left-leaning writers argue that the ferry's crew is paid too little."
THOUGHT = "The user wants one sentence.\n\n1. Both sides speak of pay.\n\nSummary so far: they want more."

THOUGHTS = (
    "<think>\n{}\n</think>\n\n", "{}\n</think>\n\n", "<thinking>{}</thinking>", "<thought>{}</thought>\n", "<THINK>{}</THINK> ",
    "<reasoning>\n{}</reasoning>\n", "[THINK]{}[/THINK]", "<seed:think>{}</seed:think>",
    "\u25c1think\u25b7{}\u25c1/think\u25b7",
    "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>",
    "<|channel|>analysis<|message|>{}<|end|>\n<|start|>assistant<|channel|>commentary to=a<|message|>b<|end|><|start|>assistant"
    "<|channel|>final<|message|>",
    "analysis{}assistantfinal", "<|channel>thought\n{}<channel|>", "<|START_THINKING|>{}<|END_THINKING|><|START_RESPONSE|>",
    "<|begin_of_thought|>{}<|end_of_thought|>", "<think>a <think>{}</think> b</think>", "&lt;think&gt;{}&lt;/think&gt;",
    "```thinking\n{}\n```\n\n", "~~~ reasoning\n{}\n~~~\n", "Thinking Process:\n\n{}\n\n**Final Answer:** ",
    "**Thinking Process**\n{}\n\n## Summary\n", "Thinking...\n{}\n...done thinking.\n\n",
    "Here is my thought process: {}\n\nHere is my response: ", "Reasoning: {}\n\nFinal summary: ",
    '<details type="reasoning" done="true">\n<summary>Thought for 2 seconds</summary>\n{}\n</details>\n',
    "<think>{}</think><answer>", "<antThinking>{}</antThinking>", "<rationale>{}</rationale>\n",
    "<chain_of_thought>{}</chain_of_thought>",
    "<cot>{}</cot>", "<unused94>thought\n{}<unused95>", "<!-- {} -->\n", "\\<think\\>{}\\</think\\>",
    "<\uff5cbegin\u2581of\u2581thought\uff5c>{}<\uff5cend\u2581of\u2581thought\uff5c>",
    "<\u601d\u8003>{}</\u601d\u8003>",
    "# Reasoning\n{}\n# Answer\n",
    *(f"<{name}>\n{{}}\n</{name}>\n\n" for name in ("plan", "notes", "note", "work", "outline", "key_points", "draft")),
    "<Plan>{}</Plan>\n<final>", "<self_reflection>{}</self_reflection>\n<summary>", "<key points>{}</key points>\n",
)  # fmt: skip
# first words of thoughts without marks, what they go on with, and what stands before the summary
UNMARKED = (
    "Okay, the user wants me to summarize the texts in one sentence.", "Okay, so I need to summarize these texts.",
    "Alright, let\u2019s tackle this. The user asked for a summary of the texts.",
    "User wants a summary of the left texts in one sentence.",
    "We need to produce a one-sentence summary of the left perspective.", "We are asked to summarize the texts from one side.",
    "Hmm, the user is asking me for a summary of these documents.", "Let me analyze the provided documents.",
    "Let me think about what the documents say before I write the summary.", "So the task is to summarize the documents.",
    "Okay, let me summarize the texts.", "Let's see. I have to summarize the texts of one side.",
    "Okay, der Nutzer m\u00f6chte eine Zusammenfassung.", "D'accord, l'utilisateur veut que je r\u00e9sume ces textes.",
    "Bien, el usuario quiere que resuma los textos.",
    "\u597d\u7684\uff0c\u7528\u6237\u8ba9\u6211\u603b\u7ed3\u8fd9\u4e9b\u6587\u672c\u3002",
)  # fmt: skip
GOING_ON = ("", "\n\nThe first text says that the ferry is cheap.", "\n\n1. Cheap.\n2. Loud.\n\nI should name both.")
AT_LAST = ("", "So the summary should be:\n\n", "Final summary: ", "Here is the summary:\n", "**Summary:** ")
# beginnings of thoughts that nothing closes
CUT = (
    "<think>\n{}", "[THINK]{}", "<thinking>{}", "<|channel|>analysis<|message|>{}", "analysis{}", "Thinking Process:\n\n1. {}",
    "<|channel>thought\n{}", "<seed:think>{}", "```thinking\n{}", "<reasoning>{}", "<|START_THINKING|>{}",
    "\u25c1think\u25b7{}",
    "<plan>\n{}", "<notes>{}",
    "<think>a</think><think>{}", "<|im_start|>assistant\n<think>{}",
)  # fmt: skip
ANNOUNCEMENTS = (
    "Here is the summary:", "Here's a refined summary:", "Here\u2019s the summary:", "Sure! Here is a summary:", "Summary:",
    "Sure! Here is a summary.", "Certainly! Below is the refined summary that incorporates the feedback:", "**Summary:**",
    "Sure, here is the summary of the left-leaning texts:", "Refined summary:", "Refined Summary (left):", "Final answer:",
    "**Here is the refined summary:**", "Based on the feedback, here is the revised summary:", "TL;DR:",
    "Summary of the texts:",
    "Thank you for the feedback. Here is the improved version:", "I've revised the summary to address the feedback:",
    "Of course! Here is a one-sentence summary:", "Okay, here is the summary:", "Here you go:", "Here is the refined version.",
    "\u201cHere is the summary:\u201d", "The refined summary is:", "Perspective summary:", "Sure \u2014 here is the summary:",
    "In one sentence:", "Hier ist die Zusammenfassung:", "Nat\u00fcrlich! Hier ist eine kurze Zusammenfassung der Texte:",
    "Zusammenfassung:",
    "Voici le r\u00e9sum\u00e9 :", "Bien s\u00fbr ! Voici un r\u00e9sum\u00e9 :", "Aqu\u00ed tienes el resumen:",
    "Ecco il riassunto:", "Resumo:",
    "Hier is de samenvatting:", "Oto podsumowanie:",
    "\u0412\u043e\u0442 \u043a\u0440\u0430\u0442\u043a\u043e\u0435 \u0438\u0437\u043b\u043e\u0436\u0435\u043d\u0438\u0435:",
    "\u4ee5\u4e0b\u662f\u6458\u8981\uff1a", "\u597d\u7684\uff0c\u4ee5\u4e0b\u662f\u603b\u7ed3\uff1a", "\u8981\u7d04\uff1a",
    "\uc694\uc57d:", "Sure, I can help with that! Here's the summary:", "I'd be happy to help. Here is a summary:",
    "Sure, I'd be happy to help!", "Happy to help!", "Here goes:", "As requested:", "Here's what I came up with:", "Draft 2:",
    "Step 3: Final summary:", "The final answer is:", "\u597d\u7684\uff01\u8fd9\u662f\u603b\u7ed3\uff1a",
    "T\u00f3m t\u1eaft:", "Berikut ringkasannya:",
    "\u03a3\u03cd\u03bd\u03bf\u03c8\u03b7:", "\u05e1\u05d9\u05db\u05d5\u05dd:",
    "\u062e\u0644\u0627\u0635\u0647:", "\u0e2a\u0e23\u0e38\u0e1b:", "Iat\u0103 un rezumat:",
    "Evo sa\u017eetka:", "Tu je zhrnutie:", "Siin on kokkuv\u00f5te:", "\u0160tai santrauka:", "\u6458\u8981\u5982\u4e0b\uff1a",
    "\u306f\u3044\u3001\u8981\u7d04\u306f\u4ee5\u4e0b\u306e\u901a\u308a\u3067\u3059\u3002",
)  # fmt: skip
# announcements that have a line for themselves
LINES = (
    "## Summary", "# Refined summary", "**Summary**", "Summary", "Sure!\n\nHere is the summary:", "Here is the refined summary",
    # these need something behind them
    "Sure!", "Here is the summary:\n\n---", "Title: The ferry's crew", "**The ferry**",
    "I will refine the summary by adding details.",
)  # fmt: skip
BETWEEN = ("\n\n", "\n", "\n \n\n", " ")
FORMS = (
    "{}", '"{}"', "\u201c{}\u201d", "'{}'", "\u2018{}\u2019", "\u00ab{}\u00bb", "\u201e{}\u201c", "**{}**", "*{}*",
    '**"{}"**', "- {}", "\u2022 {}", "1. {}",
    "> {}", "```\n{}\n```", "```text\n{}\n```", "<summary>{}</summary>", "<summary>\n{}\n</summary>", '{{"summary": "{}"}}',
)  # fmt: skip
WRAPPERS = (
    "{}", "<summary>{}</summary>", "<answer>\n{}\n</answer>", "<final_summary>{}", "```\n{}\n```", "~~~\n{}\n~~~",
    '{{"summary": "{}"}}',
    '```json\n{{"summary": "{}"}}\n```', '{{"result": {{"summary": "{}"}}}}',
    '[{{"summary": "{}", "words": 3}}]', '{{"side": "left", "summary": "{}"}}',
    '{{"summary": "{}', "assistant\n{}", "assistant{}", "Assistant: {}", "### Response: {}", "model\n{}",
    "<|im_start|>assistant\n{}<|im_end|>", "<|start_header_id|>assistant<|end_header_id|>\n\n{}<|eot_id|>",
    "<start_of_turn>model\n{}<end_of_turn>",
    "<final>{}</final>", "<Final>\n{}\n</Final>", "<left_summary>{}</left_summary>", '<summary side="left">{}</summary>',
    "**<summary>**\n{}\n**</summary>**", "[SUMMARY]{}[/SUMMARY]", "<text>{}</text>", "```xml\n<answer>{}</answer>\n```",
    "<p>{}</p>", "<div><p>{}</p></div>", "<b>{}</b>", "{}<br>", "<br/>{}",
    "<html><head><title>Ferry</title></head><body><p>{}</p></body></html>",
    "<blockquote>{}</blockquote>", "<ul><li>{}</li></ul>", "<span style='color: red'>{}</span>", "{}</p>",
    "```html\n<p>{}</p>\n```",
    "\\boxed{{{}}}", "$\\boxed{{\\text{{{}}}}}$", "\\[\n\\boxed{{\\text{{{}}}}}\n\\]", "\\text{{{}}}", "\\boxed{{{}",
    '{{"side": "left", "left_summary": "{}"}}', "{{'summary': \"{}\", 'words': 3}}", 'json\n{{"summary": "{}"}}',
    '{{"side": "left", "summary": "{}',
    '{{\n  "summary": "{}",\n}}', '<json>{{"summary": "{}"}}</json>', '`{{"summary": "{}"}}`',
    '{{"role": "assistant", "content": "{}"}}',
    "## {}", "#### **{}**", "**{}**", "**{}", "{}**", "\u201c{}", "{}\u201d", "* {}", "> {}", "> ## {}",
    "| {} |", "| **Summary** | {} |", "| Summary |\n|---|\n| {} |", "| Side | Summary |\n|------|:---:|\n| Left | {} |",
    *(f"{role}{form}" for role in ("assistant\n", "assistant ", "<|assistant|>\n", "Assistant: ", "**Assistant:** ")
      for form in ("'{}'", "\u2018{}\u2019", "**{}**", "- {}", "> {}", "1. {}", "_{}_")),
    "[|assistant|]{}[|endofturn|]", "<s> {} </s>", "[/INST] {}</s>", "<|channel|>final<|message|>{}<|return|>",
)  # fmt: skip
NEXT_TURNS = (
    "<|im_end|>\n<|im_start|>user\n{}", "<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n{}",
    "<end_of_turn>\n<start_of_turn>user\n{}",
    "</s>\n[INST] {} [/INST]", "<|end|>\n<|user|>\n{}", "[|endofturn|]\n[|user|]{}", "\nuser\n{}", "\n\nHuman: {}",
    "\nHuman: {}",
    "assistant\n\n{}", "\n### Instruction:\n{}", "<\uff5cUser\uff5c>{}", "<role>HUMAN</role>{}",
)  # fmt: skip


def read(reply, contract=LEFT):
    found = check_output(contract, reply)
    return found.text, [issue for issue in found.issues if issue in ("thought", "preamble", "trailing", "empty")]


@pytest.mark.parametrize("contract", [LEFT, Contract()])
@pytest.mark.parametrize("form", THOUGHTS)
@pytest.mark.parametrize("reply", [SUMMARY, SMALL])
def test_what_stands_in_a_thought_is_no_summary(form, reply, contract):
    text, issues = read(form.format(THOUGHT) + reply, contract)
    assert text == reply
    assert issues[0] == "thought"


@pytest.mark.parametrize("opening", UNMARKED)
@pytest.mark.parametrize("contract", [LEFT, Contract()])
def test_a_thought_without_marks_is_no_summary(opening, contract):
    for middle, last in product(GOING_ON, AT_LAST):
        text, issues = read(f"{opening}{middle}\n\n{last}{SUMMARY}", contract)
        assert (text, issues[0]) == (SUMMARY, "thought"), (opening, middle, last)
    for cut in (opening, f"{opening}{GOING_ON[2]}", f"{opening}{GOING_ON[1]} Let me write"):
        assert read(cut, contract) == ("", ["thought", "empty"])


@pytest.mark.parametrize(
    "reply",
    ["The final answer is: $\\boxed{{{}}}$", "<h2>Summary</h2>\n<p>{}</p>", "<p>Here is the summary:</p><p>{}</p>",
     'Sure! {{"summary": "{}"}}', "\"summary\": \"{}\"", "[Summary]\n{}", "=== Summary ===\n{}",
    "1. **Summary:** {}"],
)  # fmt: skip
def test_words_around_what_wraps_a_summary_announce_it(reply):
    assert read(reply.format(SUMMARY)) == (SUMMARY, ["preamble"])


@pytest.mark.parametrize(
    "notes",
    [
        "Let me think step by step.\n1. Pay.\n\n{}", "Let's break this down: pay.\n\n{}", "Key points:\n- pay\n- crews\n\n{}",
        "**Key points**\n- pay\n\n{}", "First, the main arguments: pay.\n\n{}", "Plan: pay first.\n\n{}",
        "Okay, let me think. Pay.\n\n{}", "Denkprozess:\nLohn.\n\n{}", "Réflexion : le salaire.\n\n{}",
        "Pensamiento:\nEl pago.\n\n{}", "Рассуждение:\nПлюшки.\n\n{}", "思考过程\uff1a\n工资。\n\n{}", "考え\uff1a\n賃金。\n\n{}",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "head", ["Summary:", "**Summary**\n", "## Final summary\n\n", "Therefore, the summary is:", "最终答案\uff1a"]
)
def test_notes_before_an_announced_summary_are_none(notes, head):
    assert read(notes.format(f"{head} {SUMMARY}"), Contract()) == (SUMMARY, ["preamble"])


def test_a_summary_that_quotes_an_invitation_is_whole():
    text = "Now, let us go to work, the union says.\n\nThe answer: more pay.\n\nThe right disagrees."
    assert read(text, Contract())[0].startswith("Now, let us go to work")


def test_a_later_document_of_a_model_that_goes_on_is_no_summary():
    assert read(f"{SUMMARY}\n\nText: Cats sleep.\n\nSummary: Cats.", Contract()) == (SUMMARY, ["trailing"])


@pytest.mark.parametrize(
    "closing",
    [" (11 words)", "\n(Word count: 11)", "\nWord count: 11 words.", " Let me know if you would like changes!",
     "\nI hope this helps!", " I hope this summary is useful. Feel free to ask for another."],
)  # fmt: skip
def test_a_closing_word_to_who_asked_and_a_count_of_words_are_trailing(closing):
    assert read(SUMMARY + closing) == (SUMMARY, ["trailing"])


@pytest.mark.parametrize("form", CUT)
def test_a_reply_that_was_cut_inside_its_thought_is_empty(form):
    assert read(form.format("We need one sentence. " + THOUGHT)) == ("", ["thought", "empty"])


@pytest.mark.parametrize("form", ["<think>\n\n</think>\n\n{}", "<think></think>{}", "<|channel|>final<|message|>{}"])
def test_marks_without_a_thought_are_taken_off_and_no_issue(form):
    assert read(form.format(SUMMARY)) == (SUMMARY, [])


def test_what_nobody_sees_before_a_reply_is_no_text():
    for unseen in ("\ufeff", "\u200b\n", "\u2060 "):
        assert summary_of(f"{unseen}<think>Hm.</think>The ferry sails.") == ReplyText("The ferry sails.", ("thought",))
        assert summary_of(f"{unseen}The ferry sails.") == ReplyText("The ferry sails.")


@pytest.mark.parametrize(
    "text",
    [
        "The Left says that models write `<think>` and `</think>` around it.",
        "The Left, thinking of pay, wants a new crew.",
        "The Left calls the analysis final.",
        "The Left wants <b>more</b> & <i>better</i> pay [sic].",
        "The Left says 3 < 5 and 7 > 4.",
        "The Left paid <s>5</s> 3 crowns.",
    ],
)
def test_a_text_that_names_marks_stays(text):
    assert read(text) == (text, [])


@pytest.mark.parametrize("announcement", ANNOUNCEMENTS)
@pytest.mark.parametrize("between", BETWEEN)
def test_an_announcement_is_never_the_summary_and_never_takes_it_along(announcement, between):
    for form, summary in product(FORMS, (SUMMARY, SMALL)):
        reply = announcement + between + form.format(summary)
        assert read(reply) == (summary, ["preamble"]), reply
        assert read(reply, Contract()) == (summary, ["preamble"]), reply


@pytest.mark.parametrize("announcement", LINES)
def test_so_is_one_that_has_a_line_for_itself(announcement):
    for form, between, summary in product(FORMS, ("\n\n", "\n"), (SUMMARY, SMALL)):
        reply = announcement + between + form.format(summary)
        assert read(reply) == (summary, ["preamble"]), reply
        assert read(reply, Contract()) == (summary, ["preamble"]), reply


@pytest.mark.parametrize("announcement", [*ANNOUNCEMENTS, *LINES[:6]])
def test_nothing_behind_an_announcement_is_empty(announcement):
    assert read(announcement)[0] == ""
    assert "empty" in read(announcement)[1]


@pytest.mark.parametrize("form", FORMS[:14])
def test_what_follows_the_summary_is_trailing_and_its_quotes_are_off(form):
    for announcement in ANNOUNCEMENTS[:6]:
        reply = f"{announcement}\n\n{form.format(SUMMARY)}\n\nI hope this helps! Let me know."
        assert read(reply) == (SUMMARY, ["preamble", "trailing"]), reply


@pytest.mark.parametrize("form", FORMS[:13])
def test_the_wrong_side_behind_an_announcement_is_the_wrong_side(form):
    found = check_output(LEFT, "Sure! Here is the summary:\n\n" + form.format("The Right wants lower fares."))
    assert (found.text, found.ok) == ("The Right wants lower fares.", False)
    assert found.issues == ("wrong_side", "preamble")


@pytest.mark.parametrize(
    "line", ["Quickly put, for you:", "Lyhyesti sanottuna:", "\u1021\u1000\u103b\u1009\u103a\u1038:"]
)
@pytest.mark.parametrize("form", FORMS[:13])
def test_any_first_line_that_ends_in_a_colon_announces(line, form):
    assert read(f"{line}\n\n{form.format(SMALL)}") == (SMALL, ["preamble"])


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("thought", ["", "<think>Both.</think>\n"])
def test_what_wraps_a_summary_is_taken_off(wrapper, thought):
    assert read(thought + wrapper.format(SUMMARY)) == (SUMMARY, ["thought"] if thought else [])


@pytest.mark.parametrize("form", NEXT_TURNS)
def test_a_further_turn_is_cut_off(form):
    assert read(SUMMARY + form.format("Thank you, and one about cats.")) == (SUMMARY, ["trailing"])


@pytest.mark.parametrize("mark", sorted({mark.replace("{n}", "7") for marks in FAMILIES.values() for mark in marks}))
def test_end_marks_of_every_family_are_no_text(mark):
    assert read(f"{SUMMARY}{mark}\n{mark}") == (SUMMARY, [])
    assert read(mark) == ("", ["empty"])


@pytest.mark.parametrize(
    "text",
    [
        "It sails: at night.",
        "Here is where the left objects: the price of the ferry.",
        "The result: higher fares, critics say.",
        "The summary judgment of the court: no.",
        "After years of debate, the left demands a response.",
        "In summary, the left objects.",
        "Based on the reviews, the response is clear: people love it.",
        "Sure of victory, the left voted early.",
        "Of course the left objects.",
        "Model railways are loved by all.",
        "Assistant coaches want more pay.",
        "AI: a threat to some, a chance to others.",
        "User fees are too high.\nOthers disagree.",
        "Analysis: the left wins.",
        "'Too dear,' he said. 'Keep it.'",
        "\u201cToo dear,\u201d he said. \u201cKeep it.\u201d",
        "**The Left** argues; **the Right** doubts.",
        "- cheap\n- fast",
        "[sic] they wrote",
        "{curly} words",
        "#MeToo supporters want a law.",
        "1. May was warm, writers say.",
        "Thanks to the ferry, nurses get home.",
        "Thanks to the ferry, nurses get home.\nOthers find it dear.",
        "Here is the version of events that the left tells: guards struck first.",
        "Here is one answer to the strike: higher wages.",
        "Hier ist die Version der Linken: zu teuer.",
        "## The left\nIt wants a ferry.\n## The right\nIt wants a bridge.",
        "**The left**\nIt wants a ferry, and says so often.\n**The right**\nIt wants a bridge.",
        "I'd be happy to help anyone who boards, says the crew.",
        "Drafts of the law: none.",
        "The speech (of 40 words) was short.",
        "The essay has 300 words",
        "Clerks say, let me know if the room is cold.",
        "Readers --> writers.",
        "Let me know if you go, says the crew. Others stay.",
        "Plan: a ferry.\nThe left wants it.",
        "Great ferries, say fans.",
        "The user wants a cheaper kettle, and most reviewers agree.",
        "The user wants a summary view in the app, say many reviews.",
        "The user wants me to pay twice, complains one seller.",
        "We need to summarize what went wrong, the mayor says; the left wants more.",
        "The <work> of many </work>, say some, and <notes> are missing.",
        "A formula, \\boxed{x}, is wrong, say teachers.",
        "| a | b |\n|---|---|\n| c | d |\n| e | f |",
        "The <p> element is loved by web writers, `<br>` is not.",
        "- cheap - loud - late",
        "Some call it \u201ccheap\u201d, others \u201cloud\u201d",
        "<3 from all guests",
        "Bot: the Battle of Things is loved.",
        "\u6458\u8981\u3092\u66f8\u304f\u4eba\u304c\u591a\u3044\u3002",
    ],
)
def test_plain_texts_stay_to_the_letter(text):
    assert summary_of(text).text == text
    assert summary_of(text).issues == ()
    assert check_output(Contract(), text).text == " ".join(text.split())


@pytest.mark.parametrize(
    "text",
    [
        "Let me start by saying this place is great, writes one guest.\n\nOthers disagree.",
        "First, I need to find a doctor, one mother writes.\n\nOthers praise the clinic.",
        "Okay, the user manual is bad, but the lamp works.\n\nMost would buy it again.",
        "The user interface is loved by most.\n\nOthers find it slow.",
        "I need to think of my children, a mother writes.\n\nThe left agrees.",
    ],
)
def test_people_who_think_aloud_are_no_thought_of_the_model(text):
    assert summary_of(text).text == text
    assert summary_of(text).issues == ()


@given(
    st.text(alphabet=st.characters(categories=["L", "Nd", "Zs", "Po"], exclude_characters=":\uff1a\"'`*#"), max_size=80)
)
def test_a_text_of_letters_and_stops_stays(text):
    # a word and a full stop before it keep it from being an announcement
    plain = f"Ferries sail. {text}".strip()
    assert answer_of(plain).text == plain


@given(st.text(alphabet="<>/think|[]THINKassistant \n`:\"'*{}", max_size=120))
def test_nothing_is_invented_and_nothing_breaks(text):
    read = summary_of(text)
    assert summary_of(read.text).text is not None
    assert not set(read.text) - set(text) - {" "}


PIECES = (
    "<think>", "</think>", "<|im_end|>", "<|channel|>analysis", "```", "```think\n```\n", "\n", " ", "\"", "'", "**", "- a\n",
    "The Left ",
    "\nThe Left", ":\n", "Here is the summary:\n", "<summary>", "</summary>", '{"a":', "[", "sorry, I can't ", "A. ", "U.S. ",
    "</s>", "<s>", "[summary]", "<plan>", "</p>", "<p>", "<br>", "\\boxed{", "\\text{", "| ", "|\n", '{"summary": "',
    "<head", "<b>",
    "Okay, the user wants me to summarize. ", "The user ", "I need to summarize ", "\u201c", "let me start ",
    "\nuser\n", ".assistant\n", "&lt;think&gt;", "<details>", "Thinking Process:\n", "Summary:\n", "x", "\u3002", "# ", "> ",
)  # fmt: skip


@pytest.mark.parametrize("piece", PIECES)
def test_thousands_of_repetitions_are_read(piece):
    """What doubles with each repetition would never end."""
    text = piece * (6_000 // len(piece))
    for reply in (text, f"a{text}a", f"Here is the summary:\n\n{text}"):
        check_output(LEFT, reply)
