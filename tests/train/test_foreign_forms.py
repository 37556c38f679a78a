"""Others' pairs in every form: dialogues in one text, marks of turns, and the tokens that stock TRL trains."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from chat_families import FAMILIES, make_tokenizer

from evenhand.config.train import TrainSection
from evenhand.errors import DataError
from evenhand.generate.turns import turns_of
from evenhand.train.examples import read_rows
from evenhand.train.foreign import read_pairs

pytest.importorskip("transformers")
ASK, CHEAP, DEAR = "Is the ferry cheap?", "The ferry is cheap.", "The ferry is dear."


def said(role: str, text: str) -> dict[str, str]:
    return {"role": role, "content": text}


def written(folder: Path, *lines: dict[str, Any]) -> Path:
    path = folder / "pairs.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def turns(path: Path) -> list[tuple[list[str], str, str]]:
    pairs, mistakes = read_pairs(path)
    assert not mistakes
    return [
        ([f"{turn.role}: {turn.content}" for turn in pair.prompt], pair.chosen_text, pair.rejected_text)
        for _, pair in pairs
    ]


# who asks and who answers, and how their names stand in the text
DIALOGUES = {
    "hh-rlhf": "\n\nHuman: {0}\n\nAssistant: {1}",
    "one line break": "Human: {0}\nAssistant: {1}",
    "users": "User: {0}\n\nAssistant: {1}",
    "capitals": "USER: {0} ASSISTANT: {1}",
    "one line": "Human: {0} Assistant: {1}",
    "small": "user: {0}\nassistant: {1}",
    "headings": "### Instruction:\n{0}\n\n### Response:\n{1}",
    "headings of speakers": "### Human: {0}\n### Assistant: {1}",
    "bold": "**User:** {0}\n\n**Assistant:** {1}",
    "machine": "Human: {0}\nAI: {1}",
    "full-width colons": "\n\nHuman\uff1a{0}\n\nAssistant\uff1a{1}",
}


@pytest.mark.parametrize("form", DIALOGUES.values(), ids=DIALOGUES)
def test_dialogues_in_one_text_become_turns(tmp_path: Path, form: str) -> None:
    line = {"chosen": form.format(ASK, CHEAP), "rejected": form.format(ASK, DEAR)}
    assert turns(written(tmp_path, line)) == [([f"user: {ASK}"], CHEAP, DEAR)]


@pytest.mark.parametrize("form", DIALOGUES.values(), ids=DIALOGUES)
def test_dialogues_of_several_turns_become_turns(tmp_path: Path, form: str) -> None:
    first = form.format("Is there a ferry?", "Yes: twice a day.").rstrip()
    gap = form[: len(form) - len(form.lstrip())] or ("\n" if "\n" in form else " ")
    line = {
        name: f"{first}{gap}{form.lstrip().format(ASK, answer)}"
        for name, answer in (("chosen", CHEAP), ("rejected", DEAR))
    }
    prompt = ["user: Is there a ferry?", "assistant: Yes: twice a day.", f"user: {ASK}"]
    assert turns(written(tmp_path, line)) == [(prompt, CHEAP, DEAR)]


@pytest.mark.parametrize("form", DIALOGUES.values(), ids=DIALOGUES)
def test_a_prompt_that_is_a_dialogue_up_to_the_answer_becomes_turns(tmp_path: Path, form: str) -> None:
    prompt = form.format(ASK, "").rstrip()
    ranked = {"prompt": prompt, "completions": [{"rank": 1, "completion": CHEAP}, {"rank": 2, "completion": DEAR}]}
    given = {"prompt": prompt, "chosen": f" {CHEAP}", "rejected": f" {DEAR}"}
    (one, two) = turns(written(tmp_path, given, ranked))
    assert one == ([f"user: {ASK}"], f" {CHEAP}", f" {DEAR}")
    assert two == ([f"user: {ASK}"], CHEAP, DEAR)


@pytest.mark.parametrize(
    "prompt",
    [
        "Summarise:\n\nHuman: Is it cheap?\n\nAssistant: It is.",
        "Human: Is it cheap?\nAssistant: It is.\nSummarise what they say.",
        "Human rights: are they kept on the ferry?",
        "User: a person who uses something. What is a user?",
        "Question: Is it cheap?\nAnswer:",
        "User: a person.\nModel: a thing.\nModel: a person who sits. What is a model?",
        "System: Windows\nUser: many",
        "System: Windows 11\nUser: Bob\nStatus: open",
        "System: solar\nUser: a family\nOutput: 4 kW",
        "System: PS5\nUser: 7.5\nCritics: 80",
        "The Assistant: a play. Who wrote it?",
    ],
)
def test_a_prompt_that_quotes_or_resembles_a_dialogue_stays_as_it_is(tmp_path: Path, prompt: str) -> None:
    assert turns(written(tmp_path, {"prompt": prompt, "chosen": CHEAP, "rejected": DEAR})) == [
        ([f"user: {prompt}"], CHEAP, DEAR)
    ]


@pytest.mark.parametrize(
    "before",
    [
        "System: Answer in one sentence.\n\nHuman: {0}\n\nAssistant: {1}",
        "### System:\nAnswer in one sentence.\n\n### User:\n{0}\n\n### Assistant:\n{1}",
        "Answer in one sentence.\n\n### Instruction:\n{0}\n\n### Response:\n{1}",
    ],
)
def test_what_stands_before_the_first_turn_is_the_systems(tmp_path: Path, before: str) -> None:
    implicit = {"chosen": before.format(ASK, CHEAP), "rejected": before.format(ASK, DEAR)}
    explicit = {"prompt": before.format(ASK, ""), "chosen": CHEAP, "rejected": DEAR}
    expected = (["system: Answer in one sentence.", f"user: {ASK}"], CHEAP, DEAR)
    assert turns(written(tmp_path, implicit, explicit)) == [expected, expected]


def test_words_inside_lines_are_no_speakers_where_names_begin_lines(tmp_path: Path) -> None:
    text = "\n\nHuman: Who is the Assistant: a person?\n\nAssistant: "
    line = {"chosen": text + CHEAP, "rejected": text + DEAR}
    assert turns(written(tmp_path, line)) == [(["user: Who is the Assistant: a person?"], CHEAP, DEAR)]


def test_long_runs_of_line_breaks_are_read_at_once(tmp_path: Path) -> None:
    gap = "\n" * 100_000
    line = {"chosen": f"Human: {ASK}{gap}Assistant: {CHEAP}", "rejected": f"Human: {ASK}{gap}Assistant: {DEAR}"}
    assert turns(written(tmp_path, line)) == [([f"user: {ASK}"], CHEAP, DEAR)]


@pytest.mark.parametrize(
    ("line", "mistake"),
    [
        (
            {
                "chosen": f"Human: {ASK}\nHuman: Well?\nAssistant: {CHEAP}",
                "rejected": f"Human: {ASK}\nHuman: Well?\nAssistant: {DEAR}",
            },
            "is a dialogue in one text, whose 'Human:' and 'Assistant:' do not take turns; write conversations",
        ),
        (
            {"chosen": f"Human: {ASK}\nAssistant: {CHEAP}", "rejected": f"Human: {ASK}\n{DEAR}"},
            "only one of chosen and rejected is a dialogue",
        ),
        (
            {
                "chosen": f"Human: {ASK}\nAssistant: {CHEAP}\nHuman: Thanks",
                "rejected": f"Human: {ASK}\nAssistant: {DEAR}\nHuman: So",
            },
            "chosen is not the assistant's alone",
        ),
        (
            {"chosen": f"[INST] {ASK} [/INST] {CHEAP}", "rejected": f"[INST] {ASK} [/INST] {DEAR}"},
            "with marks of a chat template ([INST], [/INST]); write conversations",
        ),
        (
            {"chosen": f"<|prompter|>{ASK}<|assistant|>{CHEAP}", "rejected": f"<|prompter|>{ASK}<|assistant|>{DEAR}"},
            "with marks of a chat template (<|prompter|>, <|assistant|>)",
        ),
    ],
    ids=["turns", "one", "last", "llama 2", "open assistant"],
)
def test_dialogues_that_cannot_be_parted_are_refused_by_line(tmp_path: Path, line: Any, mistake: str) -> None:
    pairs, ((number, message),) = read_pairs(written(tmp_path, line))
    assert (pairs, number) == ([], 1)
    assert mistake in message


def test_conversations_that_a_table_had_as_texts_are_refused_by_line(tmp_path: Path) -> None:
    said = {"prompt": ASK, "chosen": CHEAP, "rejected": DEAR}
    conversation = {name: [{"role": "user", "content": text}] for name, text in said.items()}
    listed = {"prompt": "[1, 2] and [{}]: which is a list of lists?", "chosen": CHEAP, "rejected": DEAR}
    objects = {
        "prompt": '[{"content": "Good.", "stars": 5}]',
        "chosen": '[{"from": "Berlin"}]',
        "rejected": DEAR,
    }
    lines = (
        {name: json.dumps(turns) for name, turns in conversation.items()},
        # as Python shows it, with what was asked in both
        {name: str(turns) for name, turns in conversation.items() if name != "prompt"},
        {"prompt": ASK, "completions": [{"rank": n, "completion": json.dumps(conversation["chosen"])} for n in (1, 2)]},
        listed,
        objects,
    )
    pairs, mistakes = read_pairs(written(tmp_path, *lines))
    assert [number for number, _ in pairs] == [4, 5]
    assert [message.split(": ")[0] for _, message in mistakes] == [
        "prompt begins with '[{\"role\":'",
        "chosen begins with \"[{'role':\"",
        "completions[0] begins with '[{\"role\":'",
    ]
    assert mistakes[0][1].endswith(
        "written as text; write the list itself, or train texts as they are: train.texts: plain"
    )
    assert not read_pairs(written(tmp_path, lines[0]), "plain")[1]


@pytest.mark.parametrize("place", ["prompt", "chosen", "rejected"])
@pytest.mark.parametrize("name", FAMILIES)
def test_marks_of_turns_in_others_texts_are_refused_by_line(tmp_path: Path, name: str, place: str) -> None:
    mark = FAMILIES[name].marks[0]
    good = {"prompt": ASK, "chosen": CHEAP, "rejected": DEAR}
    path = written(tmp_path, good, good | {place: f"It {mark} is."})
    with pytest.raises(
        DataError, match=rf"pairs\.jsonl:2: {place} spells '.+', which is a mark of the model's own turns"
    ):
        read_rows(path, make_tokenizer(FAMILIES[name]))


@pytest.mark.parametrize("name", FAMILIES)
def test_others_answers_end_with_one_end_of_a_turn(tmp_path: Path, name: str) -> None:
    tokenizer = make_tokenizer(FAMILIES[name])
    end = tokenizer.decode([turns_of(tokenizer).end])
    lines = [
        {"prompt": ASK, "chosen": CHEAP, "rejected": DEAR},
        {"prompt": ASK, "chosen": CHEAP + end, "rejected": f"{DEAR}{end}\n"},
        {
            "prompt": [said("user", ASK)],
            "chosen": [said("assistant", CHEAP + end)],
            "rejected": [said("assistant", DEAR)],
        },
    ]
    rows = read_rows(written(tmp_path, *lines), tokenizer)
    assert tokenizer.decode(rows[0].chosen_ids).replace(" ", "") == (CHEAP + end).replace(" ", "")
    ends = [ids.count(turns_of(tokenizer).end) for row in rows for ids in (row.chosen_ids, row.rejected_ids)]
    assert ends == [1] * 6
    assert all(row.columns == rows[0].columns for row in rows)


def test_an_answer_that_is_nothing_but_an_end_is_empty(tmp_path: Path) -> None:
    path = written(tmp_path, {"prompt": ASK, "chosen": "<|im_end|>", "rejected": DEAR})
    with pytest.raises(DataError, match=r"pairs\.jsonl:1: chosen is empty; mend the line"):
        read_rows(path, make_tokenizer(FAMILIES["Qwen 2.5"]))


def trls_rows(lines: list[dict[str, Any]], tokenizer: Any) -> list[dict[str, list[int]]]:
    """What stock TRL makes of the lines."""
    trl, datasets = pytest.importorskip("trl"), pytest.importorskip("datasets")
    arguments = SimpleNamespace(dataset_num_proc=None, max_length=None, truncation_mode="keep_start")
    trainer = SimpleNamespace(_tokenizer=tokenizer)
    rows = trl.DPOTrainer._prepare_dataset(trainer, datasets.Dataset.from_list(lines), tokenizer, arguments, "train")
    return [{name: row[name] for name in ("prompt_ids", "chosen_ids", "rejected_ids")} for row in rows]


TEXTS: dict[str, list[dict[str, Any]]] = {
    "explicit": [
        {"prompt": ASK, "chosen": f" {CHEAP}", "rejected": f" {DEAR}"},
        {"prompt": f"{ASK} ", "chosen": CHEAP, "rejected": "Dear."},
    ],
    "implicit": [
        {"chosen": f"{ASK} {CHEAP}", "rejected": f"{ASK} {DEAR}"},
        {"chosen": f"\n\nHuman: {ASK}\n\nAssistant: Dear.", "rejected": f"\n\nHuman: {ASK}\n\nAssistant: Dull."},
    ],
    "ends": [
        {"prompt": ASK, "chosen": CHEAP + "</s>", "rejected": DEAR},
        {"prompt": ASK, "chosen": CHEAP + "<eos>", "rejected": DEAR + "<|im_end|>"},
    ],
    "rendered": [
        {"prompt": f"<|im_start|>user\n{ASK}<|im_end|>\n<|im_start|>assistant\n", "chosen": CHEAP, "rejected": DEAR},
        {"prompt": f"[INST] {ASK} [/INST]", "chosen": f" {CHEAP}", "rejected": f" {DEAR}"},
    ],
}


@pytest.mark.usefixtures("fresh_accelerate")
@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("name", ["Qwen 2.5", "Gemma 2", "Llama 2"])
def test_plain_texts_have_the_tokens_of_stock_trl(tmp_path: Path, name: str, kind: str) -> None:
    tokenizer = make_tokenizer(FAMILIES[name])
    rows = read_rows(written(tmp_path, *TEXTS[kind]), tokenizer, "plain")
    assert [row.columns for row in rows] == trls_rows(TEXTS[kind], tokenizer)


# what the chat template writes behind the end of a turn, which is not trained here
BEHIND = {"Qwen 2.5": "\n", "Gemma 2": "\n", "Gemma 3": "\n", "Zephyr": "\n", "Phi 3": "\n<|endoftext|>"}


@pytest.mark.usefixtures("fresh_accelerate")
@pytest.mark.parametrize("name", [name for name in FAMILIES if name != "Alpaca"])
def test_conversations_have_the_tokens_of_stock_trl_up_to_what_stands_behind_the_end(tmp_path: Path, name: str) -> None:
    tokenizer = make_tokenizer(FAMILIES[name])
    asked = [said("user", "Hi."), said("assistant", "Hello."), said("user", ASK)]
    line = {"prompt": asked, "chosen": [said("assistant", CHEAP)], "rejected": [said("assistant", DEAR)]}
    # a conversation is one with either form of texts
    (ours,), (again,) = (read_rows(written(tmp_path, line), tokenizer, form) for form in ("chat", "plain"))
    (stock,) = trls_rows([line], tokenizer)
    assert ours.columns == again.columns
    assert ours.prompt_ids == stock["prompt_ids"]
    for own, theirs in ((ours.chosen_ids, stock["chosen_ids"]), (ours.rejected_ids, stock["rejected_ids"])):
        assert own == theirs[: len(own)]
        assert "".join(tokenizer.decode(theirs[len(own) :]).split()) == "".join(BEHIND.get(name, "").split())


@pytest.mark.parametrize(
    ("section", "form"),
    [
        ({"trainer": "pairwise"}, "plain"),
        ({"trainer": "shared-prefix"}, "chat"),
        ({"trainer": "pairwise", "texts": "chat"}, "chat"),
        ({"texts": "plain"}, "plain"),
    ],
)
def test_stock_trl_has_its_own_tokens_unless_the_recipe_says_otherwise(section: dict[str, Any], form: str) -> None:
    assert TrainSection(pairs=Path("pairs.jsonl"), **section).form == form


def test_a_form_of_texts_without_others_pairs_is_refused() -> None:
    with pytest.raises(ValueError, match=r"texts.*with pairs"):
        TrainSection.model_validate({"texts": "plain"})


def asked_and_answered(prompt: Any, chosen: Any, rejected: Any) -> list[dict[str, Any]]:
    """The same as a pair and as a ranked list."""
    ranked = [{"rank": 1, "completion": chosen}, {"rank": 2, "completion": rejected}]
    return [{"prompt": prompt, "chosen": chosen, "rejected": rejected}, {"prompt": prompt, "completions": ranked}]


@pytest.mark.parametrize("form", DIALOGUES.values(), ids=DIALOGUES)
def test_answers_that_begin_with_the_name_of_who_answers_are_told_apart_from_it(tmp_path: Path, form: str) -> None:
    prompt, (_, answer) = form.format(ASK, "").rstrip(), form.split("{0}")
    question = prompt.removesuffix(answer.format("", "").rstrip())
    lines = asked_and_answered(question, answer.format("", CHEAP), answer.format("", DEAR))
    assert turns(written(tmp_path, *lines)) == [([f"user: {ASK}"], CHEAP, DEAR)] * 2


@pytest.mark.parametrize("form", DIALOGUES.values(), ids=DIALOGUES)
def test_answers_that_repeat_the_whole_prompt_are_told_apart_from_it(tmp_path: Path, form: str) -> None:
    lines = asked_and_answered(form.format(ASK, "").rstrip(), form.format(ASK, CHEAP), form.format(ASK, DEAR))
    assert turns(written(tmp_path, *lines)) == [([f"user: {ASK}"], CHEAP, DEAR)] * 2


def test_conversations_that_repeat_the_prompt_are_told_apart_from_it(tmp_path: Path) -> None:
    chosen, rejected = ([said("user", ASK), said("assistant", answer)] for answer in (CHEAP, DEAR))
    lines = [line for prompt in (ASK, [said("user", ASK)]) for line in asked_and_answered(prompt, chosen, rejected)]
    assert turns(written(tmp_path, *lines)) == [([f"user: {ASK}"], CHEAP, DEAR)] * 4


@pytest.mark.parametrize("form", DIALOGUES.values(), ids=DIALOGUES)
def test_prompts_of_several_turns_that_end_with_a_question_become_turns(tmp_path: Path, form: str) -> None:
    first, (question, _) = (
        form.format("Is there a ferry?", "Yes: twice a day."),
        form.split("{1}", maxsplit=1)[0].split("{0}"),
    )
    gap = "" if question.startswith("\n") else "\n" if "\n" in form else " "
    lines = asked_and_answered(f"{first}{gap}{question}{ASK}", CHEAP, DEAR)
    prompt = ["user: Is there a ferry?", "assistant: Yes: twice a day.", f"user: {ASK}"]
    assert turns(written(tmp_path, *lines)) == [(prompt, CHEAP, DEAR)] * 2


@pytest.mark.parametrize("form", DIALOGUES.values(), ids=DIALOGUES)
def test_answers_that_go_on_with_another_turn_are_refused_by_line(tmp_path: Path, form: str) -> None:
    gap = "" if form.startswith("\n") else "\n\n" if "\n" in form else " "
    further = gap + form.format("Thanks", "Bye.")
    for line in asked_and_answered(form.format(ASK, "").rstrip(), CHEAP + further, DEAR):
        pairs, ((number, message),) = read_pairs(written(tmp_path, line))
        assert (pairs, number) == ([], 1)
        assert "goes on with another turn" in message and message.endswith("train.texts: plain")


@pytest.mark.parametrize(
    ("prompt", "spoken"),
    [
        (f"\n\nHuman: {ASK}", [f"user: {ASK}"]),
        (f"### Instruction:\n{ASK}", [f"user: {ASK}"]),
        (f"System: Be brief.\nUser: {ASK}", ["system: Be brief.", f"user: {ASK}"]),
    ],
)
def test_a_question_alone_is_a_turn_where_its_name_can_be_nothing_else(
    tmp_path: Path, prompt: str, spoken: list[str]
) -> None:
    assert turns(written(tmp_path, *asked_and_answered(prompt, CHEAP, DEAR))) == [(spoken, CHEAP, DEAR)] * 2


INTRODUCTION = "A chat between a curious user and an artificial intelligence assistant."


@pytest.mark.parametrize(
    ("prompt", "spoken"),
    [
        (f"{INTRODUCTION} USER: {ASK} ASSISTANT:", [f"user: {ASK}"]),
        (
            f"{INTRODUCTION} USER: Hello. ASSISTANT: Good day.</s>USER: {ASK} ASSISTANT:",
            ["user: Hello.", "assistant: Good day.", f"user: {ASK}"],
        ),
        (f"{INTRODUCTION}\n\nHuman: {ASK}\n\nAssistant:", [f"user: {ASK}"]),
    ],
    ids=["vicuna", "two turns", "hh-rlhf"],
)
def test_dialogues_behind_an_introduction_become_turns(tmp_path: Path, prompt: str, spoken: list[str]) -> None:
    lines = asked_and_answered(prompt, CHEAP, DEAR)
    if "USER" in prompt:
        lines.append({"chosen": f"{prompt} {CHEAP}", "rejected": f"{prompt} {DEAR}"})
    assert turns(written(tmp_path, *lines)) == [([f"system: {INTRODUCTION}", *spoken], CHEAP, DEAR)] * len(lines)


TWO_TURNS = f"\n\nHuman: {ASK}\n\nAssistant: {CHEAP}"


@pytest.mark.parametrize(
    ("line", "mistake"),
    [
        ({"prompt": f"{TWO_TURNS} And", "chosen": " so on.", "rejected": " so."}, "prompt ends inside an answer"),
        ({"prompt": f"{ASK}\n\nAssistant:", "chosen": CHEAP, "rejected": DEAR}, "prompt ends with the name of who"),
        ({"prompt": f"Human: {ASK}", "chosen": f"Assistant: {CHEAP}", "rejected": DEAR}, "only some of its answers"),
        ({"prompt": ASK, "chosen": TWO_TURNS, "rejected": TWO_TURNS + "!"}, "chosen has turns of a dialogue"),
        ({"prompt": ASK, "chosen": f"Assistant: {CHEAP}", "rejected": DEAR}, "chosen has turns of a dialogue"),
        ({"prompt": ASK, "chosen": CHEAP, "rejected": f"{DEAR}\n\nHuman: Why?"}, "rejected has turns of a dialogue"),
        ({"prompt": ASK, "chosen": CHEAP, "rejected": f"{DEAR}\nUser: Why?\nAssistant: So."}, "rejected has turns of"),
        (
            {
                "prompt": [said("user", ASK)],
                "chosen": [said("assistant", f"{CHEAP}\n\nHuman: Thanks")],
                "rejected": [said("assistant", DEAR)],
            },
            "chosen has turns of a dialogue",
        ),
        (
            {
                "prompt": [said("user", f"\n\nHuman: {ASK}\n\nAssistant:")],
                "chosen": [said("assistant", CHEAP)],
                "rejected": [said("assistant", DEAR)],
            },
            "prompt is a dialogue in one turn",
        ),
        ({"chosen": f"Look:{TWO_TURNS}", "rejected": f"Look:{TWO_TURNS} No."}, "has a dialogue behind an introduction"),
    ],
)
def test_what_can_be_read_in_two_ways_is_refused_with_the_remedy(tmp_path: Path, line: Any, mistake: str) -> None:
    pairs, ((number, message),) = read_pairs(written(tmp_path, line))
    assert (pairs, number) == ([], 1)
    assert message.startswith(mistake) or mistake in message
    remedy = (
        "write conversations (lists of role and content), or train texts as they are: train.texts: plain"
        if isinstance(line["chosen"], str)
        else "give each turn its own role and content, or leave the line out"
    )
    assert message.endswith(remedy)


# answers of ordinary texts: forms, headings, prose about speakers
@pytest.mark.parametrize(
    "text",
    [
        "Model: Fiesta.\nYear: 2010.",
        "The Assistant: a play in three acts. Human: an album.",
        "They wrote 'Human: hello' and the bot: nothing.",
        "User: Bob.\nModel: Fiesta.",
        "The users complain.\n\nUser: an old word.",
        "Response: late.",
        "Human rights: they are kept.\n\nHumans: many.",
        "Human: All Too Human is a book.",
        "# The ferry\n\nIt is cheap.",
        "The prompt was <s>dear</s> cheap [institute] <|> a < b.",
    ],
)
@pytest.mark.parametrize("place", ["prompt", "answers"])
def test_texts_that_contain_names_of_speakers_stay_as_they_are(tmp_path: Path, text: str, place: str) -> None:
    prompt, chosen, rejected = (text, CHEAP, DEAR) if place == "prompt" else (ASK, f"{text} One.", f"{text} Two.")
    lines = asked_and_answered(prompt, chosen, rejected)
    assert turns(written(tmp_path, *lines)) == [([f"user: {prompt}"], chosen, rejected)] * 2
    assert len(read_rows(written(tmp_path, *lines[:1]), make_tokenizer(FAMILIES["Gemma 3"]))) == 1


MARKS = [
    "<|im_start|>user\n{0}<|im_end|>\n<|im_start|>assistant\n", "<start_of_turn>user\n{0}<end_of_turn>\n", "[INST] {0} [/INST]",
    "<|start_header_id|>user<|end_header_id|>\n\n{0}<|eot_id|>", "<|user|>\n{0}</s>\n<|assistant|>\n", "{0}</s>", "{0}<eos>",
    "<\uff5cUser\uff5c>{0}<\uff5cAssistant\uff5c>", "[|user|]{0}", "<human>: {0}", "<<SYS>>\nBe brief.\n<</SYS>>\n\n{0}",
]  # fmt: skip


@pytest.mark.parametrize("place", ["prompt", "chosen", "rejected"])
@pytest.mark.parametrize("form", MARKS)
def test_marks_of_other_models_turns_are_refused_by_line(tmp_path: Path, form: str, place: str) -> None:
    texts = {"prompt": ASK, "chosen": CHEAP, "rejected": DEAR}
    marked = texts | {place: form.format(texts[place])}
    role = {"prompt": "user"}
    lines = [texts, marked, {name: [said(role.get(name, "assistant"), text)] for name, text in marked.items()}]
    path = written(tmp_path, *lines)
    with pytest.raises(DataError) as refusal:
        read_rows(path, make_tokenizer(FAMILIES["Command R"]))
    assert f"pairs.jsonl:2: {place} spells" in str(refusal.value)
    assert str(refusal.value).endswith("the same in line 3")
    assert len(read_rows(written(tmp_path, *lines[:2]), make_tokenizer(FAMILIES["Command R"]), "plain")) == 2
