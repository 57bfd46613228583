"""Parts of the prompt and its relations."""
