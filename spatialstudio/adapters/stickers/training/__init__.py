"""Training of the embedded sticker models."""
