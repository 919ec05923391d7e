import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLoginLink, openBrowser, openPage } from "../kit/browser.ts";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { findMain } from "../kit/processes.ts";
import { waitUntil } from "../kit/wait-until.ts";

const shots = fileURLToPath(new URL("../../test-output/page/", import.meta.url));
const params = { agency: "global" };
let house: HostProcess;
let browser: Browser;

beforeAll(async () => {
  mkdirSync(shots, { recursive: true });
  [house, browser] = await Promise.all([startHostProcess(), openBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await house?.stop();
});

test("a login link lets a person in once, and leaves no code behind", async () => {
  const link = await createLoginLink(house);
  const { page, context, complaints } = await openPage(browser);
  await page.goto(link);
  await page.getByRole("heading", { name: "Welcome" }).waitFor();
  await page.getByText("Host is up").waitFor();
  expect(page.url()).not.toContain("code");
  const [cookie] = await context.cookies();
  expect(cookie).toMatchObject({ name: `thinkery-${house.port}`, httpOnly: true, sameSite: "Strict" });
  await page.screenshot({ path: `${shots}welcome-light.png`, fullPage: true });

  const second = await openPage(browser);
  await second.page.goto(link);
  await second.page.getByText("did not work").waitFor();
  await second.page.screenshot({ path: `${shots}login-used.png` });

  await page.getByRole("button", { name: "Log out" }).click();
  await page.getByText("You are logged out").waitFor();
  await page.goto(`${house.url}/app/global`);
  await page.getByText("thinkery open").first().waitFor();
  expect([...complaints, ...second.complaints]).toEqual([]);
  await context.close();
  await second.context.close();
});

test("agents and agencies made elsewhere appear by themselves", async () => {
  const { page, context, complaints } = await openPage(browser, { colorScheme: "dark" });
  await page.goto(await createLoginLink(house));
  await page.getByRole("heading", { name: "Welcome" }).waitFor();
  await page.goto(`${house.url}/app/global`);
  await page.getByText("No agents here yet").waitFor();
  await house.client.call("createAgent", { params, body: { name: "carol", model: "anthropic:claude-sonnet-4-5" } });
  await page.getByRole("navigation").getByText("carol").waitFor();
  await house.client.call("createAgency", { body: { id: "review", name: "Code review" } });
  await page.getByRole("navigation").getByText("Code review").waitFor();
  await page.screenshot({ path: `${shots}agency-dark.png`, fullPage: true });
  await house.client.call("deleteAgent", { params: { ...params, agent: "carol" } });
  await page.getByRole("navigation").getByText("carol").waitFor({ state: "detached" });
  expect(complaints).toEqual([]);
  await context.close();
});

test("a person creates an agent, is told what is wrong at the field, and deletes it", async () => {
  const { page, context, complaints } = await openPage(browser, {
    viewport: { width: 390, height: 780 },
    hasTouch: true,
  });
  await page.goto(await createLoginLink(house));
  await page.getByRole("heading", { name: "Welcome" }).waitFor();
  await page.goto(`${house.url}/app/global`);
  await page.getByRole("button", { name: "New agent" }).click();
  await page.getByLabel("Name").fill("think");
  await page.getByLabel("Model").fill("nope");
  await page.getByRole("button", { name: "Create agent" }).click();
  await page.getByText("reserved").first().waitFor();
  await page.getByText("provider:model").first().waitFor();
  await page.screenshot({ path: `${shots}phone-problems.png`, fullPage: true });
  await page.getByLabel("Name").fill("dave");
  await page.getByLabel("Model").fill("openai:gpt-4o");
  await page.getByRole("button", { name: "Create agent" }).click();
  await page.getByRole("heading", { name: "dave" }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/app/global/dave");
  expect((await house.client.call("getAgent", { params: { ...params, agent: "dave" } })).model).toBe("openai:gpt-4o");
  await page.screenshot({ path: `${shots}phone-agent.png`, fullPage: true });
  await page.getByText("About").click();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete agent" }).click();
  await waitUntil(
    "the agent to be gone",
    async () => (await house.client.call("listAgents", { params })).agents.length === 0,
  );
  expect(complaints).toEqual([]);
  await context.close();
});

test("an open page goes on by itself when main is back after kill -9", async () => {
  const { page, context } = await openPage(browser);
  await page.goto(await createLoginLink(house));
  await page.getByRole("heading", { name: "Welcome" }).waitFor();
  await page.goto(`${house.url}/app/global`);
  await page.getByText("Host is up").waitFor();
  process.kill((await waitUntil("main", () => findMain(house.home))).pid, "SIGKILL");
  await waitUntil("main to be back", async () => (await house.client.call("health")).restarts === 1);
  await house.client.call("createAgent", { params, body: { name: "after-the-crash" } });
  await page.getByRole("navigation").getByText("after-the-crash").waitFor();
  await page.getByText("Host is up").waitFor();
  await context.close();
});

test("names and texts of others are shown, never run", async () => {
  const evil = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';
  await house.client.call("createAgency", { body: { id: "evil", name: evil } });
  await house.client.call("putBlueprint", {
    params: { agency: "evil" },
    body: { name: "evil", description: evil, prompt: evil, tags: [evil.slice(0, 60)] },
  });
  await house.client.call("createAgent", { params: { agency: "evil" }, body: { name: "mallory", system: evil } });
  const { page, context } = await openPage(browser);
  await page.goto(await createLoginLink(house));
  await page.getByRole("heading", { name: "Welcome" }).waitFor();
  for (const path of ["/app", "/app/evil", "/app/evil/mallory", `/app/${encodeURIComponent(evil)}`]) {
    await page.goto(house.url + path);
    await page.getByRole("heading").first().waitFor();
    if (path.endsWith("mallory")) await page.getByText("About").click();
    await page.getByText("<img src=x").first().waitFor();
    expect([path, await page.evaluate("window.hacked")]).toEqual([path, undefined]);
  }
  await context.close();
});

test("another site's page can neither read from the host nor act on it", async () => {
  await house.client.call("createAgent", { params, body: { name: "victim" } });
  const { page, context } = await openPage(browser);
  await page.goto(await createLoginLink(house));
  await page.getByRole("heading", { name: "Welcome" }).waitFor();
  const foreign = await context.newPage();
  // The same machine, another port: as close to us as a foreign page can come.
  const { createServer } = await import("node:http");
  const server = createServer((_, response) =>
    response.setHeader("content-type", "text/html").end("<title>evil</title>"),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  await foreign.goto(`http://127.0.0.1:${(server.address() as { port: number }).port}/`);
  const attempts = await foreign.evaluate(async (url) => {
    const attempt = (work: Promise<unknown>) =>
      work.then(
        () => "got through",
        () => "refused",
      );
    const socket = (path: string) =>
      new Promise((resolve, reject) => {
        const opened = new WebSocket(url.replace("http", "ws") + path);
        opened.addEventListener("open", resolve);
        opened.addEventListener("error", reject);
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
      attempt(socket("/agents/agency/global")),
      attempt(socket("/agents/user/owner")),
      attempt(socket("/agency/global/agent/victim/ws")),
      attempt(socket("/agents/victim/ws")),
    ]);
  }, house.url);
  // A form needs no permission of ours to be sent; what counts is that nothing comes of it.
  await foreign.evaluate((url) => {
    const form = Object.assign(document.createElement("form"), {
      method: "POST",
      action: `${url}/agents`,
      enctype: "text/plain",
    });
    form.innerHTML = `<input name='{"name":"pwned","x":"' value='"}'>`;
    document.body.append(form);
    form.submit();
  }, house.url);
  await foreign.waitForURL(`${house.url}/agents`);
  expect(attempts).toEqual(Array.from(attempts, () => "refused"));
  expect((await house.client.call("listAgents", { params })).agents.map(({ name }) => name)).not.toContain("pwned");
  server.close();
  await context.close();
});
