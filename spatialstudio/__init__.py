"""Spatial Studio: prompt-driven spatial image generation, inspected and judged."""

import sys

if sys.argv[:1] == ["-m"]:  # Python looks for the module to run, in the current folder first
    from spatialstudio.domain.search_paths import leave_out_current_folder

    leave_out_current_folder()
