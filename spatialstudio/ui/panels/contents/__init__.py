"""A session, turned into what widgets show."""
