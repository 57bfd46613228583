"""The world outside, behind the ports of the domain; plugin.toml lists all built-ins."""
