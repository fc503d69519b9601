"""The simulator's bounds, with units. Holds no behaviour."""

from __future__ import annotations

from typing import Final

CLIENTS_MIN: Final = 3
CLIENTS_MAX: Final = 6
OPERATIONS_MIN: Final = 30
OPERATIONS_MAX: Final = 60
FAULTS_MIN: Final = 1
FAULTS_MAX: Final = 4
# A burst of this size does not fit into what may be admitted at once.
BURST_REQUESTS: Final = 140
# Virtual seconds after which a world that has not come to an end is stuck.
WORLD_S_MAX: Final = 200_000.0
# Virtual seconds a client waits for one answer: longer than any bound of the kernel's own.
ANSWER_S_MAX: Final = 7_200.0
# Kernels started in one world: the first one, and one after each crash.
STARTS_MAX: Final = 6
# What a power cut keeps or loses of a write goes by sectors.
SECTOR_BYTES: Final = 512
SEEDS_MAX: Final = 10_000_000
SHRINK_RUNS_MAX: Final = 400
# A client uses a connection again that was silent for less than this: the server closes it after its own IDLE_S_MAX.
CLIENT_IDLE_S_MAX: Final = 60.0

# --- many worlds -------------------------------------------------------------------------------------------------
# Seeds that a process, or a worker of a cluster, takes at once.
SEEDS_PER_SHARD: Final = 8
# Shards handed to a cluster and not yet back: more than any cluster of ours has threads.
SHARDS_WAITING_MAX: Final = 1024
# How long a cluster's scheduler may take to answer, in seconds.
CLUSTER_ANSWER_S_MAX: Final = 10.0
