"""``/emulator/*``: what a real kernel cannot give: faults, the clock, the trace, what was asked and is not served."""
