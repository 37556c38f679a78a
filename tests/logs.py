"""What the project itself warned of: other libraries may have set the root logger's level in the same process."""

import logging

import pytest


def warned(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The project's own messages of level WARNING and above, in their order."""
    return [
        record.getMessage()
        for record in caplog.records
        if record.name.partition(".")[0] == "evenhand" and record.levelno >= logging.WARNING
    ]
