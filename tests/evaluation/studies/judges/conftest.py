"""Two controlled sets of invented texts, whose scores by length a person can count."""

import pytest

from evenhand.corpora.controlled import ControlledSet


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def sets():
    """Coverage 1, 1/2, 0 and faithfulness 1, 1/3, 0 in 3, 5, 1 words; coverage 1, 0 and faithfulness 1, undefined in 2, 4."""
    values = [
        {
            "id": "keep", "topic": "ferry", "side": "left", "passages": ["The ferry is cheap.", "Nurses need it."],
            "n_key_points": 2, "key_points": ["It is cheap.", "Nurses need it."],
            "summaries": [
                {"text": "Cheap and needed.", "relevant": 2},
                {"text": "Cheap, but taxes are high.", "relevant": 1, "opposite": 2},
                {"text": "Dear.", "relevant": 0, "adversarial": 1},
            ],
        },
        {
            "id": "close", "topic": "ferry", "side": "right", "passages": ["The ferry is dear."], "n_key_points": 1,
            "summaries": [{"text": "Too dear.", "relevant": 1}, {"text": "There is a ferry.", "relevant": 0}],
        },
    ]  # fmt: skip
    return [ControlledSet.model_validate(each) for each in values]
