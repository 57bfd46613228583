"""Generic widgets, independent of session, files and models."""
