import numpy as np
import pytest
from audit_inputs import ATTRIBUTE, make_set

from evenhand.evaluation.audit.coverage import MOST_SENTENCES, TOO_FEW_UNITS, UnitCoverage, found_share, own_sentences
from evenhand.fairness.groups.evidence import SetEvidence
from evenhand.fairness.groups.masses import Unscored
from evenhand.fairness.labelled import LabelledSource, LabelledSummary
from evenhand.judges.measures import UnitEvidence


class TableEntailer:
    """Says what a table says: for each text of a summary which documents entail each unit, one window a document."""

    name = "table"
    signature = "table"
    reads_pairs = True

    def __init__(self, tables):
        self.tables = tables

    def evidence(self, items, *, between=True):
        return [self._evidence(item) for item in items]

    def _evidence(self, item):
        entailed = np.asarray(self.tables[item.summary], dtype=float)  # (units, documents)
        nli = np.stack([np.zeros_like(entailed), 1 - entailed, entailed], axis=-1)
        units = tuple(f"unit {place}" for place in range(len(entailed)))
        windows = tuple(document.text for document in item.documents)
        return UnitEvidence(units, windows, SetEvidence(nli, range(len(windows)), item.labels))

    def close(self):
        pass


def item(summary, labels, values=("left", "right")):
    documents = tuple(LabelledSource(f"document {place}", label) for place, label in enumerate(labels))
    return LabelledSummary(summary, values, documents, summary)


def family(tables, values=("left", "right"), mode="released"):
    return UnitCoverage(TableEntailer(tables), ATTRIBUTE, values, mode)


def numbers(figures):
    return {(str(q.measure), q.side): x for q, x in zip(figures.quantities, figures.all_sets().tolist(), strict=True)}


def test_worked_by_hand():
    # the last unit is entailed by nobody and left out; of the other two the left documents have 1 and 1/2, the right one 0:
    # overall 1/2, left 3/4, right 0, gaps 1/4 and 1/2; with one set Coverage Parity is the same
    mine = family({"t": [[1, 0, 0], [1, 1, 0], [0, 0, 0]]})
    found = mine.measure([item("t", ["left", "left", "right"])])
    figures = mine.figures(found)
    assert numbers(figures) == pytest.approx(
        {
            ("Equal Coverage (table)", None): (1 / 4 + 1 / 2) / 2,
            ("Coverage Parity (table)", None): (1 / 4 + 1 / 2) / 2,
            ("coverage (table)", "left"): 3 / 4,
            ("coverage difference (table)", "left"): 1 / 4,
            ("coverage (table)", "right"): 0,
            ("coverage difference (table)", "right"): -1 / 2,
        }
    )


# of a set's gaps each is .15 from what all its documents have
TABLES = {"first": [[0.9, 0.6]] * 3, "second": [[0.6, 0.9]] * 3, "even": [[0.7, 0.7]] * 3, "nothing": [[0, 0]] * 3}


@pytest.mark.parametrize(
    ("names", "equal", "difference"),
    [
        (["first"], 0.15, 0.15),
        # gaps cancel over the sets
        (["first", "second"], 0.15, 0),
        # .15 for the left in two of three sets
        (["first", "first", "even"], 0.1, 0.1),
        # sets without an answer enter nothing
        (["first", "nothing"], 0.15, 0.15),
    ],
)
def test_gaps_add_up_over_sets_or_cancel(names, equal, difference):
    mine = family(TABLES)
    found = numbers(mine.figures(mine.measure([item(name, ["left", "right"]) for name in names])))
    assert found["Equal Coverage (table)", None] == pytest.approx(equal)
    assert found["Coverage Parity (table)", None] == pytest.approx(difference)
    assert found["coverage difference (table)", "left"] == pytest.approx(difference)
    assert found["coverage difference (table)", "right"] == pytest.approx(-difference)


def test_value_without_documents_has_no_mean_and_divides_nothing():
    values = ("left", "middle", "right")
    mine = family(TABLES, values)
    found = numbers(mine.figures(mine.measure([item("first", ["left", "right"], values)])))
    assert np.isnan(found["coverage difference (table)", "middle"])
    assert found["Coverage Parity (table)", None] == pytest.approx(0.15)


