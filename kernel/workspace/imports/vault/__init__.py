"""[core] Obsidian vaults: what their notes say, where their links lead, and the notebook they become."""
