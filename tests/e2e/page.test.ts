import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLoginLink, openBrowser, openPage } from "../kit/browser.ts";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { findMain } from "../kit/processes.ts";
import { waitUntil } from "../kit/wait-until.ts";

const screenshots = fileURLToPath(new URL("../../test-output/page/", import.meta.url));
const params = { agency: "global" };
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

test("a login link works once, and its code does not stay in the address", async () => {
  const link = await createLoginLink(host);
  const { page, context, pageErrors } = await openPage(browser);
  await page.goto(link);
  await page.getByRole("heading", { name: "Welcome" }).waitFor();
  await page.getByText("Host is up").waitFor();
  expect(page.url()).not.toContain("code");
  const [cookie] = await context.cookies();
  expect(cookie).toMatchObject({ name: `thinkery-${host.port}`, httpOnly: true, sameSite: "Strict" });
  await page.screenshot({ path: `${screenshots}welcome-light.png`, fullPage: true });

  const second = await openPage(browser);
  await second.page.goto(link);
  await second.page.getByText("Login failed").waitFor();
  await second.page.screenshot({ path: `${screenshots}login-used.png` });

  await page.getByRole("button", { name: "Log out" }).click();
  await page.getByText("You are logged out").waitFor();
  await page.goto(`${host.url}/app/global`);
  await page.getByText("thinkery open").first().waitFor();
  expect([...pageErrors, ...second.pageErrors]).toEqual([]);
  await context.close();
  await second.context.close();
});

test("agents and agencies created elsewhere appear without a reload", async () => {
  const { page, context, pageErrors } = await openPage(browser, { colorScheme: "dark" });
  await page.goto(await createLoginLink(host));
  await page.getByRole("heading", { name: "Welcome" }).waitFor();
  await page.goto(`${host.url}/app/global`);
  await page.getByRole("main").getByText("No agents yet").waitFor();
  await host.client.call("createAgent", { params, body: { name: "carol", model: "anthropic:claude-sonnet-4-5" } });
  await page.getByRole("navigation").getByText("carol").waitFor();
  await host.client.call("createAgency", { body: { id: "review", name: "Code review" } });
  await page.getByRole("navigation").getByText("Code review").waitFor();
  await page.screenshot({ path: `${screenshots}agency-dark.png`, fullPage: true });
  await host.client.call("deleteAgent", { params: { ...params, agent: "carol" } });
  await page.getByRole("navigation").getByText("carol").waitFor({ state: "detached" });
  expect(pageErrors).toEqual([]);
  await context.close();
});

