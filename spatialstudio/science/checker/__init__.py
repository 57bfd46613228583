"""The checker: perception to verdicts, with evidence."""
