"""Shared by all features: panel API, event bridge, actions, undo, toasts."""
