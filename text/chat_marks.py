"""Marks that models' chat formats put around turns, by family: what ends an answer, and what begins a turn.

A text that came from a model may end with them: servers decode them, and trainers send what was decoded with them. Marks of
trains of thought are not among these.
"""

import re
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
    "plain words": ("<eot>", "<eod>", "<eom>", "<end>", "<|eos|>", "|ENDOFTEXT|", "[END]", "[end of text]"),
}  # fmt: skip
# marks that a text may have within it: of passages that are struck out, of what a vocabulary does not know, of nothing
WITHIN = frozenset(("<s>", "<unk>", "[UNK]", "<pad>", "[PAD]", "[CLS]", "[SEP]", "[BOS]", "<sep>", "<cls>"))
# the longest end that is looked for
MOST_CHARACTERS = 48


def _pattern(mark: str) -> str:
    return re.escape(mark).replace(re.escape("{n}"), r"\d{1,5}")


def _any(marks: Iterable[str]) -> str:
    return "|".join(sorted(map(_pattern, marks), key=lambda each: (-len(each), each)))


_ALL = frozenset(mark for marks in FAMILIES.values() for mark in marks)
MARK = re.compile(f"{BARRED}|{_any(_ALL)}", re.IGNORECASE)
# those that part one turn from the next wherever they stand
TURN = re.compile(f"{BARRED}|{_any(_ALL - WITHIN)}", re.IGNORECASE)
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
