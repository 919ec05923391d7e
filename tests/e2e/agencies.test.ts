import { createClient } from "@thinkery/sdk/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createHomePath, type HostProcess, startHostProcess, removeHome } from "../kit/host-process.ts";

let house: HostProcess;

beforeAll(async () => {
  house = await startHostProcess();
});

afterAll(() => house?.stop());

const listIds = async (client = house.client) =>
  (await client.call("listAgencies")).agencies.map((agency) => agency.id);

test("global is there from the start and cannot be deleted", async () => {
  expect(await listIds()).toEqual(["global"]);
  await expect(house.client.call("deleteAgency", { params: { agency: "global" } })).rejects.toMatchObject({
    code: "conflict",
  });
});

test("an agency is named by the caller, after its name, or by chance", async () => {
  expect(await house.client.call("createAgency", { body: { id: "review:pr-123" } })).toMatchObject({
    id: "review:pr-123",
    owner: "owner",
  });
  expect(await house.client.call("createAgency", { body: { name: "Night Shift!" } })).toMatchObject({
    id: "night-shift",
    name: "Night Shift!",
  });
  const { id } = await house.client.call("createAgency", { body: {} });
  expect(id).toMatch(/^agency-[0-9a-f]{6}$/);
  expect(await listIds()).toEqual(["global", "night-shift", "review:pr-123", id].sort());
});

test("a taken id and a bad one are refused", async () => {
  await expect(house.client.call("createAgency", { body: { id: "global" } })).rejects.toMatchObject({
    code: "conflict",
  });
  await expect(house.client.call("createAgency", { body: { id: "GLOBAL" } })).rejects.toMatchObject({
    code: "conflict",
  });
  for (const id of ["a/b", "a:b:c", "~", "", ":x", "x:", "ä"]) {
    await expect(house.client.call("createAgency", { body: { id } })).rejects.toMatchObject({ code: "bad_request" });
  }
});

test("another user has agencies of their own and cannot see, enter or take ours", async () => {
  await house.client.call("createAgency", { body: { id: "secret" } });
  const { token } = await house.client.call("createToken", { body: { name: "bob's", user: "bob", scopes: ["admin"] } });
  const bob = createClient({ url: house.url, token });
  expect(await listIds(bob)).toEqual([]);
  await bob.call("createAgency", { body: { id: "bobs" } });
  expect(await listIds(bob)).toEqual(["bobs"]);
  expect(await listIds()).not.toContain("bobs");
  await expect(bob.call("listAgents", { params: { agency: "secret" } })).rejects.toMatchObject({ code: "not_found" });
  await expect(bob.call("deleteAgency", { params: { agency: "secret" } })).rejects.toMatchObject({ code: "not_found" });
  await expect(bob.call("createAgency", { body: { id: "secret" } })).rejects.toMatchObject({ code: "conflict" });
  expect(await listIds(bob)).toEqual(["bobs"]);
  expect(await listIds()).toContain("secret");
});

test("what is stored outlives the host", async () => {
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
