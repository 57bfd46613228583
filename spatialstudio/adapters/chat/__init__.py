"""Client and settings for language models on chat-completions servers."""
