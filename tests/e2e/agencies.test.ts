import { createClient } from "@thinkery/sdk/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createHomePath, type HostProcess, startHostProcess, removeHome } from "../kit/host-process.ts";

let host: HostProcess;

beforeAll(async () => {
  host = await startHostProcess();
});

afterAll(() => host?.stop());

const listIds = async (client = host.client) => (await client.call("listAgencies")).agencies.map((agency) => agency.id);

test("the global agency exists from the start and cannot be deleted", async () => {
  expect(await listIds()).toEqual(["global"]);
  await expect(host.client.call("deleteAgency", { params: { agency: "global" } })).rejects.toMatchObject({
    code: "conflict",
  });
});

test("an agency's id is the given one, derived from its name, or random", async () => {
  expect(await host.client.call("createAgency", { body: { id: "review:pr-123" } })).toMatchObject({
    id: "review:pr-123",
    owner: "owner",
  });
  expect(await host.client.call("createAgency", { body: { name: "Night Shift!" } })).toMatchObject({
    id: "night-shift",
    name: "Night Shift!",
  });
  const { id } = await host.client.call("createAgency", { body: {} });
  expect(id).toMatch(/^agency-[0-9a-f]{6}$/);
  expect(await listIds()).toEqual(["global", "night-shift", "review:pr-123", id].sort());
});

test("a taken or invalid id is rejected", async () => {
  await expect(host.client.call("createAgency", { body: { id: "global" } })).rejects.toMatchObject({
    code: "conflict",
  });
  await expect(host.client.call("createAgency", { body: { id: "GLOBAL" } })).rejects.toMatchObject({
    code: "conflict",
  });
  for (const id of ["a/b", "a:b:c", "~", "", ":x", "x:", "ä"]) {
    await expect(host.client.call("createAgency", { body: { id } })).rejects.toMatchObject({ code: "bad_request" });
  }
});

test("users cannot list, access, delete or take over each other's agencies", async () => {
  await host.client.call("createAgency", { body: { id: "secret" } });
  const { token } = await host.client.call("createToken", { body: { name: "bob's", user: "bob", scopes: ["admin"] } });
  const bob = createClient({ url: host.url, token });
  expect(await listIds(bob)).toEqual(["bob"]);
  await bob.call("createAgency", { body: { id: "bobs" } });
  expect(await listIds(bob)).toEqual(["bob", "bobs"]);
  expect(await listIds()).not.toContain("bobs");
  await expect(bob.call("listAgents", { params: { agency: "secret" } })).rejects.toMatchObject({ code: "not_found" });
  await expect(bob.call("deleteAgency", { params: { agency: "secret" } })).rejects.toMatchObject({ code: "not_found" });
  expect(await listIds(bob)).toEqual(["bob", "bobs"]);
  expect(await listIds()).toContain("secret");
});

test("agencies and agents survive a host restart", async () => {
  const home = await createHomePath();
  const first = await startHostProcess({ home });
  await first.client.call("createAgency", { body: { id: "lasting" } });
  await first.client.call("createAgent", { params: { agency: "lasting" }, body: { name: "alice" } });
  await first.stop();
  const second = await startHostProcess({ home });
  expect(await listIds(second.client)).toEqual(["global", "lasting"]);
  expect(
    (await second.client.call("listAgents", { params: { agency: "lasting" } })).agents.map(({ name }) => name),
  ).toEqual(["alice"]);
  await second.stop();
  await removeHome(home);
});
