import os

import pytest
from audit_inputs import ATTRIBUTE, make_input, two_sided

from evenhand.errors import DataError
from evenhand.evaluation.audit.build import build_audit
from evenhand.evaluation.audit.plan import AuditPlan
from evenhand.evaluation.audit.report import check_folder, replaced, write_audit
from evenhand.evaluation.audit.word_lists import ListedWords
from evenhand.fairness.demographic.word_lists import WordLists
from evenhand.resampling import Bootstrap


def test_a_folder_that_is_there_and_one_that_is_not_yet_are_taken(tmp_path):
    check_folder(tmp_path)
    check_folder(tmp_path / "a" / "b")
    assert not (tmp_path / "a").exists()


def test_a_file_in_the_way_is_told_before_anything_is_measured(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(DataError, match=r"--out .*file: is not a folder"):
        check_folder(tmp_path / "file")
    with pytest.raises(DataError, match=r"--out .*audit: .*file is not a folder; name a folder"):
        check_folder(tmp_path / "file" / "deep" / "audit")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_rights_is_told(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(DataError, match="cannot be written; name another folder, or mend its rights"):
        check_folder(tmp_path / "audit")


def test_the_audit_that_is_replaced_is_named_unless_it_is_the_same(tmp_path):
    plan = AuditPlan(bootstrap=Bootstrap(level=0.95, resamples=100, seed=0))
    given, other = make_input(two_sided(3), base=["He."] * 3), make_input(two_sided(3), tuned=["He."] * 3)
    assert replaced(tmp_path, given) == ""
    write_audit(build_audit(given, plan, [ListedWords(WordLists())]), tmp_path)
    assert replaced(tmp_path, given) == ""
    assert replaced(tmp_path, other) == (
        f"{tmp_path} holds the audit of base on docs.jsonl, by {ATTRIBUTE}; it will be replaced."
    )
