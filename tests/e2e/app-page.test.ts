import { startHost, type TestHost } from "@thinkery/sdk/test";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLoginLink, openBrowser, openPage } from "../kit/browser.ts";
import { waitUntil } from "../kit/wait-until.ts";

// An app is served from our origin but must not get any of its privileges. Tested in a real, logged-in browser.

let host: TestHost;
let browser: Browser;
const address = "/agency/global/agent/alice/app/";

/** Tries what it must not be able to do and writes down the results. */
const page = `<!doctype html><title>app</title><p>An app of alice.</p><pre id="out"></pre>
<form id="form" method="post" action="/agency/global/agents" enctype="text/plain"><input name='{"name":"forged","x":"' value='"}'></form>
<script>
const settled = (attempt) => Promise.race([
  Promise.resolve().then(attempt).then((value) => "got " + value, (error) => "refused " + (error && error.name)),
  new Promise((resolve) => setTimeout(resolve, 3000, "timeout")),
]);
const attempts = {
  origin: () => self.origin,
  cookie: () => document.cookie,
  storage: () => localStorage.length,
  database: () => new Promise((resolve, reject) => { const request = indexedDB.open("x"); request.onsuccess = resolve; request.onerror = () => reject(request.error); }),
  health: async () => (await fetch("/health", { credentials: "include" })).text(),
  agents: async () => (await fetch("/agency/global/agents", { credentials: "include" })).text(),
  noCors: async () => (await fetch("/agency/global/agents", { credentials: "include", mode: "no-cors" })).text().then((text) => JSON.stringify(text)),
  ownPath: async () => (await fetch("data", { credentials: "include" })).text(),
  write: async () => (await fetch("/agency/global/agents", { method: "POST", credentials: "include", mode: "no-cors", body: '{"name":"forged"}' })).type,
  socket: () => new Promise((resolve, reject) => { const socket = new WebSocket("ws://" + location.host + "/agency/global/agent/alice/ws"); socket.onopen = resolve; socket.onerror = () => reject(new Error()); }),
  events: () => new Promise((resolve, reject) => { const source = new EventSource("/agency/global/agent/alice/events", { withCredentials: true }); source.onopen = resolve; source.onerror = () => { source.close(); reject(new Error()); }; }),
  worker: () => navigator.serviceWorker.register("sw.js"),
  thread: () => new Worker("thread.js"),
  window: () => window.open("/app/global") ? "a window" : Promise.reject(new Error()),
  opener: () => String(window.opener),
  frame: () => new Promise((resolve) => { const frame = document.createElement("iframe"); frame.src = "/app/global"; frame.onload = () => resolve(String(frame.contentDocument)); document.body.append(frame); }),
};
(async () => {
  const results = {};
  for (const [name, attempt] of Object.entries(attempts)) results[name] = await settled(attempt);
  document.getElementById("out").textContent = JSON.stringify(results);
})();
</script>`;

const app = `const page = ${JSON.stringify(page)};
export default { fetch(request) {
  const { pathname } = new URL(request.url);
  const headers = { "content-type": pathname.endsWith(".js") ? "text/javascript" : "text/html; charset=utf-8", "service-worker-allowed": "/", "access-control-allow-origin": "*" };
  return new Response(pathname.endsWith(".js") ? "globalThis.appWasHere = true" : page, { headers });
} }`;

beforeAll(async () => {
  [host, browser] = await Promise.all([startHost({ config: { sandboxSlots: 1 } }), openBrowser()]);
  await (await host.agent("alice")).putApp({ code: app });
});

afterAll(async () => {
  await browser?.close();
  await host?.stop();
});

test("an aborted response and a HEAD request release the sandbox", async () => {
  const agent = await host.agent("endless");
  await agent.putApp({
    code: `export default { fetch() {
      const { readable, writable } = new TransformStream();
      const writer = writable.getWriter();
      (async () => { for (;;) { await writer.write(new TextEncoder().encode("more")); await new Promise((resolve) => setTimeout(resolve, 10)); } })();
      return new Response(readable);
    } }`,
  });
  const isHeld = async () =>
    (await host.client.call("health")).sandboxes?.some((slot) => slot.agent === "global~endless");
  const controller = new AbortController();
  const response = await agent.fetchApp("", { signal: controller.signal });
  await response.body?.getReader().read();
  expect(await isHeld()).toBe(true);
  controller.abort();
  await waitUntil("the sandbox to be free", async () => !(await isHeld()));
  await agent.fetchApp("", { method: "HEAD" });
  await waitUntil("the sandbox to be free", async () => !(await isHeld()));
  await agent.delete();
});

