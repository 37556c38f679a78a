"""Reading released pickles without running their code."""

import pytest
from judge_models import Hostile

from evenhand.errors import JudgeError
from evenhand.judges.released import only_tensors, read_released

torch = pytest.importorskip("torch")


def test_tensors_and_plain_values_are_read(tmp_path):
    torch.save({"weight": torch.ones(2), "name": "x", "sizes": [1, 2]}, tmp_path / "file.bin")
    found = read_released(tmp_path / "file.bin")
    assert (found["weight"].tolist(), found["name"], found["sizes"]) == ([1.0, 1.0], "x", [1, 2])


def test_code_is_refused_and_not_run(tmp_path):
    torch.save({"weight": Hostile(tmp_path / "was-run")}, tmp_path / "file.bin")
    with pytest.raises(JudgeError, match="holds more than tensors and plain values"):
        read_released(tmp_path / "file.bin")
    assert not (tmp_path / "was-run").exists()


@pytest.mark.parametrize("keep", [0, 1, 10, 200, 0.5])
def test_file_that_is_absent_or_cut_short_anywhere_is_to_be_downloaded_again(tmp_path, keep):
    path = tmp_path / "file.bin"
    with pytest.raises(JudgeError, match=r"file\.bin: is not there.*download it again"):
        read_released(path)
    torch.save({"weight": torch.ones(200)}, path)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * keep) if keep < 1 else keep])
    with pytest.raises(JudgeError, match=r"file\.bin: .*download it again"):
        read_released(path)


def test_tensors_that_share_memory_are_copied_and_others_refused(tmp_path):
    shared = torch.ones(4)
    found = only_tensors(tmp_path / "file.bin", {"a": shared, "b": shared[:2]})
    assert found["a"].data_ptr() != found["b"].data_ptr() != shared.data_ptr()
    with pytest.raises(
        JudgeError, match=r"file\.bin: 'c' should be tensors with a name and are none; download it again"
    ):
        only_tensors(tmp_path / "file.bin", {"a": shared, "c": 3})
