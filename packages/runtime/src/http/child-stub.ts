import { fail, type Invoke, type Sender } from "@thinkery/sdk";
import type { Credential } from "../objects/credential-watch.ts";
import type { Env } from "../objects/env.ts";
import type { CallableFeature } from "../objects/feature-call.ts";

type ThinkStub = ReturnType<Env["Think"]["getByName"]>;

/**
 * Creates a stub of a sub-agent. Every call goes through its root agent, and each agent on the way checks that it has
 * the next one. A sub-agent works on the files of its root agent.
 */
export async function createChildStub(root: ThinkStub, sub: readonly string[]) {
  const createFeature = <Feature extends CallableFeature>(feature: Feature) =>
    new Proxy({} as ThinkStub[Feature], {
      get(_, method) {
        if (typeof method !== "string" || method === "then") return undefined;
        // The root agent ends a stream with the credential of its reader.
        if (method === "followEvents") {
          return (after?: number, progress?: boolean, credential?: Credential) =>
            root.callChild([...sub], { feature, method, args: [after, progress] }, credential);
        }
        if (method === "converse") {
          return (invoke: Invoke, from: Sender, agent: string, credential?: Credential) =>
            root.callChild([...sub], { feature, method, args: [invoke, from, agent] }, credential);
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
    files: root.files,
    get app(): ThinkStub["app"] {
      throw fail("not_found", "A sub-agent has no app.");
    },
    get fetchApp(): ThinkStub["fetchApp"] {
      throw fail("not_found", "A sub-agent has no app.");
    },
  };
}
