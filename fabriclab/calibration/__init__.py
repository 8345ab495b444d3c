"""`fabriclab calibrate`: ten numbers of real hardware and of its model, the model's errors, and the fit of its
parameters."""

from __future__ import annotations

from fabriclab.calibration.calibrate import Calibration, calibrate

__all__ = ["Calibration", "calibrate"]
