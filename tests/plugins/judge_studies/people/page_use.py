"""What people do with the annotation page in a browser, and what it then says."""

import json
from pathlib import Path

from sheets import write_phase

from evenhand.corpora.reader import read_document_sets
from evenhand.plugins.judge_studies.people.page import blank_sheet, write_page

KEPT = "evenhand-human-annotations"
SAMPLE = Path(__file__).parents[4] / "corpora" / "sample" / "sample.jsonl"
# in the first document: an emoji of two UTF-16 units, one of several code points, and what must not become markup
ODD = (
    "Aye \U0001f6a2\U0001f469\u200d\U0001f52c \u2014 the <b>ferry</b></script>"
    "<script>document.title='broken'</script> \u2028 runs on."
)


def make_sample_page(folder):
    """Five items of the sample corpus with the summaries of two systems: its path, and the blank sheet."""
    sets = read_document_sets(SAMPLE)[:5]
    first = sets[0].documents[0].model_copy(update={"text": ODD})
    sets[0] = sets[0].model_copy(update={"documents": (first, *sets[0].documents[1:]), "topic": ODD})
    folders = {}
    for name in ("base", "dpo"):
        texts = {f"{each.id}/left": f"The Left \U0001f600 wants {name} <i>now</i>." for each in sets}
        folders[name] = write_phase(folder / name, sets, texts, sides=["left"])
    sheet, key = blank_sheet(folders, limit=None, seed=0)
    assert len(sheet.items) == 5
    path = folder / "page.html"
    write_page(path, sheet, key)
    return path, sheet


def status(page):
    return page.text_content("#status")


def exported(page, tmp_path, name):
    with page.expect_download() as download:
        page.click("#export")
    path = tmp_path / name
    download.value.save_as(path)
    return path


def answer(page, agrees):
    """What the page asks, answered; the questions."""
    asked = []

    def respond(dialog):
        asked.append(dialog.message)
        dialog.accept() if agrees else dialog.dismiss()

    page.on("dialog", respond)
    return asked


def file_of(name, sheet, folder, **changes):
    path = folder / f"{name}.json"
    path.write_text(json.dumps(sheet.model_dump(mode="json") | {"annotator": name} | changes))
    return path
