"""Audits by several attributes: one page, one correction of all their tests."""

import random
from itertools import product

import pytest
from audit_inputs import make_set, shares_of, two_sided, write_sets, write_summaries

import evenhand
from evenhand.errors import DataError
from evenhand.evaluation.audit.conclusions import conclude, conclude_together
from evenhand.evaluation.audit.contents import Audit
from evenhand.evaluation.audit.figures import Measured
from evenhand.evaluation.audit.input import AuditedSystem, AuditFiles, input_of, read_input
from evenhand.evaluation.audit.named import page_numbers
from evenhand.evaluation.audit.page import page
from evenhand.evaluation.audit.plan import AuditPlan
from evenhand.evaluation.audit.run import ask, run_audit
from evenhand.evaluation.audit.shares import ValueShares
from evenhand.evaluation.pages.cells import Table
from evenhand.resampling import Bootstrap

PLAN = AuditPlan(bootstrap=Bootstrap(resamples=100), n_examples=1)
LEFT = "Apple berry. Cherry grape."


def with_origin(documents):
    """The set with a second attribute: the first document is from here, the others are from there."""
    return documents.model_copy(
        update={
            "documents": tuple(
                document.model_copy(update={"attributes": {**document.attributes, "origin": "there" if k else "here"}})
                for k, document in enumerate(documents.documents)
            )
        }
    )


@pytest.fixture
def sets():
    return [with_origin(documents) for documents in two_sided(40)]


@pytest.fixture
def files(tmp_path, sets):
    documents = write_sets(tmp_path / "docs.jsonl", sets)
    out = write_summaries(tmp_path / "out.jsonl", {each.id: LEFT for each in sets})
    return documents, (("out", out),)


def audited(files, *attributes, out=None, target="ratio", **keys):
    documents, summaries = files
    wanted = AuditFiles(documents, attributes[0], attributes[1:], summaries=summaries, **keys)
    options = {"measures": "value-shares,order", "matcher": "words", "resamples": 100, "target": target}
    return run_audit(ask(options), lambda: read_input(wanted), out)


def gaps(audit):
    return {number.side: number.gap for number in audit.by_value if number.kind.votes}


def test_each_attribute_has_its_numbers_and_what_has_groups_of_its_own_is_measured_once(files, tmp_path):
    both = audited(files, "stance", "origin", out=tmp_path / "audit")
    (origin,) = both.others
    assert (both.attribute, origin.attribute) == ("stance", "origin")
    assert set(gaps(both)) == {"left", "right"}
    assert set(gaps(origin)) == {"here", "there"}
    assert {number.attribute for number in origin.numbers} == {"origin"}
    assert [note.family for note in both.measures] == ["value-shares", "order"]
    assert [note.family for note in origin.measures] == ["value-shares"]
    # values are the same as in an audit of one attribute, and the file can be read again
    alone = audited(files, "origin")
    assert {side: gap.value for side, gap in gaps(alone).items()} == {
        side: gap.value for side, gap in gaps(origin).items()
    }
    read = Audit.model_validate_json((tmp_path / "audit" / "audit.json").read_text())
    assert read.model_dump_json() == both.model_dump_json()
    assert not alone.others
    assert not any(number.attribute for number in alone.numbers)


def chance_corpus(seed, attributes):
    """Sets whose documents have labels of chance, and summaries of two of their documents."""
    draw = random.Random(seed)  # noqa: S311 (a simulation)
    words = ["".join(letters) for letters in product("bdfgklmnprst", "aeiou", "bdgklmn")]
    made, texts = [], {}
    for k in range(10):
        documents = [("x", " ".join(draw.sample(words, 6))) for _ in range(6)]
        one = make_set(f"set-{k}", *documents)
        members = tuple(
            document.model_copy(update={"attributes": {name: draw.choice("ab") for name in attributes}})
            for document in one.documents
        )
        made.append(one.model_copy(update={"documents": members}))
        texts[one.id] = ". ".join(text for _, text in draw.sample(documents, 2))
    wanted = AuditFiles("docs", attributes[0], tuple(attributes[1:]), summaries=(("out", "out"),))
    return input_of(made, [AuditedSystem("out", "out", "0", texts)], wanted, "0", [])


def measured_by_words(corpus):
    usual = shares_of(corpus.values)
    family = ValueShares(usual.matcher, usual.words, corpus.attribute, corpus.values, "drop_zero", 0.8, "ratio")
    answers = family.measure(corpus.items(corpus.systems[0]))
    return [Measured(family, "out", tuple(answers), family.figures(answers))]


