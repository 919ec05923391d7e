import { type AgentTarget, type FileInfo, isThinkeryError } from "@thinkery/sdk";
import { type Client, persist } from "@thinkery/sdk/client";
import type { Remote } from "./sync-remote.ts";

const pageSize = 500;
/** A host that is away is asked again this often. */
const retryMs = 1000;

interface HostRemoteOptions {
  /** Which one that is may change: a host that is started again may be elsewhere. */
  client(): Client;
  target: AgentTarget;
  branch: string | undefined;
}

/** An agent's workspace, by its host. */
export function createHostRemote({ client, target, branch }: HostRemoteOptions): Remote {
  const getAgent = () => client().agent(`${target.agent}@${target.agency}`);
  const branchQuery = branch === undefined ? {} : { branch };
  /** When the agent and the branch were made: others of the same names were made at another time. */
  const readIdentity = async () => {
    const { createdAt } = await persist((signal) => client().call("getAgent", { params: target, signal }), {
      retryTimeoutMs: retryMs,
    });
    return branch === undefined
      ? createdAt
      : `${createdAt} ${(await getAgent().branches()).find(({ id }) => id === branch)?.createdAt}`;
  };
  let known: { workspace: string; version: number; files: FileInfo[] } | undefined;

  return {
    async list() {
      const { files, version, next } = await getAgent().files({ ...branchQuery, limit: pageSize });
      // Asked afterwards: a list of what was there before is then never taken for one of what has come in its place.
      const workspace = await readIdentity();
      if (known?.workspace === workspace && known.version === version) return known;
      for (let after = next; after !== undefined;) {
        // A list that is long is still a list of one moment.
        const page = await getAgent().files({ ...branchQuery, limit: pageSize, version, after });
        files.push(...page.files);
        after = page.next;
      }
      known = { workspace, version, files };
      return known;
    },

    get: async (path) => (await getAgent().file(path, branchQuery)).bytes,

    async put(path, bytes, condition) {
      await getAgent().putFile(path, bytes, { ...branchQuery, ...condition });
    },

    edit(edits, base) {
      const body = edits.map((edit) =>
        "write" in edit ? { write: edit.write, base64: Buffer.from(edit.bytes).toString("base64") } : edit,
      );
      return getAgent().editFiles(body, { ...branchQuery, base });
    },

    async watch(onChange, signal) {
      while (!signal.aborted) {
        try {
          for await (const { type } of getAgent().events({ signal })) if (type === "files.changed") onChange();
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
