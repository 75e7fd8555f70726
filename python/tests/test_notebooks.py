"""The notebooks, run from the first cell to the last as a user would run them."""

import nbclient
import nbformat
import pytest
from conftest import ROOT

# What each must show, beside pages in frames: a word of its answer.
SHOWN = {
    "firmware": ["376", "scp-wait"],
    "releases": ["another order", "cannot-be-judged"],
    "dataplane": ["single"],
    "idle": ["menu@6.1", "idle_below"],
    "placement": ["all-big", "seconds"],
}

# Plots from a data frame.
PLOTS = {"firmware": 1}

FOLDER = ROOT / "python" / "notebooks"


def test_every_notebook_is_run():
    assert sorted(file.stem for file in FOLDER.glob("*.ipynb")) == sorted(SHOWN)


@pytest.mark.parametrize("name", SHOWN)
def test_a_notebook_runs_and_shows_its_answer(name):
    book = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    assert all(not cell.get("outputs") for cell in book.cells), "notebooks are kept without what they print"
    nbclient.NotebookClient(book, timeout=120, resources={"metadata": {"path": str(ROOT)}}).execute()
    shown, pages, plots = "", 0, 0
    for output in (output for cell in book.cells for output in cell.get("outputs", [])):
        data = output.get("data", {})
        shown += output.get("text", "") + data.get("text/plain", "")
        plots += "image/png" in data
        # A recording shows its answers, and a comparison its page.
        pages += data.get("text/html", "").startswith(("<iframe srcdoc=", "<pre>"))
    assert pages >= 1, "no report is shown"
    assert plots == PLOTS.get(name, 0), "a plot by the user's own library"
    for part in SHOWN[name]:
        assert part in shown, f"`{part}` is not in:\n{shown}"
