import { fail, type Invoke, type Sender } from "@thinkery/sdk";
import type { Credential } from "../objects/credential-watch.ts";
import type { Env } from "../objects/env.ts";
import type { CallableFeature } from "../objects/feature-call.ts";

type ThinkStub = ReturnType<Env["Think"]["getByName"]>;

/**
 * Creates a stub of a sub-agent. Every call goes through its root agent, and each agent on the way checks that it has
 * the next one. A sub-agent works on the files of its root agent, possibly on a branch.
 */
export async function createChildStub(root: ThinkStub, sub: readonly string[]) {
  const createFeature = <Feature extends CallableFeature>(feature: Feature) =>
    new Proxy({} as ThinkStub[Feature], {
      get(_, method) {
        if (typeof method !== "string" || method === "then") return undefined;
        // The root agent ends a stream with the credentials of its reader.
        if (method === "followEvents") {
          return (after?: number, progress?: boolean, credentials?: Credential[]) =>
            root.callChild([...sub], { feature, method, args: [after, progress] }, credentials);
        }
        if (method === "converse") {
          return (invoke: Invoke, from: Sender, agent: string, credentials?: Credential[]) =>
            root.callChild([...sub], { feature, method, args: [invoke, from, agent] }, credentials);
        }
        return (...args: unknown[]) => root.callChild([...sub], { feature, method, args });
      },
    });
  const conversation = createFeature("conversation");
  // Also for what is answered by the root agent.
  await conversation.getAgent();
  return {
    conversation,
    subagents: createFeature("subagents"),
    taskGraph: createFeature("taskGraph"),
    storage: createFeature("storage"),
    waits: createFeature("waits"),
    code: createFeature("code"),
    files: openBranchFiles(root, sub),
    get schedules(): ThinkStub["schedules"] {
      throw fail("not_found", "A sub-agent has no schedules. Use those of its root agent.");
    },
    get app(): ThinkStub["app"] {
      throw fail("not_found", "A sub-agent has no app.");
    },
    get webhooks(): ThinkStub["webhooks"] {
      throw fail("not_found", "A sub-agent has no webhooks. Its root agent can have some, and pass on what arrives.");
    },
    get fetchApp(): ThinkStub["fetchApp"] {
      throw fail("not_found", "A sub-agent has no app.");
    },
  };
}

/** The position of the argument that can name a branch, by method. */
const branchArguments = new Map(
  Object.entries({
    list: 0,
    read: 1,
    write: 2,
    edit: 1,
    delete: 1,
    readArchive: 0,
    writeArchive: 1,
    listVersions: 0,
    revert: 0,
  }),
);

/** The files of the root agent, of a sub-agent's branch unless a request names another. */
function openBranchFiles(root: ThinkStub, sub: readonly string[]): ThinkStub["files"] {
  return new Proxy({} as ThinkStub["files"], {
    get(_, method) {
      if (typeof method !== "string" || method === "then") return undefined;
      return async (...args: unknown[]) => {
        const { files } = root;
        const call = (files as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>)[method];
        const position = branchArguments.get(method);
        const options = position === undefined ? undefined : (args[position] as { branch?: string } | undefined);
        if (position !== undefined && options?.branch === undefined) {
          const branch = await files.findBranch(sub);
          if (branch !== undefined) args[position] = { ...options, branch };
        }
        return call?.(...args);
      };
    },
  });
}
