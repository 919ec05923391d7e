import { type AgentTarget, type FileInfo, isThinkeryError } from "@thinkery/sdk";
import { type Client, withRetry } from "@thinkery/sdk/client";
import { wait } from "../wait.ts";
import type { Remote } from "./sync-remote.ts";

const pageSize = 500;
/** Delay before reconnecting to an unavailable host. */
const retryMs = 1000;

interface HostRemoteOptions {
  /** Returns the current client: a restarted host may have another address. */
  client(): Client;
  target: AgentTarget;
  branch: string | undefined;
}

/** Accesses an agent's workspace through its host. */
export function createHostRemote({ client, target, branch }: HostRemoteOptions): Remote {
  const getAgent = () => client().agent(`${target.agent}@${target.agency}`);
  const branchQuery = branch === undefined ? {} : { branch };
  /** Returns when the agent and the branch were created; this differs for a new one with the same name. */
  const readIdentity = async () => {
    const { createdAt } = await withRetry((signal) => client().call("getAgent", { params: target, signal }), {
      retryTimeoutMs: retryMs,
    });
    return branch === undefined
      ? createdAt
      : `${createdAt} ${(await getAgent().branches()).find(({ id }) => id === branch)?.createdAt}`;
  };
  let cached: { workspace: string; version: number; files: FileInfo[] } | undefined;

  return {
    async list() {
      const { files, version, next } = await getAgent().files({ ...branchQuery, limit: pageSize });
      // Read after the list, so that the files of a replaced agent are never attributed to its successor.
      const workspace = await readIdentity();
      if (cached?.workspace === workspace && cached.version === version) return cached;
      for (let after = next; after !== undefined;) {
        // All pages are read at the same version.
        const page = await getAgent().files({ ...branchQuery, limit: pageSize, version, after });
        files.push(...page.files);
        after = page.next;
      }
      cached = { workspace, version, files };
      return cached;
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
        // Events were missed while disconnected.
        await wait(retryMs, signal);
        onChange();
      }
    },
  };
}
