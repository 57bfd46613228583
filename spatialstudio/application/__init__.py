"""Application layer: use cases of the studio, without Qt or torch."""
