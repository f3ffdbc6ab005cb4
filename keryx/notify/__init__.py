"""How a result reaches the owner: into a live call, or with the next one's opening words."""