async function login() {
  const { page, context, pageErrors } = await openPage(browser);
  await page.goto(await createLoginLink(host));
  await page.getByRole("heading", { name: "Welcome" }).waitFor();
  return { page, context, pageErrors };
}

const listNames = async () =>
  (await host.client.call("listAgents", { params: { agency: "global" } })).agents.map(({ name }) => name);

test("an app opens from its agent's page and can do no more than a page of another origin", async () => {
  const { page, context, pageErrors } = await login();
  await page.goto(`${host.url}/app/global/alice`);
  await page.getByText("About").click();
  const opened = context.waitForEvent("page");
  await page.getByRole("link", { name: "Open in a new tab" }).click();
  const tab: Page = await opened;
  await tab.getByText("An app of alice.").waitFor();
  // The ticket in its address is used up.
  expect(tab.url().split("?ticket=")[0]).toBe(host.url + address);
  expect((await fetch(tab.url())).status).toBe(401);
  const results = JSON.parse(await waitUntil("the results", () => tab.locator("#out").textContent()));
  expect(results).toEqual({
    origin: "got null",
    cookie: "refused SecurityError",
    storage: "refused SecurityError",
    database: expect.stringMatching(/^refused /),
    health: "refused TypeError",
    agents: "refused TypeError",
    noCors: expect.stringMatching(/^(refused TypeError|got "")$/),
    ownPath: "refused TypeError",
    write: expect.stringMatching(/^(refused TypeError|got opaque)$/),
    socket: "refused Error",
    events: "refused Error",
    worker: expect.stringMatching(/^refused /),
    thread: expect.stringMatching(/^refused /),
    window: "refused Error",
    opener: "got null",
    frame: "got null",
  });
  // The form is submitted, but without our cookie.
  await tab.evaluate(() => (document.getElementById("form") as HTMLFormElement).submit());
  await tab.getByText("not accepted").waitFor();
  // The cookie is not sent when the page navigates, either.
  const reopened = context.waitForEvent("page");
  await page.getByRole("link", { name: "Open in a new tab" }).click();
  const again: Page = await reopened;
  await again.getByText("An app of alice.").waitFor();
  await again.evaluate(() => window.location.assign("/agency/global/agents"));
  await again.getByRole("heading", { name: "Open this again from Thinkery" }).waitFor();
  // Opened by its address alone, it is refused as well: only our page can get a ticket.
  await tab.goto(host.url + address);
  await tab.getByRole("heading", { name: "Open this again from Thinkery" }).waitFor();
  expect(await listNames()).toEqual(["alice"]);
  // The user is still logged in, and our own page is unaffected.
  await page.reload();
  await page.getByText("About").waitFor();
  expect(pageErrors).toEqual([]);
  await context.close();
});

test("our page cannot load an app's scripts, modules, workers or data", async () => {
  const { page, context } = await login();
  const results = await page.evaluate(async (address) => {
    const refused = () => "refused";
    const script = (type: string) =>
      new Promise((resolve) => {
        const element = Object.assign(document.createElement("script"), {
          type,
          src: `${address}${type || "plain"}.js`,
        });
        element.addEventListener("load", () => resolve("got"));
        element.addEventListener("error", () => resolve("refused"));
        document.head.append(element);
      });
    return {
      script: await script(""),
      module: await script("module"),
      worker: await navigator.serviceWorker.register(`${address}sw.js`, { scope: address }).then(() => "got", refused),
      data: (
        await fetch(`${address}data`, {
          headers: { "x-thinkery-page": localStorage.getItem("thinkery.page-secret") ?? "" },
        })
      ).status,
      mark: "appWasHere" in globalThis,
    };
  }, address);
  expect(results).toEqual({ script: "refused", module: "refused", worker: "refused", data: 403, mark: false });
  await context.close();
});
