"""The objects of the sticker world: class indices, names, plurals and synonyms."""

import tomllib
from functools import cache

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.resources import resources_folder

WORLD_FOLDER = resources_folder() / "models" / "stickers-world"
OBJECTS_FILE = WORLD_FOLDER / "objects.toml"
SPRITES_FILE = WORLD_FOLDER / "sprites.png"


@frozen
class StickerObject:
    """One object of the sticker world.

    Attributes:
        name: Its name in answers and captions.
        plural: The plural of the name.
        synonyms: Other words for it, singular or plural.
        glyph: The emoji of its sprite; empty if the sprite is drawn by code.
    """

    name: str
    plural: str
    synonyms: tuple[str, ...]
    glyph: str

    @property
    def words(self) -> tuple[str, ...]:
        """All of its names, each once: one sheep, two sheep."""
        return tuple(dict.fromkeys((self.name, self.plural, *self.synonyms)))


@cache
def sticker_objects() -> tuple[StickerObject, ...]:
    """Read all objects; the position in the tuple is the class index."""
    table = tomllib.loads(OBJECTS_FILE.read_text(encoding="utf-8"))
    return tuple(
        StickerObject(
            name=row["name"],
            plural=row["plural"],
            synonyms=tuple(row["synonyms"]),
            glyph=row["glyph"],
        )
        for row in table["objects"]
    )


def object_number(word: str) -> int | None:
    """Return the class index of a word in any of its forms; None if it is unknown."""
    return _number_of_word().get(" ".join(word.lower().split()))


@cache
def _number_of_word() -> dict[str, int]:
    return {word: number for number, thing in enumerate(sticker_objects()) for word in thing.words}
