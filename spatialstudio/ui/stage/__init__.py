"""The stage: the picture, its layers and overlays."""
