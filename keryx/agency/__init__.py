"""From the settings to the agents: which there are, how each stands, and what each is handed."""
