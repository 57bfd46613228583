"""The prompt and its relations."""
