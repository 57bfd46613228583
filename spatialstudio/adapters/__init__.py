"""Implementations of the domain's ports; plugin.toml lists the built-in ones."""
