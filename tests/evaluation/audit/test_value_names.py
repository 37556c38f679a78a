"""Numbers as values have their attribute before them in whatever people read, and stay as they are in files and limits."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from audit_inputs import ATTRIBUTE, make_set

from evenhand.errors import DataError
from evenhand.evaluation.audit.contents import Audit
from evenhand.evaluation.audit.input import AuditedSystem, AuditFiles, input_of
from evenhand.evaluation.audit.page import page
from evenhand.evaluation.audit.run import ask, run_audit
from evenhand.evaluation.pages import html, markdown
from evenhand.records import DocumentSet

WORDS = (
    "kettle bread river stone paper glass light house green wagon pencil market winter summer butter cheese orange lemon apple "
    "grape copper silver marble velvet"
).split()


def audited(out=None, labels=(), values=("1", "5"), systems=("one", "other"), attribute=ATTRIBUTE):
    """Of documents that are written alike; the first system's summaries are of the second value alone, the other's of both."""
    draw = np.random.default_rng(0)
    lines = [[f"{' '.join(draw.choice(WORDS, 7, replace=False))}.".capitalize() for _ in range(4)] for _ in range(16)]
    sets = [make_set(f"set-{k}", *zip(values * 2, its, strict=True)) for k, its in enumerate(lines)]
    sets = [DocumentSet.model_validate_json(each.model_dump_json().replace(ATTRIBUTE, attribute)) for each in sets]
    chosen = {"one": (1, 3), "other": (0, 1)}
    texts = {name: [" ".join(its[place] for place in places) for its in lines] for name, places in chosen.items()}
    given = [
        AuditedSystem(name, name, "", {each.id: text for each, text in zip(sets, texts[name], strict=True)})
        for name in systems
    ]

    wanted = AuditFiles(
        Path("documents"), attribute, summaries=tuple((name, Path(name)) for name in systems), labels=tuple(labels)
    )
    asked = ask({"measures": "value-shares,coverage,order", "matcher": "words", "entailer": "words"})
    return run_audit(asked, lambda: input_of(sets, given, wanted, "0", []), out)


@pytest.mark.needs("plugins/order")
def test_numbers_are_called_by_their_attribute_and_labels_by_their_names(tmp_path):
    found = audited(tmp_path / "audit", labels=["5=five stars"])
    text = markdown.render(page(found))
    for name in ("stance 1", "five stars"):
        assert name in text and name in html.render(page(found))
    tables = {path.name: path.read_text() for path in (tmp_path / "audit" / "tables").iterdir()}
    assert any("stance 1" in each for each in tables.values())
    # wherever a row, a sentence or an example is of a value, it has its name
    lines = [line for each in (text, *tables.values()) for line in each.splitlines()]
    assert not [line for line in lines if line.startswith(("| 1 |", "| 5 |", "1 is ", "5 is ", "1,", "5,"))]
    one = audited(systems=("one",))
    assert "stance 1" in one.title or "stance 5" in one.title


@pytest.mark.needs("plugins/order")
@pytest.mark.parametrize("attribute", ["stars", "has_children"])
def test_sentences_call_an_attribute_that_is_no_noun_by_its_values(attribute):
    text = markdown.render(page(audited(attribute=attribute)))
    shown = text.replace("&quot;", '"')
    assert f'each value of "{attribute}" has' in shown and f'room they give to each value of "{attribute}"' in shown
    assert not re.search(rf"\b(an?|each|no|one|this) {attribute}\b", shown)


@pytest.mark.needs("plugins/order")
def test_files_keep_the_values_themselves(tmp_path):
    audited(tmp_path / "audit", labels=["5=five stars"])
    kept = Audit.model_validate(json.loads((tmp_path / "audit" / "audit.json").read_text()))
    assert {each.value for each in kept.values} == {"1", "5"}
    assert {each.side for each in kept.by_value if each.family == "value-shares"} == {"1", "5"}
    assert kept.labels == {"5": "five stars"}
    named = [each for each in kept.represented if each.family == "value-shares"]
    assert {value for each in named for value in (*each.under, *each.over)} <= {"1", "5"}


@pytest.mark.needs("plugins/order")
def test_names_in_letters_are_left_alone():
    plain = audited(values=("left", "right"))
    assert "stance left" not in markdown.render(page(plain)) and "stance right" not in markdown.render(page(plain))
    # places of documents are no values of the attribute
    by_number = markdown.render(page(audited()))
    assert "stance first" not in by_number and "stance last" not in by_number


@pytest.mark.needs("plugins/order", "plugins/bias")
def test_labels_of_no_value_are_refused():
    with pytest.raises(DataError, match=r"--label '7=seven': '7' is no value of stance"):
        audited(labels=["7=seven"])
