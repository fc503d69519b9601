"""[core] Bringing notes in: folders of Markdown, and archives of exported documents."""
