"""The embedded sticker world: its renderer, its words, its models and their training."""
