"""Shared by all features: panels, bridge, actions, undo, toasts."""
