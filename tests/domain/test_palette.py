from spatialstudio.domain.palette import MENTION_COLOURS, Palette


def test_mention_colours_repeat():
    colours = {f"mention_{place}": f"colour {place}" for place in range(1, MENTION_COLOURS + 1)}
    palette = Palette(name="test", is_dark=False, colours=colours, heat_map="any")
    assert palette.mention(0) == palette.mention(MENTION_COLOURS) == "colour 1"
    assert palette.mention(MENTION_COLOURS - 1) == f"colour {MENTION_COLOURS}"
