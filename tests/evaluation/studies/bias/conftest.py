from pathlib import Path

import pytest

from evenhand.plugins.bias.recipe import BiasRecipe


@pytest.fixture
def make_recipe(tmp_path):
    """A recipe that needs no model, with changes; sections are given as mappings."""

    def make(**changes):
        values = {
            "name": "study",
            "output": tmp_path / "study",
            "inputs": {"assignments": 2},
            "simulated": "lead",
            "measures": {"persons": "known", "encoder": None, "resamples": 200},
        }
        for key, value in changes.items():
            values[key] = {**values[key], **value} if isinstance(values.get(key), dict) else value
        return BiasRecipe.model_validate(values)

    return make


@pytest.fixture
def names_file(tmp_path) -> Path:
    """Name lists of setting race; invented names."""
    path = tmp_path / "names.json"
    path.write_text(
        '{"black": {"female": ["Abla", "Bira", "Cosi", "Dela"], "male": ["Ebo", "Fara", "Gizo", "Hano"], '
        '"last": ["Ibaru", "Jodan", "Koro", "Lumo"]}, '
        '"white": {"female": ["Mira", "Nell", "Orla", "Pia"], "male": ["Quin", "Rolf", "Sven", "Tad"], '
        '"last": ["Ulm", "Vey", "Wicks", "Yarn"]}}'
    )
    return path
