"""The checker: verdicts from perception, with evidence."""
