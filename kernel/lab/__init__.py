"""The laboratory: run a client against a kernel whose faults are planned, and judge what the client did."""
