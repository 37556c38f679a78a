"""The chat formats of thirteen families of models, as they were published, on tokenizers of a few hundred tokens.

A tokenizer has its family's special tokens, other added tokens, normaliser and chat template, and no words: texts become bytes or
letters. Vicuna and Alpaca published a format in plain text and no chat template; theirs say that format.
"""

from dataclasses import dataclass

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

ALTERNATE = (
    "{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Conversation roles must alternate "
    "user/assistant/user/assistant/...') }}{% endif %}"
)
LLAMA_2 = (
    "{% if messages[0]['role'] == 'system' %}{% set system = '<<SYS>>\n' + messages[0]['content'] + '\n<</SYS>>\n\n' %}"
    "{% set rest = messages[1:] %}{% else %}{% set system = '' %}{% set rest = messages %}{% endif %}{% for m in rest %}"
    + ALTERNATE
    + "{% set content = system + m['content'] if loop.index0 == 0 else m['content'] %}"
    "{% if m['role'] == 'user' %}{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}"
    "{% else %}{{ ' ' + content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}"
)
LLAMA_3 = (
    "{% for m in messages %}{% if loop.index0 == 0 %}{{ bos_token }}{% endif %}"
    "{{ '<|start_header_id|>' + m['role'] + '<|end_header_id|>\n\n' + m['content'] | trim + '<|eot_id|>' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}"
)
# 0.1, 0.2 and Mixtral; 0.3 has no spaces around its tokens
MISTRAL = (
    "{{ bos_token }}{% for m in messages %}" + ALTERNATE + "{% if m['role'] == 'user' %}"
    "{{ '[INST] ' + m['content'] + ' [/INST]' }}{% else %}{{ m['content'] + eos_token }}{% endif %}{% endfor %}"
)
MIXTRAL = MISTRAL.replace("{{ m['content'] + eos_token }}", "{{ ' ' + m['content'] + eos_token }}")
MISTRAL_03 = MIXTRAL.replace("' [/INST]'", "'[/INST]'")
ZEPHYR = (
    "{% for m in messages %}{{ '<|' + m['role'] + '|>\n' + m['content'] + eos_token + '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% endif %}"
)
VICUNA = (
    "{% if messages[0]['role'] == 'system' %}{{ messages[0]['content'] + ' ' }}{% set rest = messages[1:] %}{% else %}"
    "{{ 'A chat between a curious user and an artificial intelligence assistant. The assistant gives helpful, detailed, and "
    "polite answers to the user\\'s questions. ' }}{% set rest = messages %}{% endif %}{% for m in rest %}"
    "{% if m['role'] == 'user' %}{{ 'USER: ' + m['content'] + ' ' }}{% else %}{{ 'ASSISTANT: ' + m['content'] + eos_token }}"
    "{% endif %}{% endfor %}{% if add_generation_prompt %}{{ 'ASSISTANT:' }}{% endif %}"
)
ALPACA = (
    "{% if messages[0]['role'] != 'system' %}{{ 'Below is an instruction that describes a task. Write a response that "
    "appropriately completes the request.\n\n' }}{% endif %}{% for m in messages %}"
    "{% if m['role'] == 'system' %}{{ m['content'] + '\n\n' }}{% elif m['role'] == 'user' %}"
    "{{ '### Instruction:\n' + m['content'] + '\n\n' }}{% else %}{{ '### Response:\n' + m['content'] + '\n\n' }}{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}{{ '### Response:\n' }}{% endif %}"
)
GEMMA_2 = (
    "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
    "{% for m in messages %}" + ALTERNATE + "{% set role = 'model' if m['role'] == 'assistant' else m['role'] %}"
    "{{ '<start_of_turn>' + role + '\n' + m['content'] | trim + '<end_of_turn>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}"
)
GEMMA_3 = (
    "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{% set prefix = messages[0]['content'] + '\n\n' %}"
    "{% set rest = messages[1:] %}{% else %}{% set prefix = '' %}{% set rest = messages %}{% endif %}{% for m in rest %}"
    + ALTERNATE
    + "{% set role = 'model' if m['role'] == 'assistant' else m['role'] %}"
    "{{ '<start_of_turn>' + role + '\n' + (prefix if loop.first else '') + m['content'] | trim + '<end_of_turn>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}"
)
QWEN = (
    "{% if messages[0]['role'] != 'system' %}{{ '<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a "
    "helpful assistant.<|im_end|>\n' }}{% endif %}{% for m in messages %}"
    "{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
PHI_3 = (
    "{% for m in messages %}{{ '<|' + m['role'] + '|>\n' + m['content'] + '<|end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% else %}{{ eos_token }}{% endif %}"
)
COMMAND_R = (
    "{{ bos_token }}{% for m in messages %}{{ '<|START_OF_TURN_TOKEN|>' }}"
    "{{ {'system': '<|SYSTEM_TOKEN|>', 'user': '<|USER_TOKEN|>', 'assistant': '<|CHATBOT_TOKEN|>'}[m['role']] }}"
    "{{ m['content'].strip() + '<|END_OF_TURN_TOKEN|>' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>' }}{% endif %}"
)
SENTENCE_PIECE = ("<unk>", "<s>", "</s>")
GEMMA_TOKENS = ("<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "<start_of_turn>", "<end_of_turn>")


@dataclass(frozen=True)
class Family:
    """A chat format."""

    # "bytes", or "letters" of SentencePiece, with or without a space before the text
    pieces: str
    template: str
    special: tuple[str, ...]
    # what stands between a user's message and the answer, and between that and the user's next message
    answer: str
    question: str
    # what nothing but a turn's border is, special or not
    marks: tuple[str, ...]
    bos: str | None = "<s>"
    eos: str = "</s>"
    # added tokens that control nothing
    added: tuple[str, ...] = ()
    # form that the published normaliser brings texts into
    form: str | None = None


FAMILIES = {
    "Llama 2": Family(
        "space and letters", LLAMA_2, SENTENCE_PIECE, " [/INST] ", " </s><s>[INST] ", ("[INST]", "[/INST]", "<<SYS>>", "<</SYS>>")
    ),
    "Llama 3": Family(
        "bytes", LLAMA_3,
        ("<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eom_id|>", "<|eot_id|>",
         "<|python_tag|>", *(f"<|reserved_special_token_{i}|>" for i in range(248))),
        "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n", "<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n",
        ("<|eot_id|>", "<|start_header_id|>"), bos="<|begin_of_text|>", eos="<|eot_id|>",
    ),
    "Mistral 0.1": Family("space and letters", MISTRAL, SENTENCE_PIECE, " [/INST]", "</s>[INST] ", ("[INST]", "[/INST]", "</s>")),
    "Mistral 0.3": Family(
        "space and letters", MISTRAL_03,
        (*SENTENCE_PIECE, "[INST]", "[/INST]", "[TOOL_CALLS]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]",
         "[/TOOL_RESULTS]", *(f"[control_{i}]" for i in range(8, 770))),
        "[/INST] ", "</s>[INST] ", ("[INST]", "[/INST]", "</s>"),
    ),
    "Mixtral": Family("space and letters", MIXTRAL, SENTENCE_PIECE, " [/INST] ", "</s>[INST] ", ("[INST]", "[/INST]", "</s>")),
    "Zephyr": Family(
        "space and letters", ZEPHYR, SENTENCE_PIECE, "</s>\n<|assistant|>\n", "</s>\n<|user|>\n",
        ("<|user|>", "<|assistant|>", "<|system|>", "</s>"),
    ),
    "Vicuna": Family("space and letters", VICUNA, SENTENCE_PIECE, " ASSISTANT: ", "</s>USER: ", ("USER:", "ASSISTANT:", "</s>")),
    "Alpaca": Family(
        "space and letters", ALPACA, (*SENTENCE_PIECE, "[PAD]"), "\n\n### Response:\n", "\n\n### Instruction:\n",
        ("### Response:", "### Instruction:"), bos=None,
    ),
    "Gemma 2": Family(
        "letters", GEMMA_2, GEMMA_TOKENS, "<end_of_turn>\n<start_of_turn>model\n", "<end_of_turn>\n<start_of_turn>user\n",
        ("<start_of_turn>", "<end_of_turn>"), bos="<bos>", eos="<eos>",
        added=(*("\n" * n for n in range(2, 32)), *("\u2581" * n for n in range(2, 32)), "<table>", "<h1>", "</b>", "<unused0>"),
    ),
    "Gemma 3": Family(
        "letters", GEMMA_3, (*GEMMA_TOKENS, "<start_of_image>", "<end_of_image>"),
        "<end_of_turn>\n<start_of_turn>model\n", "<end_of_turn>\n<start_of_turn>user\n",
        ("<start_of_turn>", "<end_of_turn>"), bos="<bos>", eos="<eos>",
        added=(*("\n" * n for n in range(2, 32)), *("\u2581" * n for n in range(2, 32)), "[multimodal]", "<table>", "<unused0>"),
    ),
    "Qwen 2.5": Family(
        "bytes", QWEN,
        ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|object_ref_start|>", "<|object_ref_end|>", "<|box_start|>",
         "<|box_end|>", "<|quad_start|>", "<|quad_end|>", "<|vision_start|>", "<|vision_end|>", "<|vision_pad|>",
         "<|image_pad|>", "<|video_pad|>"),
        "<|im_end|>\n<|im_start|>assistant\n", "<|im_end|>\n<|im_start|>user\n", ("<|im_start|>", "<|im_end|>"),
        bos=None, eos="<|im_end|>", added=("<tool_call>", "</tool_call>", "<|fim_prefix|>", "<|repo_name|>"), form="NFC",
    ),
    "Phi 3": Family(
        "space and letters", PHI_3,
        (*SENTENCE_PIECE, "<|endoftext|>", "<|assistant|>", "<|system|>", "<|end|>", "<|user|>",
         *(f"<|placeholder{i}|>" for i in range(1, 7))),
        "<|end|>\n<|assistant|>\n", "<|end|>\n<|user|>\n", ("<|user|>", "<|assistant|>", "<|end|>"), eos="<|endoftext|>",
    ),
    "Command R": Family(
        "bytes", COMMAND_R,
        ("<PAD>", "<UNK>", "<CLS>", "<SEP>", "<MASK_TOKEN>", "<BOS_TOKEN>", "<EOS_TOKEN>", "<EOP_TOKEN>",
         "<|START_OF_TURN_TOKEN|>", "<|END_OF_TURN_TOKEN|>", "<|YES_TOKEN|>", "<|NO_TOKEN|>", "<|USER_TOKEN|>",
         "<|CHATBOT_TOKEN|>", "<|SYSTEM_TOKEN|>"),
        "<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
        "<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|USER_TOKEN|>",
        ("<|START_OF_TURN_TOKEN|>", "<|END_OF_TURN_TOKEN|>", "<|USER_TOKEN|>", "<|CHATBOT_TOKEN|>"),
        bos="<BOS_TOKEN>", eos="<|END_OF_TURN_TOKEN|>", form="NFC",
    ),
}  # fmt: skip


def make_tokenizer(family: Family, harsh: bool = False) -> PreTrainedTokenizerFast:
    """A small tokenizer of the family.

    Args:
        family: whose tokens and chat template it has.
        harsh: whether it normalises all that a tokenizer may, compatibility forms, accents, case and characters of no width, and
            looks for its special tokens only after that.
    """
    letters = family.pieces != "bytes"
    listed = [*family.special, *(f"<0x{byte:02X}>" for byte in range(256)), "\u2581", *map(chr, range(33, 127))]
    if not letters:
        listed = [*family.special, *sorted(pre_tokenizers.ByteLevel.alphabet())]
    vocabulary = {piece: place for place, piece in enumerate(dict.fromkeys(listed))}
    unknown = "<unk>" if "<unk>" in family.special else None
    built = Tokenizer(models.BPE(vocabulary, [], unk_token=unknown, byte_fallback=letters, fuse_unk=letters))
    steps = [normalizers.NFC()] if family.form == "NFC" else []
    if harsh:
        steps = [
            normalizers.NFKD(),
            normalizers.StripAccents(),
            normalizers.Lowercase(),
            normalizers.Replace(Regex(r"\p{Cf}"), ""),
        ]
    if letters:
        prepended = [normalizers.Prepend("\u2581")] if "space" in family.pieces and not harsh else []
        steps = [*steps, *prepended, normalizers.Replace(" ", "\u2581")]
        built.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()])
    else:
        built.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        built.decoder = decoders.ByteLevel()
    if steps:
        built.normalizer = normalizers.Sequence(steps)
    built.add_special_tokens([AddedToken(token, special=True, normalized=harsh) for token in family.special])
    built.add_tokens([AddedToken(token, normalized=False) for token in family.added])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=built,
        bos_token=family.bos,
        eos_token=family.eos,
        unk_token=unknown,
        clean_up_tokenization_spaces=False,
    )
    tokenizer.chat_template = family.template
    return tokenizer
