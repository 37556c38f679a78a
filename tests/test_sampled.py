"""What `make test` leaves to `make test-all` is said of every file, and what it samples is there."""

import ast
from pathlib import Path

from sampled import ALL, FILES, is_sampled

TESTS = Path(__file__).parent


def names_of(file):
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    return {each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)}


def test_every_file_with_slow_tests_says_which_fast_ones_see_its_faults():
    slow = {
        str(path.relative_to(TESTS))
        for path in TESTS.rglob("test_*.py")
        if "pytest.mark.slow" in path.read_text(encoding="utf-8") and path != Path(__file__)
    }
    assert sorted(slow) == sorted(FILES)


def test_what_is_sampled_is_there():
    wrong = [
        f"{file}: {name}"
        for file, left in FILES.items()
        for name in left.sampled
        if left.sampled != ALL and not any(each.startswith(name.partition("[")[0]) for each in names_of(file))
    ]
    assert not wrong


def test_of_files_that_are_not_sampled_nothing_is():
    assert not is_sampled("plugins/serve/test_soak.py", "test_no_answer_is_lost_or_wrong_and_memory_stays")
    assert is_sampled("generate/test_vllm_whole.py", "test_engine_opens_whole_models_and_adapters_alone")
    assert not is_sampled("test_text.py", "test_x")
