"""The house itself: which folder may import which, in how many forms an idea stands, that all is packed, and a quiet root."""

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest
import sources
from sources import ROOT

# rooms from the bottom up, as docs/architecture.md tells them: an import points to a room above its own line in the table
LAYERS = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8"), re.MULTILINE)

# records with bounds of their own: a number, its interval while it is drawn and while it is concluded, a judge's range, an axis
INTERVALS = {
    "number.py:Number",
    "resampling.py:Interval",
    "evaluation/significance.py:Concluded",
    "judges/judge.py:Judge",
    "evaluation/pages/charts.py:Scale",
}
# places that say by themselves that sets are too few, besides `resampling.too_few`
MOST_FEW = 8
# where tests are corrected for one another: all that a page tests, and the limits of a gate
CORRECTIONS = {"evaluation/significance.py", "evaluation/gate/decide.py"}
# public definitions that no command runs, and why they are there
UNCALLED = {
    "log_odds_z": "the words of two groups of texts, after Steen and Markert; a vector of theirs holds it",
    "common_tokens": "what the released code of Zhang et al. can leave out; a vector of theirs holds it",
    "interaction_edges": "what the graph is drawn with, after Shandilya et al.; a vector of theirs holds it",
    "compute_score": "called by verl, whose configuration names it",
    "own_measure": "called by packages that bring a measure of their own",
    "evenhand_reward": "called by the trainer of TRL that is given it",
    **dict.fromkeys(("as_judge", "as_scorer"), "called by whoever has an evaluation or a scorer of inspect_ai"),
    "as_reward": "called by whoever trains with TRL",
    "OpenJudge": "what these open",
}
# fields of dataclasses that no code reads by their names, and why they are there
UNREAD = {
    "needs_gib": "of training.json, which is written of the whole record",
    "usable_gib": "of training.json, which is written of the whole record",
}
# names that point instead of saying what they hold, and the share of all bindings that may have one
VAGUE = frozenset(
    "found given mine theirs its asked told said each kept held heard due aim left got made put taken there here this that these "
    "those them they one another other others both what which who whom whose beside apart late whole half rest much many few "
    "more most less least own same such dear".split()
)
MOST_VAGUE = 0.01


def modules():
    """Path from the root -> the tree of each module of the package."""
    for path in sources.package():
        yield path.relative_to(ROOT), sources.tree_of(path)


def dotted(inside):
    parts = inside.with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


@pytest.fixture(scope="module")
def trees():
    return dict(modules())


@pytest.fixture(scope="module")
def package(trees):
    """Path -> tree, of what users run: no benchmarks."""
    return {inside.as_posix(): tree for inside, tree in trees.items() if inside.parts[0] != "benchmarks"}


@pytest.fixture(scope="module")
def arrows(trees):
    """Module -> the modules of the package that it imports, anywhere in its text."""
    known = {dotted(inside) for inside in trees}
    found = {}
    for inside, tree in trees.items():
        me, targets = dotted(inside), set()
        home = me if inside.name == "__init__.py" else me[:-1]
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.level:
                base = home[: len(home) - node.level + 1] + tuple((node.module or "").split(".") if node.module else ())
                for alias in node.names:
                    inner = (*base, alias.name)
                    targets.add(inner if inner in known else base)
        found[me] = targets
    missing = {(".".join(me), ".".join(each)) for me, targets in found.items() for each in targets if each not in known}
    assert not missing
    return found


def test_imports_keep_the_contracts():
    # in a process of its own: it sets up logging, and silences whoever is there
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_docs_tell_the_rooms_of_the_contracts():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert settings["tool"]["importlinter"]["contracts"][0]["layers"][::-1] == LAYERS


def test_no_module_imports_itself_by_way_of_others(arrows):
    done, open_ = set(), []

    def visit(module):
        if module in open_:
            pytest.fail(" -> ".join(".".join(each) for each in [*open_[open_.index(module) :], module]))
        if module not in done:
            open_.append(module)
            # a package's own __init__ is run first whoever asks for one of its modules
            for target in sorted(arrows[module]):
                if target != module:
                    visit(target)
            done.add(open_.pop())

    for module in sorted(arrows):
        visit(module)


def test_yaml_is_read_and_written_in_one_place(trees):
    imports = (
        (inside.as_posix(), alias.name)
        for inside, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    )
    assert [path for path, name in imports if name == "yaml"] == ["config/plain_yaml.py"]


def test_the_root_stays_quiet():
    assert len(list(ROOT.glob("*.py"))) <= 13


