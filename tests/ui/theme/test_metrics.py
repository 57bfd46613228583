from spatialstudio.ui.theme.metrics import em, font


def test_sizes_grow_with_the_font(qapp):
    small = em(10)
    before = qapp.font()
    larger = qapp.font()
    larger.setPointSizeF(before.pointSizeF() * 2)
    qapp.setFont(larger)
    grown = em(10)
    qapp.setFont(before)
    assert grown > 1.5 * small


def test_a_bold_font_is_heavier(qapp):
    assert font(bold=True).weight() > font().weight()
