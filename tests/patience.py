"""How long tests wait for what is bound to come: longer than a busy machine takes."""

PATIENCE_S = 120.0
