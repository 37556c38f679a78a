"""What a command leaves in the environment of this process is of no other test."""

import os
from collections.abc import Iterator

import pytest

from evenhand.extras import VERBOSITY


@pytest.fixture(autouse=True)
def own_verbosity() -> Iterator[None]:
    """A command's -v and -q end with its test."""
    before = os.environ.get(VERBOSITY)
    yield
    os.environ.pop(VERBOSITY, None)
    if before is not None:
        os.environ[VERBOSITY] = before