@pytest.mark.parametrize("names", [[], ["nothing"]])
def test_nothing_scored_is_no_number(names):
    mine = family(TABLES)
    found = numbers(mine.figures(mine.measure([item(name, ["left", "right"]) for name in names])))
    assert np.isnan([*found.values()]).all()


def test_sums_over_sets_give_what_documents_have_one_by_one():
    generator = np.random.default_rng(0)
    values = ("a", "b", "c")
    labels = [[values[k] for k in generator.integers(0, 3, size=6)] for _ in range(40)]
    tables = {f"s{k}": generator.random((4, 6)) for k in range(40)}
    mine = family(tables, values)
    found = numbers(mine.figures(mine.measure([item(f"s{k}", label, values) for k, label in enumerate(labels)])))
    gaps, equal = {value: [] for value in values}, []
    for table, own in zip(tables.values(), labels, strict=True):
        gated = np.where(table > 0.5, table, 0)
        by_document = gated[gated.any(axis=1)].mean(axis=0)
        beyond = by_document - by_document.mean()
        of_value = {v: [x for x, label in zip(beyond, own, strict=True) if label == v] for v in values}
        for value, its in of_value.items():
            gaps[value] += its
        equal.append(np.mean([abs(np.mean(its)) for its in of_value.values() if its]))
    assert found["Equal Coverage (table)", None] == pytest.approx(np.mean(equal))
    means = {value: np.mean(its) for value, its in gaps.items()}
    assert found["Coverage Parity (table)", None] == pytest.approx(np.abs([*means.values()]).mean())
    for value, mean in means.items():
        assert found["coverage difference (table)", value] == pytest.approx(mean)


def expected(figures):
    found = figures.expect(figures.columns.sum(axis=0)).tolist()
    return {(str(q.measure), q.side): x for q, x in zip(figures.quantities, found, strict=True)}


def test_by_chance_labels_are_exchanged():
    # of two documents one is covered whole: whoever wrote it, the gaps are 1/2; over two sets they may cancel out
    mine = family({"t": [[1, 0]] * 3})
    one = mine.figures(mine.measure([item("t", ["left", "right"])]))
    assert expected(one)["Equal Coverage (table)", None] == pytest.approx(1 / 2)
    # of values nothing is expected: coverage names nobody
    assert np.isnan(expected(one)["coverage difference (table)", "left"])
    both = mine.figures(mine.measure([item("t", ["left", "right"])] * 40))
    assert numbers(both)["Coverage Parity (table)", None] == pytest.approx(1 / 2)
    # documents that are covered alike differ under no labels
    even = family({"t": [[1, 1]] * 3})
    figures = even.figures(even.measure([item("t", ["left", "right"])]))
    assert expected(figures)["Equal Coverage (table)", None] == 0


def test_what_is_expected_does_not_depend_on_whose_documents_are_covered():
    generator = np.random.default_rng(0)
    tables = {f"s{k}": generator.random((4, 6)) for k in range(40)}
    labels = ["left", "left", "left", "right", "right", "right"]
    lean = {name: np.sort(table, axis=1)[:, ::-1] for name, table in tables.items()}
    found = []
    for each in (tables, lean):
        mine = family(each)
        found.append(mine.figures(mine.measure([item(name, labels) for name in each])))
    parity = "Coverage Parity (table)", None
    assert numbers(found[1])[parity] > 4 * numbers(found[0])[parity]
    # forty sets of a systematic lean lie far above exchanged labels, those without one do not
    assert numbers(found[1])[parity] > 3 * expected(found[1])[parity]
    assert numbers(found[0])[parity] < 3 * expected(found[0])[parity]


