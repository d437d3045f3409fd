"""The MCP server: the memory of a user as tools, resources and prompts for any MCP client."""
