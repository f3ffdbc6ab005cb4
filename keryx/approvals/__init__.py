"""Who may decide what an agent does: the mode of its task, and beyond that whoever can be asked."""

from keryx.approvals.modes import Decision, ModeApprover, Verdict, decide

__all__ = ["Decision", "ModeApprover", "Verdict", "decide"]
