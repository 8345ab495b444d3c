"""`fabriclab calibrate`: ten numbers of real hardware and of its model, the model's errors, and the fit of its
parameters."""
