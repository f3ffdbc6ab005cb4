"""The tools of the workspace server: what each takes, does, shows to a model and says to the owner."""