def is_significant(*conclusions):
    return any((gap.adjusted or 1.0) <= 0.05 for each in conclusions for gap in each.gaps.values())


def test_where_labels_are_of_chance_one_page_by_many_attributes_names_somebody_seldom():
    attributes = [f"attribute {k}" for k in range(6)]
    together, alone = 0, 0
    for seed in range(25):
        first = chance_corpus(seed, attributes)
        measured = [measured_by_words(part) for part in (first, *first.others)]
        together += is_significant(*conclude_together(measured, ["out"], PLAN))
        alone += is_significant(*(conclude(of_attribute, ["out"], PLAN) for of_attribute in measured))
    assert together <= 2
    # 1 - 0.95 ** 6 of the pages
    assert alone >= 5


def test_the_first_screen_says_for_which_attribute_and_whom(files):
    both = page(audited(files, "origin", "stance"))
    assert both.about.endswith("by origin and stance")
    assert both.overview.headline.startswith("By ")
    rows = [row.name for row in both.overview.picture.rows]
    assert rows == ["origin: here", "origin: there", "stance: left", "stance: right"]
    other = "stance" if both.overview.headline.startswith("By origin") else "origin"
    assert f"By {other}: " in both.overview.text
    slugs = [heading.slug for heading in both.sections]
    assert len(set(slugs)) == len(slugs)
    tables = [block.name for block in both.body if isinstance(block, Table)]
    assert all("by origin" in name or "by stance" in name for name in tables)


def test_attributes_whose_picture_has_other_columns_are_not_drawn_into_it(files):
    audit = audited(files, "stance", "origin")
    (origin,) = audit.others
    # of origin alone no range is known, so that its band is another
    blind = [n.model_copy(update={"gap": n.gap.model_copy(update={"blind": None})}) for n in origin.numbers]
    other = origin.model_copy(update={"numbers": tuple(blind)})
    picture = page(audit.model_copy(update={"others": (other,)})).overview.picture
    assert len({row.name.partition(":")[0] for row in picture.rows} & {"stance", "origin", "left", "here"}) == 1


def test_limits_say_of_which_attribute_where_that_is_not_plain(files):
    numbers = page_numbers(audited(files, "stance", "origin"))
    assert numbers.subject.attribute == "stance and origin"
    of_rates = {number.measures for number in numbers.numbers if "bur" in number.functions}
    assert of_rates == {("stance",), ("origin",)}
    (here,) = [n for n in numbers.numbers if n.side == "here" and "share gap" in n.functions]
    assert {"origin", "here"} <= set(here.labels)


@pytest.mark.parametrize(
    ("attributes", "keys", "said"),
    [
        (("stance", "stance"), {}, "--attribute stance is given twice"),
        (("stance", "orign"), {}, "no document has the attribute 'orign'; did you mean 'origin'"),
        (("stance", "origin"), {"values": ("left", "right")}, "--values is of one attribute"),
        (
            ("stance", "origin"),
            {"labels": ("heer=local",)},
            "'heer' is no value of stance or origin; did you mean 'here'",
        ),
    ],
)
def test_mistakes_are_named(files, attributes, keys, said):
    with pytest.raises(DataError, match=said):
        audited(files, *attributes, **keys)


def test_labels_and_groups_go_to_their_attribute(files):
    labels, group = ("here=local", "left=progressive"), ('origin: here=here; "far off"=*',)
    both = audited(files, "stance", "origin", labels=labels, group=group)
    assert (both.labels, both.others[0].labels) == ({"left": "progressive"}, {"here": "local"})
    assert (both.groups, both.others[0].groups) == ("", "here=here; far off=*")


def test_weights_of_a_target_are_of_one_attribute(files):
    with pytest.raises(DataError, match="--target: weights are of the values of one attribute"):
        audited(files, "stance", "origin", target="left=1,right=1")


def test_in_python_rows_say_which_attribute(files):
    documents, ((_, out),) = files
    keys = {"measures": "value-shares", "matcher": "words", "resamples": 100}
    numbers = evenhand.audit(documents, {"out": out}, ["stance", "origin"], **keys)
    assert {row["attribute"] for row in numbers.rows()} == {"stance", "origin"}
    assert "attribute" not in evenhand.audit(documents, {"out": out}, "stance", **keys).rows()[0]
