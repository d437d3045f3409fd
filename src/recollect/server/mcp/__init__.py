"""The MCP server: a user's memory as tools, resources and prompts for any MCP client."""
