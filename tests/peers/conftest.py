"""What runs in environments of its own."""

collect_ignore = ["torch_on_attnlib.py"]
