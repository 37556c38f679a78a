"""Fixtures of the group-fairness tests."""

import pytest

from evenhand.fairness.groups.tokens import NgramTokenizer


@pytest.fixture(scope="session")
def tokenizer() -> NgramTokenizer:
    """The N-gram pipeline, of tests that need NLTK's data."""
    return NgramTokenizer()
