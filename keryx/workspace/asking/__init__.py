"""One question to Google: the connection it goes over, and what each fault means."""
