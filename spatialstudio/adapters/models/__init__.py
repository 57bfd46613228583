"""Model folders: kinds, parts, settings, hashes and limits."""
