"""Docks with a purpose: each joins widgets to the session."""
