"""Verdicts, their evidence, and other ways to judge."""
