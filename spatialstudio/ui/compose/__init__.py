"""Composition of a prompt: text, relations, layout sketch."""
