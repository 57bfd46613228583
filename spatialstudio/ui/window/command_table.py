"""The table of all commands, in the order of menus and palette."""

from spatialstudio.ui.audit import commands as audit_commands
from spatialstudio.ui.benchmark import commands as benchmark_commands
from spatialstudio.ui.compose import commands as compose_commands
from spatialstudio.ui.evaluate import commands as evaluate_commands
from spatialstudio.ui.framework import commands as framework_commands
from spatialstudio.ui.gallery import commands as gallery_commands
from spatialstudio.ui.inspect import commands as inspect_commands
from spatialstudio.ui.inspect import replay_commands
from spatialstudio.ui.models import commands as models_commands
from spatialstudio.ui.refine import commands as refine_commands
from spatialstudio.ui.run import commands as run_commands

TABLE = (
    *framework_commands.COMMANDS,
    *compose_commands.COMMANDS,
    *run_commands.COMMANDS,
    *models_commands.COMMANDS,
    *inspect_commands.COMMANDS,
    *replay_commands.COMMANDS,
    *evaluate_commands.COMMANDS,
    *refine_commands.COMMANDS,
    *benchmark_commands.COMMANDS,
    *gallery_commands.COMMANDS,
    *audit_commands.COMMANDS,
    *framework_commands.LAST_COMMANDS,
)
