"""Evaluation: verdicts, evidence, thresholds."""
