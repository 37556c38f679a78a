"""How far a stage says it is."""

import pytest

from evenhand.runfolder.progress import Progress, progress_path, read_progress
from evenhand.runfolder.stages import Counts, Stage


def test_tally_begins_with_what_an_earlier_process_did_and_is_whole_at_the_end(tmp_path):
    path = progress_path(tmp_path, "judge")
    progress = Progress(path, "judgements", {"grade": 3, "recall": 2}, {"grade": 1})
    begun = read_progress(path)
    assert (begun.unit, begun.done, begun.total) == ("judgements", {"grade": 1, "recall": 0}, {"grade": 3, "recall": 2})
    progress.add(2, "grade")
    progress.add(2, "recall")
    assert read_progress(path).done == {"grade": 3, "recall": 2}


@pytest.mark.parametrize("content", [None, "", '{"unit": "steps"'])
def test_file_that_says_nothing_is_no_tally(tmp_path, content):
    path = tmp_path / "train.progress"
    if content is not None:
        path.write_text(content)
    assert read_progress(path) is None


def test_finished_stage_says_nothing_of_its_progress(tmp_path):
    stage = Stage("generate", tmp_path, {}, ())
    seen = []

    def work():
        Progress(stage.progress_path, "requests", {"": 2}, {})
        seen.append(read_progress(stage.progress_path))
        return Counts()

    stage.run(work)
    assert seen[0].total == {"": 2}
    assert not stage.progress_path.exists()
