"""Backends of other packages: named in a recipe, opened and asked, and refused where they are wrong."""

from functools import partial, reduce

import made_packages
import pytest
from quick_recipe import RECIPE

from evenhand.config.model import BACKEND_TRAITS
from evenhand.config.recipe_file import recipe_of
from evenhand.errors import PluginError, RecipeError
from evenhand.generate.backends import BACKENDS
from evenhand.generate.stage import generate
from evenhand.preflight import preflight
from evenhand.records import Candidate
from evenhand.runfolder.phases import CANDIDATES, open_phase
from evenhand.storage import read_jsonl

# the worked example of a backend of another package
ECHO = """
from evenhand.config.model import BackendTraits
from evenhand.generate.backend import Reply, Usage
from evenhand.generate.backends import BackendKind


class Echo:
    def __init__(self, section, model, adapter, signature):
        self.signature, self.usage = signature, Usage()
        self.times = section.engine.get("times", 1)

    def complete(self, asks):
        self.usage.add(len(asks), len(asks))
        return [Reply("It is so. " * self.times, "stop") for ask in asks]

    def close(self):
        pass


TRAITS = BackendTraits(engine_keys=frozenset({"times"}), has_model=False, reads_model=False, on_gpus=False)
ECHO = BackendKind(Echo, TRAITS)
"""


# a backend that asks another program, with keys of its own
SECTION = """
from evenhand.config.remote import RemoteSection
from evenhand.errors import ModelError


class FarSection(RemoteSection):
    place: str
    retries: int = 3
    only_where = frozenset({"retries"})
    example = "{place: there}"

    @property
    def address(self):
        return f"far:{self.place}"

    @property
    def sends_tokens(self):
        return False

    def cost(self, n_input, n_output):
        return None

    def refuse_drawing(self, drawing):
        if drawing.top_k:
            raise ValueError("top_k: it is too far for that")

    def refuse_unreachable(self, model):
        if self.place == "nowhere":
            raise ModelError(f"{model} is not there")


def name(section, model, adapter):
    return f"far {section.server.place}"


class Echo"""
CHANGES = {
    "class Echo": SECTION,
    "has_model=False": "server=FarSection",
    "ECHO = BackendKind(Echo, TRAITS)": "FAR = BackendKind(Echo, TRAITS, name)",
}
FAR = reduce(lambda text, change: text.replace(*change), CHANGES.items(), ECHO)


@pytest.fixture
def bring(tmp_path, monkeypatch):
    """Install a package that brings backends."""
    return partial(made_packages.bring, tmp_path / "site", monkeypatch, (BACKENDS, BACKEND_TRAITS))


def phase_of(tmp_path, **generate_keys):
    generation = RECIPE["generate"] | {"backend": "echo"} | generate_keys
    return open_phase(recipe_of(RECIPE | {"output": str(tmp_path / "run"), "generate": generation}), "evaluation/base")


def test_a_backend_of_another_package_answers(tmp_path, bring):
    bring(ECHO, {"echo": "ECHO"})
    phase = phase_of(tmp_path, engine={"times": 2})
    preflight(phase.recipe)
    generate(phase)
    found = list(read_jsonl(phase.folder / CANDIDATES, Candidate))
    assert {each.text for each in found} == {"It is so. It is so."}
    # the package and its version are told with every candidate
    assert {each.model for each in found} == {"none|bfloat16|echo|mine 1.0"}
    assert not phase.recipe.generate.has_model and phase.recipe.generate.gpus_each == 0


def test_its_keys_are_checked(tmp_path, bring):
    bring(ECHO, {"echo": "ECHO"})
    with pytest.raises(RecipeError, match=r"engine.tims is not known to backend echo, which has \['times'\]"):
        phase_of(tmp_path, engine={"tims": 2})
    with pytest.raises(RecipeError, match=r"there is no backend 'ecko'; did you mean 'echo'\? Backends are vllm"):
        phase_of(tmp_path, backend="ecko")


def test_one_that_asks_another_program_has_keys_of_its_own(tmp_path, bring):
    bring(FAR, {"far": "FAR"})
    phase = phase_of(tmp_path, backend="far", server={"place": "here"})
    generate(phase)
    found = list(read_jsonl(phase.folder / CANDIDATES, Candidate))
    assert {each.model for each in found} == {"far here|mine 1.0"}
    again = phase_of(tmp_path, backend="far", server={"place": "here", "retries": 5})
    # keys that say how, and not what comes back, make nothing again
    assert generate(again)[1]
    assert not generate(phase_of(tmp_path, backend="far", server={"place": "there"}))[1]


@pytest.mark.parametrize(
    ("generate_keys", "said"),
    [
        ({"backend": "far"}, "backend: far asks a server; write server: {place: there}"),
        ({"backend": "far", "server": {"plaec": "x"}}, "'generate.server.plaec' is not known; did you mean 'place'"),
        ({"backend": "far", "server": {"place": "x"}, "plans": {"hot": {"top_k": 3}}}, "top_k: it is too far for that"),
        ({"backend": "scripted", "server": {"place": "x"}}, "server"),
    ],
)
def test_keys_of_another_program_are_checked(tmp_path, bring, generate_keys, said):
    bring(FAR, {"far": "FAR"})
    with pytest.raises(RecipeError) as refused:
        phase_of(tmp_path, **generate_keys)
    assert said in str(refused.value)


def test_another_program_is_asked_before_any_work(tmp_path, bring):
    bring(FAR, {"far": "FAR"})
    with pytest.raises(RecipeError, match=r"key 'generate\.server': none is not there"):
        preflight(phase_of(tmp_path, backend="far", server={"place": "nowhere"}).recipe)


def test_absent_libraries_are_told_before_any_work(tmp_path, bring):
    traits = "BackendTraits(('no_such_library',), reads_model=False, on_gpus=False)"
    bring(ECHO.replace("TRAITS)\n", f"{traits})\n"), {"echo": "ECHO"})
    with pytest.raises(RecipeError, match=r"key 'generate.backend': .*no_such_library"):
        preflight(phase_of(tmp_path).recipe)


WRONG = {
    "it cannot be opened": (("Usage()\n", "Usage() / 0\n"), "raised TypeError: .*mine/__init__.py:9"),
    "it raises": (('"It is so. "', "self.words"), "raised AttributeError: .*words"),
    "too few": (
        ("for ask in asks]", "for ask in asks][1:]"),
        "gave 11 for 12 asks; return a list with a Reply for each",
    ),
    "no list": (("return [", "return None and ["), "gave NoneType for 12 asks"),
    "texts": (('Reply("It is so. " * self.times, "stop")', '"It is so."'), "gave str and no Reply"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_backend_that_does_anything_else_is_refused_by_name(tmp_path, bring, case):
    change, said = WRONG[case]
    assert change[0] in ECHO
    bring(ECHO.replace(*change), {"echo": "ECHO"})
    phase = phase_of(tmp_path)
    with pytest.raises(PluginError, match=f"backend 'echo' of package mine 1.0 {said}"):
        generate(phase)
    assert not (phase.folder / CANDIDATES).exists()


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("X = 7\n", "echo", "is int and no backend"),
        (f"{ECHO}X = ECHO\n", "scripted", "is brought by evenhand and by mine 1.0"),
    ],
)
def test_a_broken_package_is_told(tmp_path, bring, text, name, said):
    bring(text, {name: "X"})
    with pytest.raises(PluginError, match=said):
        phase_of(tmp_path, backend=name)
