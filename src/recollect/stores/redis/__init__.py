"""The store on a Redis server: one primary for many machines."""
