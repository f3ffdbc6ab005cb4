"""What the voice may call, one module per subject; `toolbox.Toolbox` holds one call's tools."""
