"""What agents are given: tools over a memory, instructions that improve, chosen examples."""
