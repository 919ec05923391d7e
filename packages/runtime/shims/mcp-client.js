// The Agents SDK imports the MCP client for agents that have MCP servers. Its hundreds of schemas are a third of the
// time main needs to start, so they are made when the first client is.
let loaded;
const load = () => (loaded ??= require("@modelcontextprotocol/client"));

const later = (name) =>
  class {
    constructor(...input) {
      return new (load()[name])(...input);
    }
    static [Symbol.hasInstance](value) {
      return loaded !== undefined && value instanceof loaded[name];
    }
  };

export const Client = later("Client");
export const SSEClientTransport = later("SSEClientTransport");
export const StreamableHTTPClientTransport = later("StreamableHTTPClientTransport");
export const SdkHttpError = later("SdkHttpError");
export const validateClientMetadataUrl = (...input) => load().validateClientMetadataUrl(...input);
