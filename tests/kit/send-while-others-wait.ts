import { createClient } from "@thinkery/sdk/client";
import type { TestHost } from "@thinkery/sdk/test";
import type { ExpensiveRequest } from "./expensive-request.ts";

/** What somebody else does in the meantime, one after the other. */
export type Probes = Record<string, () => Promise<unknown>>;

interface Wait {
  /** How many were answered, and the longest time one took. */
  answers: number;
  maxWaitMs: number;
}

interface Waits {
  statuses: number[];
  totalMs: number;
  waits: Record<string, Wait>;
}

/** Creates another user with an agent of their own, who asks for its files and changes them. */
export async function createBystander({ client, url }: Pick<TestHost, "client" | "url">): Promise<Probes> {
  const { token } = await client.call("createToken", { body: { name: "t", user: "bystander", scopes: ["chat"] } });
  const bystander = createClient({ url, token, retryTimeoutMs: 0 });
  await bystander.agents().create({ name: "small" });
  const agent = bystander.agent("small");
  let count = 0;
  const write = () => agent.putFile("a.txt", `text ${count++}`);
  await write();
  return {
    health: async () => (await fetch(`${url}/health`)).arrayBuffer(),
    list: () => agent.files(),
    read: () => agent.file("a.txt"),
    write,
  };
}

/** Sends a request several times at once, while somebody else goes on working. */
export async function sendWhileOthersWait(
  { url }: Pick<TestHost, "url">,
  token: string,
  request: ExpensiveRequest,
  { atOnce, probes }: { atOnce: number; probes: Probes },
): Promise<Waits> {
  const { agent, method } = request;
  const path = typeof request.path === "function" ? request.path() : request.path;
  const body: unknown = typeof request.body === "function" ? request.body() : request.body;
  const target = path.startsWith("/") ? url + path : `${url}/agents/${agent}/${path}`;
  const isRaw = body === undefined || body instanceof Uint8Array || typeof body === "string";
  const payload = isRaw ? body : JSON.stringify(body);
  const send = async () => {
    const response = await fetch(target, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(payload === undefined
          ? {}
          : { "content-type": typeof payload === "string" ? "application/json" : "application/zip" }),
      },
      ...(payload === undefined ? {} : { body: payload as BodyInit }),
    });
    await response.arrayBuffer();
    return response.status;
  };
  const startedAt = performance.now();
  let isDone = false;
  const sent = Promise.all(Array.from({ length: atOnce }, send)).finally(() => (isDone = true));
  const waits: Waits["waits"] = {};
  while (!isDone) {
    for (const [name, probe] of Object.entries(probes)) {
      const askedAt = performance.now();
      await probe();
      const wait = (waits[name] ??= { answers: 0, maxWaitMs: 0 });
      wait.maxWaitMs = Math.max(wait.maxWaitMs, performance.now() - askedAt);
      wait.answers++;
    }
  }
  return { statuses: await sent, totalMs: performance.now() - startedAt, waits };
}
