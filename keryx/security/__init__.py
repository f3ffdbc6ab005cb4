"""Who may do what, and what must never be shown: PINs, tokens, redaction."""
