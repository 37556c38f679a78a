"""What the JSON files of reports and comparisons hold of their judges' worth."""

from ...judges.calibration import JudgeCalibration
from ...records import Record


class Worth(Record):
    """What is known of the judges that a page rests on."""

    # judge -> its calibration
    known: dict[str, JudgeCalibration]
    # judges that could be tried, and of which nothing is known
    unknown: tuple[str, ...]
    # what calibrations rest on: "sample: 16 articles, 2026-11-23"
    data: tuple[str, ...]
