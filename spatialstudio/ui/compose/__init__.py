"""Composing: prompt, relations, layout sketch."""
