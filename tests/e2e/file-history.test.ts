import { afterAll, beforeAll, expect, test } from "vitest";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { send } from "../kit/wire.ts";

// Versions, reverts and branches over HTTP and with the client.

let host: HostProcess;

beforeAll(async () => {
  host = await startHostProcess();
});

afterAll(() => host?.stop());

test("versions are shown and reverted; a branch diverges and is merged back", async () => {
  const agent = await host.client.agents().create({ name: "keeper" });
  await agent.putFile("a.txt", "one\ntwo\nthree\n");
  await agent.putFile("a.txt", "one\n2\nthree\n");
  await agent.putFile("a.txt", "one\n2\nthree\nfour\n");
  const shown = await agent.version(2);
  expect(shown.diffs).toMatchObject([{ path: "a.txt", kind: "edit", added: 1, removed: 1 }]);
  expect(shown.diffs[0]?.diff).toContain("-two\n+2\n");
  const params = { agency: "global", agent: "keeper" };
  const request = (method: string, rest: string, body?: unknown) =>
    send({
      port: host.port,
      method,
      path: `/agents/keeper/${rest}`,
      headers: { authorization: `Bearer ${host.token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const post = (rest: string, body: unknown) => request("POST", rest, body);
  const dryRun = await post("revert", { version: 2, dryRun: true });
  expect([dryRun.status, JSON.parse(dryRun.body)]).toEqual([
    200,
    { changes: [{ path: "a.txt", kind: "edit" }], overlaps: [] },
  ]);
  const reverted = await post("revert", { version: 2 });
  expect([reverted.status, JSON.parse(reverted.body).version]).toEqual([
    201,
    expect.objectContaining({ id: 4, reverts: [2] }),
  ]);
  expect((await agent.file("a.txt")).text()).toBe("one\ntwo\nthree\nfour\n");
  expect((await post("revert", {})).status).toBe(400);
  expect((await post("revert", { version: 1, turn: "x" })).status).toBe(400);
  expect((await post("revert", { turn: "nobody" })).status).toBe(404);
  await expect(agent.version(99)).rejects.toMatchObject({ code: "not_found" });
  expect((await request("GET", "versions/0")).status).toBe(400);
  expect((await request("GET", "versions/x")).status).toBe(400);

  const branch = await agent.createBranch({ name: "try" });
  expect(branch).toMatchObject({ id: "try", from: "main", by: { kind: "user", user: "owner" }, changed: 0 });
  await agent.putFile("a.txt", "ONE\ntwo\nthree\nfour\n", { branch: "try" });
  await agent.putFile("b.txt", "b", { branch: "try" });
  await agent.putFile("a.txt", "one\ntwo\nthree\nFOUR\n");
  expect((await agent.file("a.txt", { branch: "try" })).text()).toBe("ONE\ntwo\nthree\nfour\n");
  expect((await agent.branches())[0]).toMatchObject({ id: "try", changed: 2 });
  expect((await agent.mergeBranch("try", { dryRun: true })).version).toBeUndefined();
  const merged = await agent.mergeBranch("try");
  expect(merged).toMatchObject({ version: { merges: "try" }, overlaps: [] });
  expect([(await agent.file("a.txt")).text(), (await agent.file("b.txt")).text()]).toEqual([
    "ONE\ntwo\nthree\nFOUR\n",
    "b",
  ]);
  await agent.deleteBranch("try");
  await expect(agent.file("a.txt", { branch: "try" })).rejects.toMatchObject({ code: "not_found" });
  await expect(agent.deleteBranch("main")).rejects.toMatchObject({ code: "conflict" });
  expect((await host.client.call("createBranch", { params })).id).toBe("branch-1");
});
