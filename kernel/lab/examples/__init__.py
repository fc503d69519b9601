"""Example clients of the laboratory: one naive, one careful, and stories for the official SDKs."""
