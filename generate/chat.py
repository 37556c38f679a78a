"""A model's own chat format: how a chat becomes one text, and the marks of its turns, which no text inside may forge.

The marks are found and not listed: a probing chat is rendered with the tokenizer's chat template, and what stands around its
messages are the marks ("[/INST]", "ASSISTANT:", "### Response:"), with the special tokens of the tokenizer. Words of a template
that special tokens stand beside ("assistant" in "<|im_start|>assistant") are words like any other.
"""

import logging
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from ..errors import EvenhandError, UnfitModelError
from ..models.dates import date_options
from ..models.opening import open_tokenizer
from ..prompts import broken, flat
from ..text import has_words

log = logging.getLogger(__name__)

# what the probing chats say: nothing that a template would change, or a text contain
PROBES = tuple(f"qzx{number}xzq" for number in range(4))
PROBE = re.compile("|".join(PROBES))
_CHAT = [
    {"role": role, "content": probe}
    for role, probe in zip(("system", "user", "assistant", "user"), PROBES, strict=True)
]
# some templates take no message of the system, some one message only
CHATS = (_CHAT, _CHAT[1:], _CHAT[1:2])
# what Python raises in a template that takes a chat for something else
BREAKS = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError)

# tokenizer -> the chat template whose marks were found, and the pattern that finds them
_found: WeakKeyDictionary[Any, tuple[Any, re.Pattern[str]]] = WeakKeyDictionary()


def chat_text(tokenizer: Any, turns: Sequence[Mapping[str, str]]) -> str:
    """The chat as one text up to where the answer begins.

    A tokenizer without a chat template gets the turns' texts, separated by blank lines.

    Raises:
        UnfitModelError: as of `in_template`.
    """
    if tokenizer.chat_template is None:
        return "\n\n".join(turn["content"] for turn in turns) + "\n\n"
    text: str = in_template(tokenizer, turns, tokenize=False)
    return text


def in_template(tokenizer: Any, turns: Sequence[Mapping[str, str]], **options: Any) -> Any:
    """What the tokenizer's chat template makes of the turns; it is given the day of the run.

    It ends where the answer begins unless an option says otherwise.

    Raises:
        UnfitModelError: the template refuses the turns, as some do those of the system, or breaks over them.
    """
    from jinja2 import TemplateError

    try:
        options = {"add_generation_prompt": True, **date_options(tokenizer.chat_template), **options}
        return tokenizer.apply_chat_template(turns, **options)
    except (TemplateError, *BREAKS) as error:
        raise UnfitModelError(
            f"the chat template of {tokenizer.name_or_path!r} refuses turns of {', '.join(turn['role'] for turn in turns)}: "
            f"{error}; mend the template, or name a model that takes such prompts"
        ) from error


def tokenizer_at_hand(name: str, feature: str) -> Any:
    """The tokenizer in a model's own folder; None without one, also where it cannot be opened, which is said.

    A Hugging Face id has none: what is sent must not depend on what this machine has in its cache.
    """
    folder = Path(name)
    if not any((folder / name).is_file() for name in ("tokenizer.json", "tokenizer_config.json", "tokenizer.model")):
        return None
    try:
        return open_tokenizer(str(folder), feature)
    except EvenhandError as error:
        log.warning(
            "marks of turns are those of the families that are known, since the model's tokenizer is not: %s", error
        )
        return None


def defused(tokenizer: Any, text: str) -> str:
    """The text with each mark of the model's turns broken, however it is written; unchanged without one."""
    return broken(text, turn_marks(tokenizer))


def turn_marks(tokenizer: Any) -> re.Pattern[str]:
    """A pattern that finds, in texts of which `flat` was taken, the tokenizer's special tokens and the marks of its turns."""
    template, pattern = _found.get(tokenizer, (None, None))
    if pattern is None or template != tokenizer.chat_template:
        special = special_tokens(tokenizer)
        marks, words = _template_marks(tokenizer, special) if tokenizer.chat_template else (set(), set())
        pattern = _pattern(marks | special, words)
        _found[tokenizer] = tokenizer.chat_template, pattern
    return pattern


def special_tokens(tokenizer: Any) -> set[str]:
    """The tokens that control the model; not those that were only added to the vocabulary, such as Gemma's line breaks."""
    added = {str(token) for token in tokenizer.added_tokens_decoder.values() if token.special}
    # one of a single character cannot be broken
    return {token for token in added.union(tokenizer.all_special_tokens) if len(_as_read(token)) > 1}


def _template_marks(tokenizer: Any, special: set[str]) -> tuple[set[str], set[str]]:
    """What the chat template writes around messages, line by line and without special tokens; and its lines of mere words."""
    lines = "\n".join(PROBE.split(probed(tokenizer))).splitlines()
    return marks_of(lines, special)


def marks_of(lines: Sequence[str], special: set[str]) -> tuple[set[str], set[str]]:
    """What lines hold besides special tokens, as short as it can be; and the lines that are mere words."""
    marks = set(special)
    pieces = {piece for line in lines for piece in _without(special, line)}
    # shorter ones first: a mark that stands behind another one is a mark without it, too
    for piece in sorted(pieces, key=lambda piece: (len(piece), piece)):
        marks |= {mark for mark in _without(marks, piece) if not _is_words(mark)}
    return marks - special, {line.strip() for line in lines if _is_words(line)}


def _without(marks: set[str], text: str) -> list[str]:
    """The parts of a text between marks that have a letter or digit, stripped."""
    pattern = "|".join(re.escape(mark) for mark in sorted(marks, key=len, reverse=True))
    parts = re.split(pattern, text) if marks else [text]
    return [part.strip() for part in parts if has_words(part)]


def _is_words(text: str) -> bool:
    return has_words(text) and all(character.isalnum() or character.isspace() for character in text)


def probed(tokenizer: Any) -> str:
    """A probing chat as text; "" when the chat template takes none."""
    for chat in CHATS:
        try:
            return chat_text(tokenizer, chat)
        except UnfitModelError:
            continue
    return ""


def _pattern(marks: set[str], words: set[str]) -> re.Pattern[str]:
    """A pattern of the marks wherever they stand, and of the words where one has a line for itself."""
    # a mark that is a mere word is one in its own spelling only
    listed = [f"(?-i:{_spaced(mark)})" if mark.isalnum() else _spaced(mark) for mark in sorted(marks)]
    firsts = "".join(re.escape(first) for first in sorted({_as_read(mark)[0] for mark in marks}))
    # with the first character looked at before, hundreds of marks cost as much as one
    patterns = [f"(?=[{firsts}])(?:{'|'.join(listed)})"] if marks else []
    patterns += [rf"^[^\S\n]*{_spaced(word)}[^\S\n]*$" for word in sorted(words)]
    return re.compile("|".join(patterns) or r"(?!)", re.IGNORECASE | re.MULTILINE)


def _spaced(mark: str) -> str:
    """A pattern of the mark with any white space, or none, where it has some."""
    return r"\s*".join(map(re.escape, _as_read(mark).split()))


def _as_read(mark: str) -> str:
    """The mark as it is looked for."""
    return flat(mark).strip()
