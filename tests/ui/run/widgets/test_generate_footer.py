from spatialstudio.ui.run.widgets.generate_footer import GenerateFooter


def test_no_width_changes_with_the_words_of_its_buttons(qtbot, theme):
    foot = GenerateFooter(theme, ())
    qtbot.addWidget(foot)
    foot.show()
    resting = foot.minimumSizeHint().width()
    foot.show_running(True)
    assert foot.minimumSizeHint().width() == resting
    foot.show_cancelling()
    assert foot.minimumSizeHint().width() == resting