def test_every_package_and_every_file_that_is_read_is_packed():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    # benchmarks are run in a checkout
    made = (inside for inside, _ in modules() if inside.name == "__init__.py" and inside.parts[0] != "benchmarks")
    packages = {".".join(("evenhand", *dotted(inside))) for inside in made}
    assert sorted(settings["packages"]) == sorted(packages)
    packed = set()
    for package, patterns in settings["package-data"].items():
        folder = ROOT.joinpath(*package.split(".")[1:])
        for pattern in patterns:
            found = {path.relative_to(ROOT) for path in folder.glob(pattern) if path.is_file()}
            assert found, f"{package}: {pattern} names no file"
            packed |= found
    inside = {Path(*name.split(".")[1:]) for name in packages} - {Path()}
    data = {
        path.relative_to(ROOT)
        for folder in {each.parts[0] for each in inside} | {"recipes", "accelerate_configs"}
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix not in {".py", ".pyc", ".md"}
    }
    assert not data - packed


def classes(package):
    for path, tree in package.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                yield f"{path}:{node.name}", node


def test_few_records_have_bounds_of_their_own(package):
    found = set()
    for name, node in classes(package):
        fields = {
            each.target.id for each in node.body if isinstance(each, ast.AnnAssign) and hasattr(each.target, "id")
        }
        if {"low", "high"} <= fields or {"lower", "upper"} <= fields:
            found.add(name)
    assert found == INTERVALS


def test_a_name_stands_for_one_class(package):
    counts = Counter(name.rpartition(":")[2] for name, _ in classes(package))
    shared = sorted(name for name, n in counts.items() if n > 1)
    assert not shared


def bound_name(node):
    """The name of a variable or a parameter where it is bound; None elsewhere."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id
    return node.arg if isinstance(node, ast.arg) else None


def test_names_say_what_they_hold(package):
    n_names, vague = 0, []
    for path, tree in package.items():
        for node in ast.walk(tree):
            if name := bound_name(node):
                n_names += 1
                if name.strip("_") in VAGUE:
                    vague.append(f"{path}:{node.lineno} {name}")
    assert len(vague) <= MOST_VAGUE * n_names, vague


def names_in(node):
    """Every name that a piece of the package uses, by itself, as an attribute, or in the text that names a module's function."""
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            yield each.id
        elif isinstance(each, ast.Attribute):
            yield each.attr
        elif isinstance(each, ast.Constant) and isinstance(each.value, str) and re.fullmatch(r"[\w.:]+", each.value):
            yield from re.findall(r"\w+", each.value)


def test_what_is_public_is_run_by_commands(package):
    used = Counter(name for tree in package.values() for name in names_in(tree))
    left = {
        node.name: Counter(names_in(node))
        for tree in package.values()
        for node in tree.body
        if isinstance(node, ast.ClassDef) or (isinstance(node, ast.FunctionDef) and not node.decorator_list)
    }
    uncalled = set()
    # what only uncalled definitions use is uncalled, too
    while gone := {name for name, own in left.items() if used[name] <= own[name]}:
        for name in gone:
            used -= left.pop(name)
        uncalled |= {name for name in gone if not name.startswith("_")}
    assert uncalled == UNCALLED.keys()


def test_fields_are_read(package):
    """Those of dataclasses; records of pydantic go into users' files, and named tuples are unpacked."""
    used = {
        name
        for tree in package.values()
        for node in ast.walk(tree)
        if not (isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store))
        for name in (
            [node.attr] if isinstance(node, ast.Attribute) else names_in(node) if isinstance(node, ast.Constant) else []
        )
    }
    for template in (path for room in ("evaluation", "serve") for path in (ROOT / room).rglob("templates/*")):
        used |= set(re.findall(r"\w+", template.read_text(encoding="utf-8")))
    unread = {
        each.target.id
        for _, node in classes(package)
        if any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list)
        for each in node.body
        if isinstance(each, ast.AnnAssign) and each.target.id not in used
    }
    assert unread == UNREAD.keys()


def test_many_tests_are_corrected_in_one_place(package):
    methods = re.compile(r"Holm|Bonferroni|Benjamini|Hochberg|false_discovery_control|multipletests")
    found = {path for path in package if methods.search((ROOT / path).read_text(encoding="utf-8"))}
    assert found <= CORRECTIONS


def test_too_few_sets_are_said_in_one_place(package):
    found = [
        f"{path}:{node.lineno}"
        for path, tree in package.items()
        if path != "resampling.py"
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        and any(isinstance(each, ast.Name) and each.id == "LEAST_SETS" for each in ast.walk(node))
    ]
    assert len(found) <= MOST_FEW, found


def test_labels_of_too_few_are_worded_in_one_place(package):
    label = re.compile(r"too few (\w+s )?(for an? |to )|too few sets: ", re.IGNORECASE)
    found = [
        f"{path}:{node.lineno}"
        for path, tree in package.items()
        if path.startswith(("evaluation/", "plugins/")) and path != "evaluation/pages/words.py"
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and label.search(node.value)
        if node not in {each.value for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    ]
    assert found == []


def test_pages_take_warnings_as_one_tuple_that_is_shortened_in_one_place(package):
    found = {
        path
        for path, tree in package.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id == "MOST_CAUTIONS"
    }
    assert found == {"evaluation/pages/blocks.py"}
