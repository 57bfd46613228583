"""Exports of runs: figures, films, tables, arrays, bundles and reports."""
