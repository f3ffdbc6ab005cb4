"""Mail read and written: from what Gmail hands over to text, and from a letter to what goes out, once."""
