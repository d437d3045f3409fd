"""
The MCP server: a user's memory as tools, resources and prompts for any MCP client.

A client sees one set of tools (`tool_sets`): Recollect's own (`recollect_tools`), those of the
official memory server (`graph_tools`), or OpenMemory's (`openmemory_tools`).
"""
