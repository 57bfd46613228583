"""Pictures whose own record says that a sticker model drew them."""

import json

from spatialstudio.adapters.storage.metadata.picture_texts import picture_bytes
from spatialstudio.domain.picture_settings import EmbeddedTexts


def save_sticker_picture(path, image, prompt="", model="stickers"):
    """Write a picture, (H, W, 3) uint8, with the record that this program writes in short."""
    request = {"model": {"id": model}, "scene": {"prompt": {"text": prompt}}}
    record = json.dumps({"version": 2, "request": request})
    texts = EmbeddedTexts(parameters="", record=record, creator="Spatial Studio")
    path.write_bytes(picture_bytes(image, path.suffix[1:].upper(), texts))
    return path
