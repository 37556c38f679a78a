import pytest
from audit_inputs import make_input, two_sided

from evenhand.errors import DataError
from evenhand.evaluation.audit.families import open_tools
from evenhand.evaluation.audit.plan import AuditPlan
from evenhand.evaluation.audit.run import ask
from evenhand.plugins.tone.section import ToneSection


@pytest.mark.parametrize("tone", ["vader", None, ToneSection(), ToneSection(kind="vader")])
def test_the_usual_tone_written_out_needs_no_measure_of_it(tone):
    assert ask({"measures": "word-lists", "tone": tone}).measures == ("word-lists",)


def test_another_tone_without_its_measure_is_refused():
    with pytest.raises(DataError, match=r"tone.* has no effect without measure 'tone'"):
        ask({"measures": "word-lists", "tone": "encoder"})


def test_another_tone_alone_asks_for_nothing_and_is_refused():
    with pytest.raises(DataError, match=r"--tone has no effect without measure 'tone'; add it to --measures"):
        ask({"tone": "encoder"})
    assert "tone" not in ask({"tone": "vader"}).measures


def test_a_tone_that_is_not_known_is_refused_with_what_there_is():
    with pytest.raises(
        DataError,
        match=r"--tone vador: is not known; did you mean 'vader'\? Take vader, lexicon, encoder, FILE\.py:FUNCTION, or",
    ):
        ask({"measures": "tone", "tone": "vador"})


def test_an_audit_of_tone_alone_does_not_say_that_shares_are_by_words(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_NLTK", str(tmp_path / "nowhere"))
    tools = open_tools(make_input(two_sided(1), mine=["Apple."]), AuditPlan(measures=("tone",)), None, None)
    assert not tools.notes
    assert tools.words is not None
