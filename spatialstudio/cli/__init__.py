"""The terminal: commands that know only the application."""
