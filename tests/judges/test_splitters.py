"""What a judge's `splitter` says."""

import re

import pytest
from conformance import of_plugins

from evenhand.config.judges import AlignmentJudge
from evenhand.errors import DataError
from evenhand.judges import open_judge
from evenhand.judges.splitters import open_splitter, sentence_signature

SPLITTING = [
    AlignmentJudge(kind="alignment", model="org/model", splitter="nltk"),
    *(
        type(options).model_validate(options.model_dump(mode="json", exclude_unset=True) | {"splitter": "nltk"})
        for options in of_plugins("JUDGES").values()
        if "splitter" in type(options).model_fields
    ),
]


@pytest.mark.needs("nltk")
def test_splitters_differ_where_punkt_is_known_to():
    # Punkt parts at every question mark, and at "." before a mark
    text = '"Why?" she asked. Nobody knew. . .'
    assert open_splitter("nltk").split(text) == ['"Why?"', "she asked.", "Nobody knew.", ".", "."]
    assert open_splitter("sentencex").split(text) == ['"Why?" she asked.', "Nobody knew. . ."]


@pytest.mark.needs("nltk")
@pytest.mark.parametrize("options", SPLITTING, ids=lambda options: options.kind)
def test_signature_of_a_judge_names_its_splitter(options):
    named = open_judge("judge", options).signature
    plain = open_judge("judge", options.model_copy(update={"splitter": "sentencex"})).signature
    assert re.search(r"\|sentences:nltk-[\d.]+,punkt-[0-9a-f]{6}[,|]", named)
    assert f"|sentences:{sentence_signature()}|" in plain


@pytest.mark.parametrize("options", SPLITTING, ids=lambda options: options.kind)
def test_judge_without_nltks_data_is_refused_when_it_is_opened(monkeypatch, tmp_path, options):
    pytest.importorskip("nltk")
    monkeypatch.setenv("EVENHAND_NLTK", str(tmp_path / "absent"))
    with pytest.raises(DataError, match=r"splitter 'nltk' looks for NLTK's data in '.*absent' \(EVENHAND_NLTK\)"):
        open_judge("judge", options)
