"""Small perturbations of a picture, as in SpatialBench-UC, to measure the stability of verdicts."""

import numpy as np
from PIL import Image, ImageEnhance, ImageFilter

from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.ports import Surroundings
from spatialstudio.domain.verdict import Perturbation, PerturbationKind


def build(_: Surroundings) -> "PillowPerturber":
    """Create the perturber."""
    return PillowPerturber()


class PillowPerturber:
    """Perturbs pictures with Pillow, as SpatialBench-UC does; implements ``Perturber``."""

    id = "pillow"

    def perturb(self, image: RgbImage, perturbation: Perturbation) -> RgbImage:
        """Return a perturbed copy of a picture, (H, W, 3) uint8, of the same size."""
        return np.array(_changed(Image.fromarray(image), perturbation))


def _changed(picture: Image.Image, perturbation: Perturbation) -> Image.Image:
    amount = perturbation.amount
    match perturbation.kind:
        case PerturbationKind.BRIGHTNESS:
            return ImageEnhance.Brightness(picture).enhance(amount)
        case PerturbationKind.GAUSSIAN_BLUR:
            return picture.filter(ImageFilter.GaussianBlur(amount))
        case PerturbationKind.RESIZE:
            small = [max(int(side * amount), 1) for side in picture.size]
            shrunk = picture.resize((small[0], small[1]), Image.Resampling.LANCZOS)
            return shrunk.resize(picture.size, Image.Resampling.LANCZOS)
