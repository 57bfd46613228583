"""The user guide and the notices are read inside the window."""

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from spatialstudio.domain.resources import resources_folder
from spatialstudio.ui.window.guide import GUIDE_PAGE, NOTICES_PAGE, GuideDialog, GuideReader


@pytest.fixture
def opened(monkeypatch):
    """The addresses that went to the browser."""
    urls = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: urls.append(url.toString()))
    return urls


@pytest.fixture
def guide(qtbot):
    dialog = GuideDialog("Guide", resources_folder(), GUIDE_PAGE)
    qtbot.addWidget(dialog)
    yield dialog.reader
    dialog.close()


def test_the_guide_begins_with_its_contents(guide):
    assert "Tour" in guide.toPlainText()
    assert "Contents" in guide.toPlainText()


def test_a_link_opens_another_page_and_leads_back(guide, opened):
    guide.follow(QUrl("concepts.md"))
    assert "Probability of Superiority" in guide.toPlainText()
    guide.backward()
    assert "Contents" in guide.toPlainText()
    assert opened == []


def test_a_web_link_opens_the_browser(guide, opened):
    guide.follow(QUrl("https://arxiv.org/abs/2506.23418"))
    assert opened == ["https://arxiv.org/abs/2506.23418"]
    assert "Contents" in guide.toPlainText()


@pytest.mark.parametrize("link", ["../../outside.md", "file:///etc/hostname", "nowhere.md"])
def test_files_outside_of_the_folder_are_not_opened(qtbot, tmp_path, link):
    (tmp_path / "outside.md").write_text("outside")
    page = tmp_path / "pages" / "guide" / "index.md"
    page.parent.mkdir(parents=True)
    page.write_text("inside")
    reader = GuideReader(tmp_path / "pages")
    qtbot.addWidget(reader)
    reader.setSource(QUrl.fromLocalFile(str(page)))
    reader.follow(QUrl(link))
    assert reader.toPlainText().strip() == "inside"


def test_pictures_are_no_wider_than_the_page(guide):
    guide.follow(QUrl("concepts.md"))
    image = guide.loadResource(2, QUrl("../samples/tour/light/judge.png"))
    assert 0 < image.width() <= guide.font().pointSize() * 200


def test_a_licence_text_keeps_its_lines(qtbot):
    dialog = GuideDialog("About", resources_folder(), NOTICES_PAGE)
    qtbot.addWidget(dialog)
    assert "Noto Color Emoji" in dialog.reader.toPlainText()
    dialog.reader.follow(QUrl("Apache-2.0.txt"))
    assert dialog.reader.toPlainText().count("\n") > 100
