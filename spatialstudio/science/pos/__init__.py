"""PoS and PSE: projections, relation rules, attention maps."""
