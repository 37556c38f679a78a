"""YAML of recipes: plain data, bounded, and every mistake one message with its line."""

import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenhand.config.plain_yaml import MOST_BITS, MOST_VALUES, NotYamlError, dump_yaml, parse_yaml
from evenhand.text.json_text import MOST_NESTED

# nine aliases of nine aliases ...: 9^9 values, 4 GB of text when they are written out
BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9)
)


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        ("a: 1\nb: !!int abc", 2, "'abc' is not of the type 'int'"),
        ("a: !!int", 1, "'' is not of the type 'int'"),
        ("a: !!float abc", 1, "'abc' is not of the type 'float'"),
        ("a: !!bool abc", 1, "'abc' is not of the type 'bool'"),
        ("a: !!timestamp abc", 1, "could not determine a constructor for the tag"),
        ("a: !!binary abc", 1, "could not determine a constructor for the tag"),
        ("a: !!python/name:os.system", 1, "could not determine a constructor for the tag"),
        ("a: !!map abc", 1, "expected a mapping node"),
        ("a:\n- " + "9" * 5000, 2, "is not of the type 'int'"),
        ("a:\n- 0x" + "f" * 5000, 2, "a whole number of more than 64 bits"),
        ("a: " + "[" * 1000, 1, "values are nested deeper than 100 levels"),
        ("".join(f"{' ' * n}a:\n" for n in range(1000)), 101, "values are nested deeper than 100 levels"),
        ("- " * 1000, 1, "values are nested deeper than 100 levels"),
        (BOMB, 5, "comes to more than 10,000 values, aliases written out"),
        ("a: &a {b: 1}\nc: {<<: [" + "*a, " * 6000 + "]}", 2, "comes to more than 10,000 values"),
        ("[" + "1, " * 10_001 + "]", 1, "comes to more than 10,000 values"),
        ("a: &a\n- *a", 2, "alias 'a' refers to a value that contains it"),
        ("a: *b", 1, "found undefined alias 'b'"),
        ("a: 1\n1: 2", 2, "key '1' is not a text; put it in quotes"),
        ("a: 1\nno: 2", 2, "key 'no' is not a text; put it in quotes"),
        ("a: 1\na: 2", 2, "key 'a' is written twice"),
        ("{a: {b: 1, b: 2}}", 1, "key 'b' is written twice"),
        (r'a: "\ud83d"', 1, "half a character"),
        (r'a: "x\0"', 1, "holds the character"),
        (r'a: "\U00110000"', 1, "an escape that is not a character"),
        ("x" * 1_000_001, 1, "has 1,000,001 characters"),
    ],
)  # fmt: skip
def test_what_is_not_plain_data_is_refused_with_its_line(text, line, part):
    with pytest.raises(NotYamlError) as caught:
        parse_yaml(text)
    assert part in str(caught.value)
    assert caught.value.line == line
    assert len(str(caught.value)) < 300


def test_a_date_is_a_text_as_in_json():
    assert parse_yaml("[2026-01-01, 2020-13-45, 2001-12-14t21:59:43.10-05:00]") == [
        "2026-01-01",
        "2020-13-45",
        "2001-12-14t21:59:43.10-05:00",
    ]


def test_what_stands_at_a_bound_is_read():
    assert parse_yaml(f"{2**MOST_BITS - 1}") == 2**MOST_BITS - 1
    assert len(parse_yaml("[" + "1, " * (MOST_VALUES - 1) + "]")) == MOST_VALUES - 1
    depth, value = 0, parse_yaml("[" * MOST_NESTED + "1" + "]" * MOST_NESTED)
    while isinstance(value, list):
        depth, value = depth + 1, value[0]
    assert depth == MOST_NESTED


def test_aliases_and_merge_keys_work():
    text = "a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc: {deep: {<<: [{z: 4}, *a]}}\nd: *a"
    assert parse_yaml(text) == {
        "a": {"x": 1, "y": 2}, "b": {"x": 1, "y": 3}, "c": {"deep": {"x": 1, "y": 2, "z": 4}}, "d": {"x": 1, "y": 2},
    }  # fmt: skip


TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**MOST_BITS) + 1, 2**MOST_BITS - 1) | st.floats(allow_nan=False) | TEXTS,
    lambda each: st.lists(each) | st.dictionaries(TEXTS, each),
    max_leaves=8,
)


@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow])
@given(PLAIN)
def test_what_is_written_is_read_back_as_it_was(value):
    assert parse_yaml(dump_yaml(value)) == value


def test_a_bomb_of_aliases_costs_little_and_says_little(tmp_path):
    # as a key that no recipe has, as a value of a wrong type, and below a judge
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text(BOMB + "name: *a8\njudges: {overlap: {kind: *a8}}\n")
    code = (
        "import resource, sys, time; from pathlib import Path; from evenhand.config.recipe_file import load_recipe\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; start = time.process_time()\n"
        "try: load_recipe(Path(sys.argv[1]))\n"
        "except ValueError as error: print(len(str(error)))\n"
        "print(time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(recipe)], capture_output=True, text=True, check=True)
    length, seconds, kilobytes = map(float, done.stdout.split())
    assert length < 2000
    assert seconds < 1
    assert kilobytes < 50_000
