import http from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { createLoginLink, openBrowser, openPage } from "../kit/browser.ts";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { waitUntil } from "../kit/wait-until.ts";

// Browsers send the page's cookie to every server on this machine, whatever its port. It must be worthless to them.

let host: HostProcess;
let browser: Browser;
let other: http.Server;
let otherUrl: string;
const cookiesSeen: string[] = [];

beforeAll(async () => {
  host = await startHostProcess();
  browser = await openBrowser();
  other = http.createServer((request, response) => {
    if (request.headers.cookie) cookiesSeen.push(request.headers.cookie);
    response.writeHead(200, { "content-type": "text/html" }).end("<title>other</title>");
  });
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  otherUrl = `http://127.0.0.1:${(other.address() as AddressInfo).port}/`;
});

afterAll(async () => {
  await browser?.close();
  other?.close();
  await host?.stop();
});

test("another server on this machine gets the cookie and can do nothing with it", async () => {
  const { page, pageErrors } = await openPage(browser);
  await page.goto(await createLoginLink(host));
  await page.getByRole("heading", { name: "Welcome" }).waitFor();
  await page.goto(otherUrl);
  const cookie = await waitUntil("the other server to get the cookie", () =>
    cookiesSeen.find((one) => one.includes(`thinkery-${host.port}=`)),
  );
  const value = /thinkery-\d+=([^;]+)/.exec(cookie)?.[1] ?? "";
  expect(value).toMatch(/^thk_/);

  const attempts: Record<string, string>[] = [
    { authorization: `Bearer ${value}` },
    { "x-secret": value },
    { cookie },
    { cookie, origin: host.url, "sec-fetch-site": "same-origin" },
    { cookie, origin: host.url, "x-thinkery-page": value },
    { cookie, origin: host.url, "x-thinkery-page": "undefined" },
  ];
  for (const headers of attempts) {
    expect([headers, (await fetch(`${host.url}/who`, { headers })).status]).toEqual([headers, 401]);
    const body = JSON.stringify({ name: "mine", scopes: ["admin"] });
    const created = await fetch(`${host.url}/tokens`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body,
    });
    expect([headers, created.status]).toEqual([headers, 401]);
  }
  for (const protocols of [[], ["thinkery"], ["thinkery", `thinkery.page.${value.replaceAll(".", "-")}`]]) {
    const socket = new WebSocket(`${host.url.replace("http", "ws")}/agents/user/owner`, protocols, {
      headers: { cookie, origin: host.url },
    });
    const status = await new Promise((resolve) => {
      socket.on("unexpected-response", (_, response) => resolve(response.statusCode));
      socket.on("open", () => resolve("open"));
      socket.on("error", () => {});
    });
    socket.terminate();
    expect([protocols, status]).toEqual([protocols, 401]);
  }

  // The page's secret belongs to the host's origin, also in this browser.
  expect(await page.evaluate(() => window.localStorage.length)).toBe(0);
  await page.goto(host.url);
  await page.getByRole("heading", { name: "Welcome" }).waitFor();
  await page.getByText("Host is up").waitFor();
  expect(pageErrors).toEqual([]);
});

test("a login whose page has lost its secret has to log in again", async () => {
  const { page } = await openPage(browser);
  await page.goto(await createLoginLink(host));
  await page.getByRole("heading", { name: "Welcome" }).waitFor();
  await page.evaluate(() => window.localStorage.clear());
  await page.reload();
  await page.getByText("Log in with a one-time link").waitFor();
});
