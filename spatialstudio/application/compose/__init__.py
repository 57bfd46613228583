"""Conversion of prompts to scene graphs, scene edits and layouts."""
