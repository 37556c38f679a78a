import os

import pytest

from evenhand.errors import DataError
from evenhand.evaluation.audit.report import check_folder


def test_a_folder_that_is_there_and_one_that_is_not_yet_are_taken(tmp_path):
    check_folder(tmp_path)
    check_folder(tmp_path / "a" / "b")
    assert not (tmp_path / "a").exists()


def test_a_file_in_the_way_is_told_before_anything_is_measured(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(DataError, match=r"--out .*file: is no folder"):
        check_folder(tmp_path / "file")
    with pytest.raises(DataError, match=r"--out .*audit: .*file is no folder; name a folder"):
        check_folder(tmp_path / "file" / "deep" / "audit")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_rights_is_told(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(DataError, match="cannot be written; name another folder, or mend its rights"):
        check_folder(tmp_path / "audit")
