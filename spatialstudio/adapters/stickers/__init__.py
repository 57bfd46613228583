"""The embedded sticker world: its renderer, vocabulary, models and training."""
