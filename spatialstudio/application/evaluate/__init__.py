"""Judging pictures and recorded runs."""
