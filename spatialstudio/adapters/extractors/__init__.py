"""Readers of prompts: text to scene graph."""
