"""FastMCP's client, which reads each answer by the tool's output schema."""

from contextlib import asynccontextmanager

from fastmcp import Client
from visit import Result, run


class Server:
    revision = None

    def __init__(self, client):
        self.client = client

    async def names(self):
        return [tool.name for tool in await self.client.list_tools()]

    async def call(self, tool, arguments):
        result = await self.client.call_tool(tool, arguments, raise_on_error=False)
        assert result.is_error or result.data is not None, f"{tool} was not read by its schema"
        return Result.of(result.content, result.structured_content, result.is_error)


@asynccontextmanager
async def connect(url, key):
    async with Client(url, auth=key) as client:
        yield Server(client)


run("fastmcp", connect)
