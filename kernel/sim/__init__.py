"""The deterministic simulator: the whole kernel, its clients, its disk and its mishaps in one run from one seed.

``python -m kernel sim --seeds 1..1000`` runs worlds and says which promise broke, if any; docs/simulator.md tells how to
read and repeat a failure.
"""
