"""Ways to choose pairs that packages bring: what is refused, and whose it is when it fails."""

import sys

import pytest
from made_packages import install
from pydantic import ValidationError

from evenhand.config import PairsSection
from evenhand.config.pair_modes import PAIR_RULES
from evenhand.errors import PluginError
from evenhand.rerank.pair_modes import PAIR_MODES, open_pairer

WAY = """
from evenhand.config.pair_modes import PairRules
from evenhand.rerank.pair_modes import PairMode


class Pairer:
    n_pairs = 0

    def __init__(self, phase):
        BEGIN

    def take(self, request, group, judgements):
        raise KeyError("side")


thing = PairMode(PairRules(lambda n_candidates, n_draws: 1, JUDGE), Pairer)
"""


@pytest.fixture
def bring(tmp_path, monkeypatch):
    """Install a package that brings a way to choose pairs by this name."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(name, begin="pass", judge="''"):
        monkeypatch.delitem(sys.modules, "ways", raising=False)
        points = f"[evenhand.pairs]\n{name} = ways:thing\n"
        text = WAY.replace("BEGIN", begin).replace("JUDGE", judge)
        files = {"ways-1.0.dist-info/entry_points.txt": points.encode(), "ways/__init__.py": text.encode()}
        install(tmp_path, "ways", "1.0", files)
        forget()

    yield make
    forget()


def forget():
    for door in (PAIR_MODES, PAIR_RULES):
        vars(door).pop("_points", None)


class Phase:
    """A round of a recipe that names the way."""

    split = "train"

    class recipe:  # noqa: N801
        pairs = None


def phase(mode):
    Phase.recipe.pairs = PairsSection(mode=mode)
    return Phase()


def test_an_unknown_way_is_refused_with_all_that_there_are(bring):
    bring("mine")
    with pytest.raises(ValidationError, match=r"'all', 'best_k', 'top_bottom'.*'mine'"):
        PairsSection(mode="every")


def test_a_name_of_the_core_is_not_taken(bring):
    bring("all")
    with pytest.raises(PluginError, match=r"'all' is brought by evenhand and by ways 1\.0"):
        PairsSection(mode="all")


def test_a_judge_is_asked_for_by_ways_that_compare_by_one_alone(bring):
    bring("mine")
    with pytest.raises(ValidationError, match="judge has no effect with mode: mine"):
        PairsSection(mode="mine", judge="fit")
    bring("mine", judge="'a judge of style'")
    with pytest.raises(ValidationError, match="mode: mine needs the name of a judge of style; write judge: NAME"):
        PairsSection(mode="mine")
    assert PairsSection(mode="mine", judge="fit", margin_weights=True).rules.judge == "a judge of style"


def test_what_a_way_raises_says_whose_it_is(bring):
    bring("mine")
    pairer = open_pairer(phase("mine"))
    with pytest.raises(
        PluginError,
        match=r"way to choose pairs 'mine' of package ways 1\.0 raised KeyError: 'side' \(.*ways/__init__\.py:13\)",
    ):
        pairer.take(None, None, [])
    bring("mine", begin="self.x = 1 / 0")
    with pytest.raises(PluginError, match=r"raised ZeroDivisionError"):
        open_pairer(phase("mine"))


def test_the_cores_ways_need_no_package():
    assert open_pairer(phase("best_k")) is None
    assert [PairsSection(mode=mode).most_pairs(5, 5) for mode in ("all", "best_k", "top_bottom")] == [10, 10, 1]
    assert PairsSection(mode="best_k", k=4).most_pairs(5, 5) == 4
    assert PairsSection(mode="top_bottom").most_pairs(1, 1) == 0
