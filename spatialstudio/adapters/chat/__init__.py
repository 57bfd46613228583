"""Language models on chat-completions servers."""
