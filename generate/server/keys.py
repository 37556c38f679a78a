"""The keys of servers, from the environment alone; no text that leaves this process has one."""

import os
from collections.abc import Iterable

from ...config.server import ServerSection
from ...text.secrets import remember


def secrets_of(sections: Iterable[ServerSection | None]) -> tuple[str, ...]:
    """The keys that are sent to these servers."""
    names = {section.api_key_env for section in sections if section is not None and section.api_key_env}
    keys = tuple(sorted({key for name in names if (key := os.environ.get(name, "").strip())}))
    for key in keys:
        remember(key)
    return keys
