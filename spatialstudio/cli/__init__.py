"""Command line interface of the studio."""
