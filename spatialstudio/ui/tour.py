"""The five-minute tour: its stations, in words; ``packaging/play_tour.py`` takes their pictures."""

from pathlib import Path

from spatialstudio.domain.frozen import frozen

PROMPT, SEED = "a cat to the left of a dog, a lamp above the dog", 4
"""Drawn in the pictures: unguided, the cat comes out on the right; guided, both relations hold."""
FOLDER = Path("samples", "tour")
"""Within the resources; a folder for light and one for dark pictures lies in it."""


@frozen(kw_only=False)
class Station:
    """One thing to see.

    Attributes:
        id: Names its picture.
        title: What is done there, untranslated.
        text: How, in a few sentences, untranslated.
    """

    id: str
    title: str
    text: str

    def picture(self, resources: Path, *, is_dark: bool) -> Path:
        """Return the file of its picture."""
        return resources / FOLDER / ("dark" if is_dark else "light") / f"{self.id}.png"


STATIONS = (
    Station(
        "write",
        "Write",
        "Type what you want to see. Objects are underlined in their colours, and every relation "
        "appears as a chip: click its middle to change it, drag its ends to other words, "
        "right-click it for more.",
    ),
    Station(
        "watch",
        "Watch",
        "Generate with Ctrl+Return. The preview clears step by step. With all controls "
        "(Ctrl+Shift+A) maps show where the model attends to each word, and the PoS curve shows "
        "how sure the attention is of each relation; the verdict judges the picture itself. The "
        "same seed without guidance is drawn beside it; Ctrl+B turns that on or off.",
    ),
    Station(
        "inspect",
        "Inspect",
        "Ctrl+2 lays the words' maps over the picture. Along its edges stand their marginals: "
        "where their cumulative curves cross is what PoS measures. The arrows step through the "
        "run, Space plays it.",
    ),
    Station(
        "judge",
        "Judge",
        "Ctrl+3 shows what was found in the finished picture, how far apart it is and how sure "
        "that is: PASS, FAIL, or UNDECIDABLE with its reason. Click a reason to see its evidence; "
        "drag the band or a threshold to try another judgement beside the stored one.",
    ),
    Station(
        "keep",
        "Keep",
        "Ctrl+6 holds every picture you ever drew, with all that made it. Find them by words, "
        "relations, verdicts and PoS; rate, compare and export them. Nothing is lost, even when "
        "the program is stopped in the middle.",
    ),
    Station(
        "find",
        "Find",
        "Ctrl+K finds any command by a few of its letters, ? shows all keys, Esc leads back to the "
        "picture. Drop any picture on the window to judge it, or to get back the settings that it "
        "was made with.",
    ),
)
