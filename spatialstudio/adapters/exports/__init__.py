"""Exports: figures, films, tables, arrays, bundles and reports made of runs."""
