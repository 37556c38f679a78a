"""What a recipe may say of training is what the installed TRL takes."""

import inspect
import re

import pytest

from evenhand.config.train import LOSS_TYPES, UNWEIGHTED


def test_the_losses_are_those_of_the_installed_trl():
    trainer = pytest.importorskip("trl").DPOTrainer
    assert set(re.findall(r'loss_type == "(\w+)"', inspect.getsource(trainer))) == set(LOSS_TYPES)
    assert set(UNWEIGHTED) < set(LOSS_TYPES)
