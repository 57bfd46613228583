"""The terminal: the studio for scripts, servers and people who like to type."""
