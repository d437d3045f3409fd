"""The store on a PostgreSQL server: one database for many machines."""
