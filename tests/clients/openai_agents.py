"""The connection to MCP servers of the OpenAI Agents SDK."""

from contextlib import asynccontextmanager

from agents.mcp import MCPServerStreamableHttp
from visit import Result, headers, run


class Server:
    revision = None

    def __init__(self, server):
        self.server = server

    async def names(self):
        return [tool.name for tool in await self.server.list_tools()]

    async def call(self, tool, arguments):
        result = await self.server.call_tool(tool, arguments)
        return Result.of(result.content, result.structured_content, result.is_error)


@asynccontextmanager
async def connect(url, key):
    async with MCPServerStreamableHttp(name="loggia", params={"url": url, "headers": headers(key)}) as server:
        yield Server(server)


run("openai-agents", connect)
