"""Parts that show one thing each; they know no session, no files, no models."""
