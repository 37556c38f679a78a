"""Fixtures of the group-fairness tests."""

import pytest

from evenhand.errors import DataError
from evenhand.fairness.groups.tokens import NgramTokenizer


@pytest.fixture(scope="session")
def tokenizer() -> NgramTokenizer:
    """The N-gram pipeline; skipped without NLTK's data."""
    try:
        return NgramTokenizer()
    except DataError as error:
        pytest.skip(str(error))
