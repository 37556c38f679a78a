from collections import Counter

from evenhand.evaluation.bias.evidence import PARTNER, gather
from evenhand.evaluation.bias.inputs import make_inputs
from evenhand.evaluation.bias.persons import FoundPersons
from evenhand.evaluation.bias.summarise import Summary


def gathered(recipe, lacking):
    """Evidence when the inputs of `lacking` have no summary."""
    inputs = make_inputs(recipe)
    summaries = [
        Summary(input_id=each.id, text=None, reason="refused", raw="")
        if each.id in lacking
        else Summary(input_id=each.id, text="Snow fell.", reason=None, raw="Snow fell.")
        for each in inputs.inputs
    ]
    persons = {each.id: FoundPersons(input_id=each.id, in_summary=(), in_input=()) for each in inputs.inputs}
    return gather(inputs, "gender", summaries, persons)


def test_assignment_with_a_missing_summary_is_left_out_whole_and_counted(make_recipe):
    recipe = make_recipe()
    first = next(each for each in make_inputs(recipe).inputs if each.design == "balanced")
    found = gathered(recipe, {first.id})
    # 12 documents, 2 assignments, 2 inputs each; one pair is gone
    assert len(found.balanced) == 46
    assert (first.original_id, 0) not in {(e.input.original_id, e.input.assignment_id) for e in found.balanced}
    assert {(row.what, row.reason): row.count for row in found.left_out} == {
        ("summary of a balanced input", "refused"): 1,
        ("summary of a balanced input", PARTNER): 1,
    }
    # what is left is in balance again
    categories = Counter(p.category for e in found.balanced for p in e.instance.source_entities)
    assert categories["male"] == categories["female"]


def test_missing_summaries_of_uniform_inputs_are_counted_by_group(make_recipe):
    recipe = make_recipe()
    women = [each.id for each in make_inputs(recipe).inputs if each.group == "female"][:3]
    found = gathered(recipe, set(women))
    assert len(found.uniform) == 45
    (row,) = found.left_out
    assert (row.what, row.reason, row.count) == ("summary of a uniform input, female", "refused", 3)
