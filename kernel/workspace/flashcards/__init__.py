"""[core] Flashcards: when a card is due again, decks as they lie on disk, what is to be reviewed."""
