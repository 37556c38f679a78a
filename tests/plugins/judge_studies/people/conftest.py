"""The annotation page of a few items of the sample corpus, open in headless Chromium."""

import pytest
from page_use import make_sample_page


@pytest.fixture
def open_page(chromium):
    """Opens a file in a fresh profile; a message on its console or an error fails the test."""
    contexts, complaints = [], []

    def start(path, **options):
        context = chromium.new_context(accept_downloads=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15000)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(path.as_uri())
        return page

    yield start
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture(scope="module")
def sample_page(tmp_path_factory):
    """The page of `make_sample_page`, which nothing writes: its path, and the blank sheet."""
    return make_sample_page(tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="module")
def function_page(chromium, sample_page):
    """One page for all tests that only ask its functions."""
    page = chromium.new_page()
    page.goto(sample_page[0].as_uri())
    yield page
    page.close()
