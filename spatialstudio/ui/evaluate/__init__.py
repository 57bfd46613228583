"""Evaluating: verdicts, evidence, thresholds."""
