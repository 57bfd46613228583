"""Workspaces: which docks, tools and overlays are in sight around the one stage."""
