"""LangChain's adapters, which open a connection for each call and show a model the content."""

from contextlib import asynccontextmanager

from langchain_mcp_adapters.client import MultiServerMCPClient
from visit import Result, headers, run


class Server:
    revision = None

    def __init__(self, tools):
        self.tools = {tool.name: tool for tool in tools}

    async def names(self):
        return list(self.tools)

    async def call(self, tool, arguments):
        request = {"type": "tool_call", "id": "1", "name": tool, "args": arguments}
        message = await self.tools[tool].ainvoke(request)
        content = message.content if isinstance(message.content, list) else [{"type": "text", "text": message.content}]
        texts = [item["text"] for item in content if item["type"] == "text"]
        pictures = [(item["mime_type"], item["base64"]) for item in content if item["type"] == "image"]
        structured = (message.artifact or {}).get("structured_content")
        return Result(texts, pictures, structured, message.status == "error")


@asynccontextmanager
async def connect(url, key):
    connection = {"transport": "streamable_http", "url": url, "headers": headers(key)}
    yield Server(await MultiServerMCPClient({"loggia": connection}).get_tools())


run("langchain-mcp-adapters", connect)