def test_no_number_depends_on_the_order_of_lines():
    tables = {"t": [[1, 0, 0, 1], [1, 1, 0, 0], [0, 1, 0, 0]], "u": [[0, 0, 1, 1], [1, 0, 0, 0], [1, 1, 1, 0]]}
    mine = family(tables, ("left", "right", "middle"))
    # some sets have two values in the place of others
    declared = [("left", "right"), ("left", "middle")]
    found = mine.measure(
        [
            item("tu"[k % 2], [v for v in declared[k // 3 % 2] for _ in range(2)], declared[k // 3 % 2])
            for k in range(10)
        ]
    )
    shuffled = [found[k] for k in np.random.default_rng(1).permutation(len(found))]
    one, other = mine.figures(found), mine.figures(shuffled)
    expected = one.expect(one.columns.sum(axis=0))
    assert other.expect(other.columns.sum(axis=0)) == pytest.approx(expected, abs=1e-12, nan_ok=True)
    # sets that are alike are dealt apart, else gaps that cancel would add up
    assert len(np.unique(one.columns, axis=0)) == len(found)


def test_what_has_no_answer_says_why():
    mine = family({"few": [[1, 0], [0, 1]], "none": [[0, 0]] * 3, "one": [[1, 1]] * 3})
    items = [
        item("few", ["left", "right"]),
        item("none", ["left", "right"]),
        item("one", ["left"]),
        item(" ", ["left", "right"]),
    ]
    expected = [TOO_FEW_UNITS, "no unit covered", "single value", "empty summary"]
    assert mine.measure(items) == [Unscored(reason) for reason in expected]
    assert mine.figures(mine.measure(items)).left_out == tuple(expected)


def test_example_counts_documents_behind_each_unit():
    mine = family({"s": [[0.9, 0.8, 0], [0, 0, 0.9], [0.9, 0.2, 0]]})
    asked = item("s", ["left", "left", "right"])
    (found,) = mine.measure([asked])
    example = mine.example(asked, found)
    assert [line.takes for line in example.lines] == [
        {"left": 2.0, "right": 0.0},
        {"left": 0.0, "right": 1.0},
        {"left": 1.0, "right": 0.0},
    ]
    # the right document has one unit of three, the left ones .6 and .267 of them
    assert example.left_out == ("right",)
    assert example.documents == ("document 2",)


def test_set_of_one_value_is_not_asked_of_a_model():
    mine = family({})
    asked = make_set("s", ("left", "x"))
    assert mine.measure([item("never looked up", [asked.documents[0].attributes[ATTRIBUTE]])]) == [
        Unscored("single value")
    ]


class SharedTableEntailer(TableEntailer):
    """The same, which also could be asked about the documents' own sentences at no cost."""

    reads_pairs = False


@pytest.mark.parametrize("entailer", [TableEntailer, SharedTableEntailer])
def test_nobody_is_named_by_coverage(entailer):
    tables = {"t": [[1, 0, 0], [1, 1, 0], [0, 0, 1]]}
    mine = UnitCoverage(entailer(tables), ATTRIBUTE, ("left", "right"), "released")
    figures = mine.figures(mine.measure([item("t", ["left", "left", "right"])] * 9))
    assert figures.naming == []
    assert {q.kind.name for q, null in zip(figures.quantities, figures.nulls, strict=True) if null} == {
        "Equal Coverage",
        "Coverage Parity",
    }


def test_a_summary_of_which_no_unit_is_found_counts_as_one_that_says_nothing_of_the_documents():
    tables = {"t": [[1, 0, 0], [1, 0, 0], [0, 1, 0]], "lost": [[0, 0, 0]] * 3}
    mine = UnitCoverage(SharedTableEntailer(tables), ATTRIBUTE, ("left", "right"), "released")
    found = mine.measure([item(name, ["left", "left", "right"]) for name in ("t", "lost", "lost")])
    assert found_share(found) == pytest.approx(1 / 3)


def test_of_many_sentences_those_asked_are_of_all_values_also_where_values_take_turns():
    labels = ["left", "right"] * 200
    documents = tuple(LabelledSource(f"document {place}", label) for place, label in enumerate(labels))
    asked = own_sentences(LabelledSummary("s", ("left", "right"), documents, "s")).units
    assert len(asked) == MOST_SENTENCES
    values = [labels[int(text.split()[1])] for text in asked]
    assert 0.4 < values.count("left") / len(values) < 0.6
