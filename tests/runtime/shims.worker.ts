import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

export default {
  fetch(): Response {
    const before = {} instanceof Client;
    const client = new Client({ name: "test", version: "1" });
    const transport = new StreamableHTTPClientTransport(new URL("http://127.0.0.1:1/mcp"));
    return Response.json({
      before,
      client: client instanceof Client,
      transport: transport instanceof StreamableHTTPClientTransport,
      crossed: client instanceof StreamableHTTPClientTransport,
      connects: typeof client.connect,
    });
  },
};
