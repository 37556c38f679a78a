"""Switches of chat templates (`enable_thinking: false`): they become the first line of the template itself.

So whatever renders a chat with the tokenizer, generation, training, a saved model, renders it alike.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from ..errors import UnfitModelError
from ..text import did_you_mean

# name of a template's variable -> its value
Switches = Mapping[str, bool | int | float | str]
NO_SWITCHES: Switches = {}
# a template's words, of which its variables are some
NAME = re.compile(r"[A-Za-z_]\w*")


def set_switches(tokenizer: Any, switches: Switches, subject: str) -> None:
    """Write the switches into a tokenizer's chat template, of several into each; it stays as it is without switches.

    Args:
        tokenizer: is changed.
        switches: of a recipe.
        subject: the model, as an error names it.

    Raises:
        UnfitModelError: there is no chat template, or it does not have the name of a switch.
    """
    if not switches:
        return
    template = tokenizer.chat_template
    if template is None:
        raise UnfitModelError(
            f"{subject} has no chat template, so model.chat_template_kwargs has no effect; leave it out"
        )
    texts = dict(template) if isinstance(template, Mapping) else {"": template}
    names = set(NAME.findall("\n".join(texts.values())))
    for switch in switches:
        if switch not in names:
            raise UnfitModelError(
                f"{subject}: its chat template does not read {switch!r} of model.chat_template_kwargs"
                f"{did_you_mean(switch, names)}"
            )
    line = "".join(f"{{%- set {name} = {_literal(value)} -%}}" for name, value in sorted(switches.items()))
    texts = {name: text if text.startswith(line) else line + text for name, text in texts.items()}
    tokenizer.chat_template = texts if isinstance(template, Mapping) else texts[""]


def _literal(value: bool | float | str) -> str:
    return json.dumps(value, ensure_ascii=False)
