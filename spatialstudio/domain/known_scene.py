"""A picture whose content is known, as of a renderer."""

from spatialstudio.domain.arrays import BoolMask, RgbImage, freeze
from spatialstudio.domain.frozen import frozen


@frozen(eq=False)
class KnownObject:
    """An object in a picture.

    Attributes:
        name: Singular.
        plural: The plural of the name.
        visible: (H, W) bool, what nearer objects do not hide.
        whole: (H, W) bool, all of it.
        depth: [0, 1], larger is farther; None in a flat scene.
        faces_left: Whether its front is at the left; None if it has no front.
    """

    name: str
    plural: str
    visible: BoolMask
    whole: BoolMask
    depth: float | None = None
    faces_left: bool | None = None

    def __post_init__(self) -> None:
        freeze(self.visible)
        freeze(self.whole)


@frozen(eq=False)
class KnownScene:
    """A rendered picture with all of its objects.

    Attributes:
        image: (H, W, 3) uint8.
        objects: The objects; nearer ones later.
        prompt: What it shows, in words.
        kind: Kind of scene, as "flat" or "on the ground".
    """

    image: RgbImage
    objects: tuple[KnownObject, ...]
    prompt: str
    kind: str

    def __post_init__(self) -> None:
        freeze(self.image)
