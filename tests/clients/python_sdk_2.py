"""The Python SDK, version 2, which validates structured content against the tools' output schemas."""

from contextlib import asynccontextmanager

from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from visit import Result, headers, run


class Server:
    def __init__(self, client):
        self.client, self.revision = client, client.protocol_version

    async def names(self):
        return [tool.name for tool in (await self.client.list_tools()).tools]

    async def call(self, tool, arguments):
        result = await self.client.call_tool(tool, arguments)
        return Result.of(result.content, result.structured_content, result.is_error)


@asynccontextmanager
async def connect(url, key):
    # Without headers of its own the client takes the bare address.
    async with create_mcp_http_client(headers=headers(key)) as http:
        async with Client(streamable_http_client(url, http_client=http) if key else url) as client:
            yield Server(client)


run("mcp", connect)
