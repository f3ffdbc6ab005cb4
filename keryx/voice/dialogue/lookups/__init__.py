"""Questions that are answered in the call itself, from the owner's mail and calendar: understood, and told aloud."""
