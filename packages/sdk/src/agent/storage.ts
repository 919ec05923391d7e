import type { AgentStorage } from "./definition.ts";
import type { HostClient } from "./host-client.ts";
import { toJson } from "./json.ts";

export function createStorage(host: HostClient): AgentStorage {
  return {
    get: async <T>(key: string) => (await host.call("storage.get", { key })).value as T | undefined,
    set: async (key, value) => host.call("storage.set", { key, value: toJson(value, `The value of “${key}”`) }),
    delete: async (key) => (await host.call("storage.delete", { key })).existed,
    list: (options = {}) => host.call("storage.list", options),
  };
}
