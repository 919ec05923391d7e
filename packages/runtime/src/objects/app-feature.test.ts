import { type StoredApp, ToolError, type ToolErrorCode } from "@thinkery/sdk";
import { expect, test } from "vitest";
import type { App } from "../sandbox/run.ts";
import type { NestedSandbox, SandboxRunOptions, Sandbox } from "../sandbox/sandbox.ts";
import { packApp } from "../store/app-source.ts";
import { AppFeature } from "./app-feature.ts";

const limits = {
  timeoutSeconds: 7,
  maxTimeoutSeconds: 300,
  queueTimeoutSeconds: 300,
  stallTimeoutSeconds: 20,
  memoryMb: 128,
  runs: 250,
};

/** An agent whose app runs in a mock sandbox. */
function createFeature(serve: (app: App, request: Request, options: SandboxRunOptions) => Promise<Response>) {
  const stored = new Map<string, Uint8Array>([["b1", packApp({ code: "one", modules: { "a.ts": "two" } })]]);
  const reads: string[] = [];
  let app: StoredApp | undefined = {
    version: "v1",
    blob: "b1",
    main: "main.ts",
    modules: ["a.ts"],
    bytes: 6,
    by: "owner",
    updatedAt: "2026-11-15T00:00:00.000Z",
  };
  const agentApp = new AppFeature({
    address: { agency: "global", path: ["alice"] },
    sandboxKey: "global~alice",
    store: { facts: { getApp: () => app } } as never,
    blobs: { get: async (hash: string) => (reads.push(hash), stored.get(hash)) } as never,
    recorder: {} as never,
    sandbox: () => ({ limits, serve }) as unknown as Sandbox,
  });
  return {
    agentApp,
    reads,
    change: (next: Partial<StoredApp> | undefined) => (app = next && app && { ...app, ...next }),
  };
}

const request = () => new Request("http://app/");

test("the sandbox receives the app with all its modules, the agent's key and the limits", async () => {
  let seen: [App, SandboxRunOptions] | undefined;
  const { agentApp } = createFeature(
    async (app, _, options) => (
      (seen = [app, options]),
      new Response("well", { status: 201, headers: { "x-thinkery-app": "fake" } })
    ),
  );
  const response = await agentApp.fetch(request());
  expect([response.status, await response.text(), response.headers.get("x-thinkery-app")]).toEqual([201, "well", "v1"]);
  expect(seen?.[0]).toEqual({
    id: "global~alice.v1.1794700800000",
    main: "main.ts",
    modules: { "main.ts": "one", "a.ts": "two" },
  });
  expect(seen?.[1]).toMatchObject({ agent: "global~alice", timeoutMs: 7000, waitMs: 10_000 });
});

test("the code is read once, and again after an update, which is another app to the sandbox", async () => {
  const ids: string[] = [];
  const { agentApp, reads, change } = createFeature(async ({ id }) => (ids.push(id), new Response()));
  await agentApp.fetch(request());
  await agentApp.fetch(request());
  expect([reads, new Set(ids).size]).toEqual([["b1"], 1]);
  change({ updatedAt: "2026-11-16T00:00:00.000Z" });
  await agentApp.fetch(request());
  expect([reads, new Set(ids).size]).toEqual([["b1", "b1"], 2]);
  change({ version: "v2", blob: "gone" });
  await expect(agentApp.fetch(request())).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("Put it again"),
  });
  change(undefined);
  await expect(agentApp.fetch(request())).rejects.toMatchObject({ code: "not_found" });
});

test.each<ToolErrorCode>(["timeout", "limit", "sandbox_lost", "no_sandbox"])(
  "a sandbox failure with %s is reported as unavailable",
  async (errorCode) => {
    const { agentApp } = createFeature(() => Promise.reject(new ToolError(errorCode, "It is gone.")));
    await expect(agentApp.fetch(request())).rejects.toMatchObject({
      code: "unavailable",
      message: "The app did not respond. It is gone.",
    });
  },
);

test("an app can only use echo", async () => {
  const { agentApp } = createFeature(async (_, __, { call }) => {
    const results = await Promise.allSettled(
      ["echo", "tools.set_title", "fetch", "echo.x", "constructor"].map((name) =>
        call(name, '{"a":1}', {} as NestedSandbox),
      ),
    );
    return Response.json(
      results.map((result) => (result.status === "fulfilled" ? result.value : (result.reason as Error).message)),
    );
  });
  expect(await (await agentApp.fetch(request())).json()).toEqual([
    '{"a":1}',
    "Apps cannot call tools, because tool calls need a turn.",
    expect.stringContaining("“fetch”"),
    expect.stringContaining("“echo.x”"),
    expect.stringContaining("“constructor”"),
  ]);
});

test("erasing an agent aborts the requests of its app", async () => {
  const { agentApp } = createFeature(
    (_, __, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error))),
  );
  const response = agentApp.fetch(request());
  await new Promise((resolve) => setTimeout(resolve));
  agentApp.halt();
  await expect(response).rejects.toMatchObject({ code: "not_found" });
});
