import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLoginLink, openBrowser, openPage } from "../kit/browser.ts";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { waitUntil } from "../kit/wait-until.ts";

// Logins and tokens are listed on the page and in the terminal, and can be revoked in both.

const screenshots = fileURLToPath(new URL("../../test-output/page/", import.meta.url));
let host: HostProcess;
let browser: Browser;

beforeAll(async () => {
  mkdirSync(screenshots, { recursive: true });
  [host, browser] = await Promise.all([startHostProcess(), openBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await host?.stop();
});

async function logIn(link?: string) {
  const session = await openPage(browser);
  await session.page.goto(link ?? (await createLoginLink(host)));
  await session.page.getByRole("heading", { name: "Welcome" }).waitFor();
  return session;
}

const listLogins = async () =>
  (await host.client.call("listTokens", { query: {} })).tokens.filter(({ kind }) => kind === "login");

test("a person sees who is logged in, and logs out another browser and a program", async () => {
  const [one, other] = [await logIn(), await logIn()];
  const issued = await host.client.call("createToken", { body: { name: "laptop", scopes: ["read"] } });
  const { page } = one;
  await page.getByRole("link", { name: "Logins and tokens" }).click();
  await page.getByRole("heading", { name: "Logins and tokens" }).waitFor();
  const rows = page.getByRole("table", { name: "Browsers" }).getByRole("row", { name: /Chrome on Linux/ });
  await waitUntil("both logins", async () => (await rows.count()) === 2);
  expect(await rows.filter({ hasText: "this page" }).count()).toBe(1);
  await page.screenshot({ path: `${screenshots}access.png` });

  await rows.filter({ hasNotText: "this page" }).getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await waitUntil("the other login to be gone", async () => (await rows.count()) === 1);
  expect(await listLogins()).toHaveLength(1);
  await other.page.getByText("Your session has ended").waitFor();

  await page.getByRole("button", { name: "Revoke laptop" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await page.getByText("No tokens.").waitFor();
  const response = await fetch(`${host.url}/who`, { headers: { authorization: `Bearer ${issued.token}` } });
  expect(response.status).toBe(401);

  await rows.getByRole("button", { name: "Revoke" }).click();
  await page.getByText("you need a new login link afterwards").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await page.getByText("Your session has ended").waitFor();
  expect(await listLogins()).toEqual([]);
  expect([...one.pageErrors, ...other.pageErrors]).toEqual([]);
});

test("a login is listed and revoked from the terminal, which ends it on the page", async () => {
  const { page } = await logIn();
  const [login] = await listLogins();
  const { stdout } = await host.runCli(["token", "ls"]);
  expect(stdout).toMatch(new RegExp(`^${login?.id} +login +Chrome on Linux +owner `, "m"));
  expect((await host.runCli(["token", "rm", login?.id ?? ""])).code).toBe(0);
  await page.getByText("Your session has ended").waitFor();
});

test("a login that may only read is told how to see the list", async () => {
  const { code } = await host.client.call("createLoginCode", { body: { scopes: ["read"] } });
  const { page } = await logIn(`${host.url}/#code=${code}`);
  await page.getByRole("link", { name: "Logins and tokens" }).click();
  await page.getByText("This requires the scope admin").waitFor();
});
