import { isThinkeryError } from "@thinkery/sdk";
import type { AgentHandle } from "@thinkery/sdk/client";
import type { Remote } from "./sync-remote.ts";

const pageSize = 500;
/** A host that is away is asked again this often. */
const retryMs = 1000;

/** An agent's workspace, by its host. Which one that is may change: a host that is started again may be elsewhere. */
export function remoteOf(agent: () => AgentHandle): Remote {
  return {
    async list() {
      const first = await agent().files({ limit: pageSize });
      const { version, files } = first;
      for (let { next } = first; next !== undefined; ) {
        // A list that is long is still a list of one moment.
        const page = await agent().files({ limit: pageSize, version, after: next });
        files.push(...page.files);
        next = page.next;
      }
      return { version, files };
    },

    get: async (path) => (await agent().file(path)).bytes,

    async put(path, bytes, condition) {
      await agent().putFile(path, bytes, condition);
    },

    edit(edits, base) {
      const body = edits.map((edit) => ("write" in edit ? { write: edit.write, base64: Buffer.from(edit.bytes).toString("base64") } : edit));
      return agent().editFiles(body, { base });
    },

    async watch(onChange, signal) {
      while (!signal.aborted) {
        try {
          for await (const { type } of agent().events({ signal })) if (type === "files.changed") onChange();
        } catch (error) {
          if (signal.aborted) return;
          if (!isThinkeryError(error) || error.code !== "unavailable") throw error;
        }
        // What was said meanwhile was not heard.
        await wait(retryMs, signal);
        onChange();
      }
    },
  };
}

/** Comes back early, and does not complain, when the signal fires. */
export function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end, { once: true });
  });
}
