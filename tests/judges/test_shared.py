"""Models that judges share."""

from evenhand.judges.shared import LazyPart, SharedModels


class Model:
    def __init__(self):
        self.n_closed = 0

    def close(self):
        self.n_closed += 1


def test_model_is_loaded_once_when_first_needed_and_closed_once():
    made = []

    def load():
        made.append(Model())
        return made[-1]

    models = SharedModels()
    first, second = models.lazy("a", load), models.lazy("a", load)
    assert not made
    assert first.get() is second.get()
    first.close()
    second.close()
    assert [model.n_closed for model in made] == [1]


def test_closed_model_is_loaded_again_when_needed_again():
    lazy = SharedModels().lazy("a", Model)
    before = lazy.get()
    lazy.close()
    assert lazy.get() is not before


def test_other_key_gets_another_model():
    models = SharedModels()
    assert models.lazy("a", Model).get() is not models.lazy("b", Model).get()


def test_closing_what_was_never_loaded_loads_nothing():
    def load():
        raise AssertionError("was loaded")

    SharedModels().lazy("a", load).close()


def test_part_is_loaded_and_closed_with_the_whole():
    whole = SharedModels().lazy("a", Model)
    first, second = LazyPart(whole, lambda model: model), LazyPart(whole, lambda model: model)
    first.close()
    assert first.loads == second.loads == "a"
    model = first.get()
    assert model is second.get() is whole.get()
    first.close()
    second.close()
    assert model.n_closed == 1
    assert second.get() is not model
