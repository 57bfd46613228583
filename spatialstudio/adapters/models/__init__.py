"""Model folders: kinds, parts, hashes."""
