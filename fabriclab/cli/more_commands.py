"""The commands whose options lie in modules of their own, in the order of `fabriclab --help`."""

from __future__ import annotations

from fabriclab.cli.commands import (
    calibrate_options,
    compare_options,
    convert_options,
    doctor_options,
    figures_options,
    schema_options,
    sharing_options,
    studies_options,
    trust_options,
)
from fabriclab.cli.commands.live import change_options, look_options
from fabriclab.cli.commands.live import options as live

MORE = (
    *(
        doctor_options,
        compare_options,
        convert_options,
        sharing_options,
        figures_options,
        studies_options,
        schema_options,
        trust_options,
        calibrate_options,
    ),
    *(live, change_options, look_options),
)
