import type { Channel } from "./definition.ts";
import type { HostClient } from "./host-client.ts";
import { toJson } from "./json.ts";
import type { Outbox } from "./outbox.ts";
import { unwrapResult } from "./tool-list.ts";

/** Replies that were written before take effect first. */
export function createChannel(host: HostClient, outbox: Outbox): Channel {
  return {
    async send(content) {
      await outbox.flush();
      return host.call("channel.send", { content });
    },
    async update(id, text) {
      await outbox.flush();
      return host.call("channel.update", { id, text });
    },
    async complete(id) {
      await outbox.flush();
      return host.call("channel.complete", { id });
    },
    async callTool(name, args = {}) {
      const input = toJson(args, `The arguments of ${name}`);
      return unwrapResult(name, await host.call("channel.callTool", { name, input }));
    },
  };
}
