"""Finds widgets as people do who hear the window: by what they are called."""


def named(parent, kind, name):
    """Return the first widget of a kind with an accessible name."""
    return next(each for each in parent.findChildren(kind) if each.accessibleName() == name)
