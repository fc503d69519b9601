"""/api/av: databases (siyuan-api A12; kernel-facts 9, 13, 26)."""
