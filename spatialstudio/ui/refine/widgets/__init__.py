"""Widgets of Fix it and the assertions."""