test("an agent can be created, with errors at their fields, and deleted", async () => {
  const { page, context, pageErrors } = await openPage(browser, {
    viewport: { width: 390, height: 780 },
    hasTouch: true,
  });
  await page.goto(await createLoginLink(host));
  await page.getByRole("heading", { name: "Welcome" }).waitFor();
  await page.goto(`${host.url}/app/global`);
  await page.getByRole("button", { name: "New agent" }).click();
  await page.getByLabel("Name").fill("think");
  await page.getByLabel("Model").fill("nope");
  await page.getByRole("button", { name: "Create agent" }).click();
  await page.getByText("reserved").first().waitFor();
  await page.getByText("provider:model").first().waitFor();
  await page.screenshot({ path: `${screenshots}phone-errors.png`, fullPage: true });
  await page.getByLabel("Name").fill("dave");
  await page.getByLabel("Model").fill("openai:gpt-4o");
  await page.getByRole("button", { name: "Create agent" }).click();
  await page.getByRole("heading", { name: "dave" }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/app/global/dave");
  expect((await host.client.call("getAgent", { params: { ...params, agent: "dave" } })).model).toBe("openai:gpt-4o");
  await page.screenshot({ path: `${screenshots}phone-agent.png`, fullPage: true });
  await page.getByText("About").click();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete agent" }).click();
  await waitUntil(
    "the agent to be gone",
    async () => (await host.client.call("listAgents", { params })).agents.length === 0,
  );
  expect(pageErrors).toEqual([]);
  await context.close();
});

test("an open page reconnects by itself after kill -9 of main", async () => {
  const { page, context } = await openPage(browser);
  await page.goto(await createLoginLink(host));
  await page.getByRole("heading", { name: "Welcome" }).waitFor();
  await page.goto(`${host.url}/app/global`);
  await page.getByText("Host is up").waitFor();
  process.kill((await waitUntil("main", () => findMain(host.home))).pid, "SIGKILL");
  await waitUntil("main to be back", async () => (await host.client.call("health")).restarts === 1);
  await host.client.call("createAgent", { params, body: { name: "after-the-crash" } });
  await page.getByRole("navigation").getByText("after-the-crash").waitFor();
  await page.getByText("Host is up").waitFor();
  await context.close();
});

test("names and texts of other users are shown, never executed", async () => {
  const evil = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';
  await host.client.call("createAgency", { body: { id: "evil", name: evil } });
  await host.client.call("putBlueprint", {
    params: { agency: "evil" },
    body: { name: "evil", description: evil, prompt: evil, tags: [evil.slice(0, 60)] },
  });
  await host.client.call("createAgent", { params: { agency: "evil" }, body: { name: "mallory", system: evil } });
  const { page, context } = await openPage(browser);
  await page.goto(await createLoginLink(host));
  await page.getByRole("heading", { name: "Welcome" }).waitFor();
  for (const path of ["/app", "/app/evil", "/app/evil/mallory", `/app/${encodeURIComponent(evil)}`]) {
    await page.goto(host.url + path);
    await page.getByRole("heading").first().waitFor();
    if (path.endsWith("mallory")) await page.getByText("About").click();
    await page.getByText("<img src=x").first().waitFor();
    expect([path, await page.evaluate("window.hacked")]).toEqual([path, undefined]);
  }
  await context.close();
});

test("a page of another site can neither read from the host nor act on it", async () => {
  await host.client.call("createAgent", { params, body: { name: "victim" } });
  const { page, context } = await openPage(browser);
  await page.goto(await createLoginLink(host));
  await page.getByRole("heading", { name: "Welcome" }).waitFor();
  const foreign = await context.newPage();
  // The same machine, another port: the closest origin a foreign page can have.
  const { createServer } = await import("node:http");
  const server = createServer((_, response) =>
    response.setHeader("content-type", "text/html").end("<title>evil</title>"),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  await foreign.goto(`http://127.0.0.1:${(server.address() as { port: number }).port}/`);
  const attempts = await foreign.evaluate(async (url) => {
    const attempt = (work: Promise<unknown>) =>
      work.then(
        () => "succeeded",
        () => "refused",
      );
    const connect = (path: string) =>
      new Promise((resolve, reject) => {
        const socket = new WebSocket(url.replace("http", "ws") + path);
        socket.addEventListener("open", resolve);
        socket.addEventListener("error", reject);
      });
    return Promise.all([
      attempt(fetch(`${url}/agents`, { credentials: "include" }).then((r) => r.ok || Promise.reject(r.status))),
      attempt(
        fetch(`${url}/agents`, {
          method: "POST",
          credentials: "include",
          headers: { "content-type": "application/json" },
          body: '{"name":"pwned"}',
        }).then((r) => r.ok || Promise.reject(r.status)),
      ),
      attempt(connect("/agents/agency/global")),
      attempt(connect("/agents/user/owner")),
      attempt(connect("/agency/global/agent/victim/ws")),
      attempt(connect("/agents/victim/ws")),
    ]);
  }, host.url);
  // Browsers send forms without a CORS check; what counts is that it has no effect.
  await foreign.evaluate((url) => {
    const form = Object.assign(document.createElement("form"), {
      method: "POST",
      action: `${url}/agents`,
      enctype: "text/plain",
    });
    form.innerHTML = `<input name='{"name":"pwned","x":"' value='"}'>`;
    document.body.append(form);
    form.submit();
  }, host.url);
  await foreign.waitForURL(`${host.url}/agents`);
  expect(attempts).toEqual(Array.from(attempts, () => "refused"));
  expect((await host.client.call("listAgents", { params })).agents.map(({ name }) => name)).not.toContain("pwned");
  server.close();
  await context.close();
});

test("a user without admin sees no button that deletes an agent or an agency", async () => {
  await host.client.call("createAgency", { body: { id: "kept" } });
  await host.client.call("createAgent", { params: { agency: "kept" }, body: { name: "kim" } });
  const { page, context, pageErrors } = await openPage(browser);
  await page.goto(await createLoginLink(host));
  await page.getByRole("heading", { name: "Welcome" }).waitFor();
  const findDelete = async () => {
    await page.goto(`${host.url}/app/kept`);
    await page.getByRole("button", { name: "New agent" }).waitFor();
    const agency = await page.getByRole("button", { name: "Delete" }).count();
    await page.goto(`${host.url}/app/kept/kim`);
    await page.getByText("About", { exact: true }).click();
    await page.getByRole("button", { name: "Stop agent" }).waitFor();
    return [agency, await page.getByRole("button", { name: "Delete" }).count()];
  };
  expect(await findDelete()).toEqual([1, 1]);
  const { code } = await host.client.call("createLoginCode", { body: { scopes: ["chat"] } });
  await Promise.all([
    page.waitForResponse(`${host.url}/login`),
    page.evaluate((fragment) => void (window.location.hash = fragment), `code=${code}`),
  ]);
  expect(await findDelete()).toEqual([0, 0]);
  expect(pageErrors).toEqual([]);
  await context.close();
});
