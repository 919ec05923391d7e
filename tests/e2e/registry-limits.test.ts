import { startHost, type TestHost } from "@thinkery/sdk/test";
import { afterAll, beforeAll, expect, test } from "vitest";

// What a user may store without naming an agent, so that lists of it stay short.

let host: TestHost;

beforeAll(async () => {
  host = await startHost();
}, 60_000);

afterAll(() => host?.stop());

/** Calls `create` until it fails. Returns how often it succeeded, and the error. */
async function repeat(create: (index: number) => Promise<unknown>, max: number) {
  for (let index = 0; index < max; index += 20) {
    const results = await Promise.allSettled(Array.from({ length: 20 }, (_, offset) => create(index + offset)));
    const failed = results.find((result) => result.status === "rejected");
    const succeeded = results.filter(({ status }) => status === "fulfilled").length;
    if (failed) return { count: index + succeeded, error: failed.reason as { code: string } };
  }
  return { count: max, error: undefined };
}

test("the blueprints of an agency have at most 4,000,000 characters together", async () => {
  const put = (index: number, prompt: string) => {
    const name = `large-${index}`;
    return host.client.call("putBlueprint", {
      params: { agency: "global" },
      body: { name, prompt },
    });
  };
  const prompt = "p".repeat(99_000);
  const { count, error } = await repeat((index) => put(index, prompt), 100);
  expect([count, error]).toEqual([40, expect.objectContaining({ code: "too_large" })]);
  const { blueprints } = await host.client.call("listBlueprints", { params: { agency: "global" } });
  expect(JSON.stringify(blueprints).length).toBeLessThan(4_500_000);
  // One that is replaced no longer counts, nor one that was deleted.
  await put(0, "q".repeat(100_000));
  await expect(put(1000, prompt)).rejects.toMatchObject({ code: "too_large" });
  await host.client.call("deleteBlueprint", { params: { agency: "global", name: "large-1" } });
  await put(1000, prompt);
});

test("a user has at most 1,000 tokens, of which revoked ones do not count", async () => {
  const create = () => host.client.call("createToken", { body: { name: "t", user: "ada" } });
  const { count, error } = await repeat(create, 1200);
  expect([count, error]).toEqual([1000, expect.objectContaining({ code: "conflict" })]);
  const { tokens } = await host.client.call("listTokens", { query: { user: "ada" } });
  expect(tokens).toHaveLength(1000);
  await host.client.call("revokeToken", { params: { id: tokens[0]!.id } });
  await create();
}, 60_000);

test("of more than 1,000 login links, the latest work", async () => {
  const create = () => host.client.call("createLoginCode", { body: { user: "bea" } });
  const login = (code: string) =>
    fetch(`${host.url}/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code }),
    });
  const first = await create();
  expect((await repeat(create, 1000)).error).toBeUndefined();
  const last = await create();
  expect([(await login(first.code)).status, (await login(last.code)).status]).toEqual([401, 200]);
}, 60_000);
