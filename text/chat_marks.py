"""Marks that models' chat formats put around turns, by family: what ends an answer, and what begins a turn.

A text that came from a model may end with them: servers decode them, and trainers send what was decoded with them. Marks of
trains of thought are not among these. A text that is sent to a model must spell none of them, nor those of thoughts, of tools and
of roles in plain words: a server's chat template might take it for a turn.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping

# in the bars of "<|...|>" and "[|...|]" any name is a mark, also in those of full width; families have names of their own there
BARRED = r"<[|\uff5c][^<>|\uff5c\n]{1,40}[|\uff5c]>|\[\|[^\[\]|\n]{1,40}\|\]"
# family -> its marks; {n} stands for a number
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "Llama 2": ("<s>", "</s>", "[INST]", "[/INST]", "<<SYS>>", "<</SYS>>", "<unk>"),
    "Llama 3": ("<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|eom_id|>"),
    "Llama 4": ("<|header_start|>", "<|header_end|>", "<|eot|>", "<|eom|>"),
    "Mistral": ("[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_CALLS]",
                "[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CONTENT]", "[ARGS]", "[CALL_ID]"),
    "ChatML": ("<|im_start|>", "<|im_end|>", "<|im_sep|>", "<|endoftext|>"),
    "Gemma": ("<bos>", "<eos>", "<start_of_turn>", "<end_of_turn>", "<|turn>", "<turn|>", "<pad>"),
    "DeepSeek": ("<\uff5cbegin\u2581of\u2581sentence\uff5c>", "<\uff5cend\u2581of\u2581sentence\uff5c>", "<\uff5cUser\uff5c>",
                 "<\uff5cAssistant\uff5c>", "<|EOT|>"),
    "Phi": ("<|system|>", "<|user|>", "<|assistant|>", "<|end|>"),
    "gpt-oss": ("<|start|>", "<|message|>", "<|channel|>", "<|return|>", "<|call|>", "<|constrain|>"),
    "GLM": ("[gMASK]", "[sMASK]", "<sop>", "<eop>", "<|observation|>"),
    "Command": ("<BOS_TOKEN>", "<EOS_TOKEN>", "<|START_OF_TURN_TOKEN|>", "<|END_OF_TURN_TOKEN|>", "<|CHATBOT_TOKEN|>",
                "<|USER_TOKEN|>", "<|START_RESPONSE|>", "<|END_RESPONSE|>"),
    "Granite": ("<|start_of_role|>", "<|end_of_role|>"),
    "EXAONE": ("[BOS]", "[|system|]", "[|user|]", "[|assistant|]", "[|endofturn|]"),
    "Seed-OSS": ("<seed:bos>", "<seed:eos>", "<seed:pad>"),
    "MiniMax": ("]~!b[", "]~b]", "[e~[", "<beginning_of_sentence>", "<end_of_sentence>"),
    "Ling": ("<role>", "</role>", "<|role_end|>", "<|startoftext|>"),
    "Hunyuan": ("<|hy_begin\u2581of\u2581sentence|>", "<|hy_Assistant|>", "<|hy_EOT|>", "<|extra_{n}|>"),
    "Kimi": ("<|im_middle|>", "<|im_user|>", "<|im_assistant|>", "[EOS]", "[EOT]"),
    "InternLM": ("<eoh>", "<eoa>", "<|User|>", "<|Bot|>", "<TOKENS_UNUSED_{n}>"),
    "Baichuan": ("<reserved_{n}>",),
    "Nemotron": ("<extra_id_{n}>", "<SPECIAL_{n}>"),
    "Apertus": ("<|assistant_start|>", "<|assistant_end|>"),
    "OpenChat": ("<|end_of_turn|>",),
    "ERNIE": ("<|begin_of_sentence|>", "<|end_of_sentence|>", "<sep>", "<cls>"),
    "Reka": ("<|endoftext|>", "<sep>"),
    "BERT": ("[CLS]", "[SEP]", "[PAD]", "[UNK]"),
    "plain words": ("<eot>", "<eod>", "<eom>", "<end>", "<|eos|>", "<[EOS]>", "|ENDOFTEXT|", "[END]", "[end of text]"),
}  # fmt: skip
# family -> marks that a text which is sent must not spell either: of tools, pictures and thoughts, and roles in plain words.
# "### X" stands for any heading of that name, "X:" for the word with a colon at the beginning of a line, in any letters, one in
# capitals for it within a line, too, as Vicuna has it, and "\nX:" for the word alone in its line: a form may well begin a line
# with "Output:" or "System:", and no template reads "Operating System: Linux" as a turn
SENT_FAMILIES: Mapping[str, tuple[str, ...]] = {
    "Llama 2": ("<SYS>", "</SYS>", "<<SYS>", "<</SYS>"),
    "Mistral": ("[THINK]", "[/THINK]", "[MODEL_SETTINGS]", "[/MODEL_SETTINGS]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[IMG]",
                "[IMG_BREAK]", "[IMG_END]", "[AUDIO]", "[BEGIN_AUDIO]", "[TRANSCRIBE]"),
    "Qwen": ("<tools>", "</tools>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>"),
    "Qwen coder": ("<function=", "</function>", "<parameter=", "</parameter>", "<IMPORTANT>", "</IMPORTANT>"),
    "Gemma": ("<start_of_image>", "<end_of_image>", "<image_soft_token>", "<unused{n}>", "[multimodal]"),
    "DeepSeek": ("<\uff5cDSML\uff5c", "</\uff5cDSML\uff5c", "User:", "Assistant:"),
    "GLM": ("<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", "/nothink", "<eos>"),
    "ChatGLM": ("[Round {n}]", "\u95ee:", "\u7b54:"),
    "Seed-OSS": ("<seed:think>", "</seed:think>", "<seed:tool_call>", "</seed:tool_call>", "<seed:cot_budget_reflect>",
                 "</seed:cot_budget_reflect>"),
    "MiniMax": ("]<]minimax[>[", "]!p~[", "]!d~[", "<minimax:tool_call>", "</minimax:tool_call>"),
    "MiniCPM": ("<\u7528\u6237>", "<AI>"),
    "InternLM": ("[UNUSED_TOKEN_{n}]",),
    "Pangu": ("[unused{n}]",),
    "Nemotron": ("<TOOLCALL>", "</TOOLCALL>", "<AVAILABLE_TOOLS>", "</AVAILABLE_TOOLS>", "<TOOL_RESPONSE>", "</TOOL_RESPONSE>"),
    "Command": ("<results>", "</results>", "<co>", "</co>"),
    "Granite": ("\nSystem:", "\nQuestion:", "\nAnswer:"),
    "LFM": ("<|tool_list_start|>", "<|tool_response_start|>"),
    "Hermes": ("<scratch_pad>", "</scratch_pad>"),
    "Vicuna": ("USER:", "ASSISTANT:"),
    "Alpaca": ("### Instruction", "### Input", "### Response", "\nInstruction:", "\nInput:", "\nResponse:"),
    "Phi-2": ("Instruct:", "\nOutput:"),
    "Koala and XVERSE": ("Human:", "Assistant:"),
    "Guanaco and Aquila": ("### Human", "### Assistant", "### System"),
    "Solar and Orca": ("### User", "### Assistant", "### System"),
    "Phind": ("### System Prompt", "### User Message"),
    "Dolly and MPT": ("### End", "### Context"),
    "WizardCoder": ("### Prompt", "### Output"),
    "Falcon": ("User:", "Falcon:"),
    "RedPajama and Ziya": ("<human>", "</human>", "<bot>", "</bot>"),
    "Skywork": ("[USER]", "[BOT]", "[SYSTEM]", "[/USER]", "[/BOT]", "[/SYSTEM]"),
    "LongAlign and Reka": ("human:", "assistant:", "\nbot:", "\nai:"),
    "tags of roles": ("<system>", "</system>", "<user>", "</user>", "<assistant>", "</assistant>", "<prompter>", "</prompter>"),
}  # fmt: skip
# marks that a text may have within it: of passages that are struck out, of what a vocabulary does not know, of nothing
WITHIN = frozenset(("<s>", "<unk>", "[UNK]", "<pad>", "[PAD]", "[CLS]", "[SEP]", "[BOS]", "<sep>", "<cls>"))
# marks that texts of other kinds have as well, in their own markup or as words
ELSEWHERE = frozenset(("</s>", "<role>", "</role>", "[ARGS]", "[EOS]", "[EOT]", *FAMILIES["plain words"]))
# the longest end that is looked for
MOST_CHARACTERS = 48


def _pattern(mark: str) -> str:
    return re.escape(mark).replace(re.escape("{n}"), r"\d{1,5}")


def _any(marks: Iterable[str]) -> str:
    return "|".join(sorted(map(_pattern, marks), key=lambda mark: (-len(mark), mark)))


def _sent(mark: str) -> str:
    """A pattern of a mark as compatibility form writes it, whose bars have a width of one and whose colons, too."""
    name = mark.strip("\n# :")
    blanks = r"[^\S\n]*"
    if mark.startswith("#"):
        return rf"##+{blanks}{re.escape(name)}s?{blanks}(?::|$)"
    if mark.endswith(":"):
        begin = rf"(?:^|(?<!\w)(?-i:(?={name})))" if name.isupper() else "^"
        return rf"{begin}{re.escape(name)}{blanks}:" + (rf"{blanks}$" if mark[0] == "\n" else "")
    return _pattern(unicodedata.normalize("NFKD", mark).replace("\u2581", " "))


_ALL = frozenset(mark for marks in FAMILIES.values() for mark in marks)
MARK = re.compile(f"{BARRED}|{_any(_ALL)}", re.IGNORECASE)
# those that part one turn from the next wherever they stand
TURN = re.compile(f"{BARRED}|{_any(_ALL - WITHIN)}", re.IGNORECASE)
# with half of the bars, "<|turn>" and "<tool_call|>", too
_SENT = sorted(_sent(mark) for mark in _ALL.union(*SENT_FAMILIES.values()))
SENT = re.compile(rf"{BARRED}|<\|\w{{1,40}}>|</?\w{{1,40}}\|>|{'|'.join(_SENT)}", re.IGNORECASE | re.MULTILINE)
# what tells that some template rendered a text: no text of people has these, in these letters and without blanks
_BARRED_WORD = BARRED.replace(r"\n]", r"\s]")
RENDERED = re.compile(rf"{_BARRED_WORD}|{_any(_ALL - WITHIN - ELSEWHERE)}|<(?:human|bot)>:")
LAST = re.compile(rf"(?:{MARK.pattern})\Z", re.IGNORECASE)


def without_end_marks(text: str) -> str:
    """The text without white space at its ends and without the marks of turns behind it, in time that grows with its length.

    >>> without_end_marks("The ferry sails.<|im_end|>\\n")
    'The ferry sails.'
    """
    end = len(text)
    while True:
        while end and text[end - 1].isspace():
            end -= 1
        mark = LAST.search(text[max(0, end - MOST_CHARACTERS) : end])
        if mark is None:
            return text[:end].lstrip()
        end -= len(mark[0])
