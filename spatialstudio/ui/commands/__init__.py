"""Everything the user can do, in one table; menus, keys, tips, palette and sheet come from it."""
