import { existsSync, mkdirSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createLoginLink, openBrowser, openPage } from "../kit/browser.ts";
import { findIdleStatus, say, findText } from "../kit/chat.ts";
import { createHomePath, type HostProcess, startHostProcess, removeHome } from "../kit/host-process.ts";
import { waitUntil } from "../kit/wait-until.ts";

// How the page shows code while it runs and afterwards. The host has one sandbox, so that a second run has to wait.

const screenshots = fileURLToPath(new URL("../../test-output/page/", import.meta.url));
let home: string;
let host: HostProcess;
let browser: Browser;
/** One page for all tests; each navigates to an agent of its own. */
let page: Page;
let pageErrors: string[];

beforeAll(async () => {
  mkdirSync(screenshots, { recursive: true });
  home = await createHomePath();
  await mkdir(home, { recursive: true, mode: 0o700 });
  await writeFile(join(home, "config.jsonc"), JSON.stringify({ sandboxSlots: 1 }));
  [host, browser] = await Promise.all([startHostProcess({ home }), openBrowser()]);
  // Without animations, which would make screenshots differ.
  ({ page, pageErrors } = await openPage(browser, { reducedMotion: "reduce", hasTouch: true }));
  await page.goto(await createLoginLink(host));
  await page.getByRole("heading", { name: "Welcome" }).waitFor();
});

afterAll(async () => {
  await browser?.close();
  await host?.stop();
  if (home) await removeHome(home);
});

const desktop = { width: 1280, height: 900 };
const phone = { width: 390, height: 780 };

/** Creates an agent that plays these steps, opens it at this screen size, and sends it a message. */
async function createAndOpenAgent(name: string, steps: object[], screen = desktop): Promise<void> {
  await mkdir(join(home, "scripts"), { recursive: true });
  await writeFile(join(home, "scripts", `${name}.yaml`), JSON.stringify([{ steps }]));
  await host.client.call("createAgent", { params: { agency: "global" }, body: { name, model: `scripted:${name}` } });
  await page.setViewportSize(screen);
  await page.goto(`${host.url}/app/global/${name}`);
  await findIdleStatus(page).waitFor();
  await say(page, "Go.");
}

const run = (code: string, more: object = {}) => ({ call: { tool: "executeCode", input: { code, ...more } } });

const findCards = () => page.locator(".call");
async function openCard(index = 0): Promise<void> {
  const card = findCards().nth(index);
  await card.locator("summary").click();
  await card.locator(".call-body").waitFor();
}
const readCardState = (index = 0) => findCards().nth(index).locator(".call-state").innerText();

async function takeScreenshots(name: string, schemes: ("light" | "dark")[], of = page): Promise<void> {
  for (const colorScheme of schemes) {
    await of.emulateMedia({ colorScheme });
    // The color scheme has been painted two frames later.
    await of.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    await of.screenshot({ path: `${screenshots}${name}-${colorScheme}.png` });
  }
}

const hasNoOverflow = (of = page) =>
  of.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);

/** Finds a part of a card by its title. */
const findPart = (title: string | RegExp) =>
  page.locator(".call-body > div", { has: page.locator(".call-part", { hasText: title }) }).locator("pre");

const orders = `import { total } from "./sums.ts";
import orders from "./orders.json";

// Total per customer. This comment is wider than most screens, to check that long lines are not wrapped in the source view.
const totals: Record<string, number> = {};
for (const { customer, amount } of orders) {
  totals[customer] = (totals[customer] ?? 0) + amount;
  console.log("seen", customer, amount);
}
await tools.set_title({ title: "Totals" });
await tools.write_todos({ todos: [{ content: "Tell the customers", status: "pending" }] });
await tools.no_such_tool({}).catch(() => {});
return { totals, all: total(Object.values(totals)) };
`;

const modules = {
  "sums.ts": "export const total = (numbers: number[]): number => numbers.reduce((sum, n) => sum + n, 0);",
  "orders.json": JSON.stringify([
    { customer: "ann", amount: 5 },
    { customer: "bob", amount: 3.5 },
  ]),
};

test("a run shows its source, result, console and calls, also after a reload", async () => {
  await createAndOpenAgent("coder", [run(orders, { modules }), { text: "There you are." }]);
  await findText(page, "There you are.").waitFor();
  const expectCard = async () => {
    await openCard();
    expect(await page.locator(".source code").innerText()).toBe(orders.trimEnd());
    expect(await page.locator(".source-numbers").innerText()).toBe(
      orders
        .trimEnd()
        .split("\n")
        .map((_, index) => index + 1)
        .join("\n"),
    );
    expect(await findPart("Result").innerText()).toBe(
      JSON.stringify({ totals: { ann: 5, bob: 3.5 }, all: 8.5 }, null, 2),
    );
    expect(await findPart("Console").innerText()).toBe("seen ann 5\nseen bob 3.5");
    const calls = page.locator(".capabilities li");
    expect(await calls.locator(".call-name").allInnerTexts()).toEqual(["set_title", "write_todos", "no_such_tool"]);
    for (const duration of await calls.locator(".capability-duration").allInnerTexts())
      expect(duration).toMatch(/^\d+ ms$/);
    expect(await findCards().locator(".call-count").innerText()).toBe("3 calls");
    expect(await readCardState()).toBe("done");
  };
  await expectCard();
  await takeScreenshots("code", ["light", "dark"]);
  await page.getByRole("tab", { name: "code" }).focus();
  await page.keyboard.press("ArrowRight");
  expect(await page.getByRole("tab", { name: "sums.ts" }).getAttribute("aria-selected")).toBe("true");
  expect(await page.getByRole("tabpanel").locator("code").innerText()).toBe(modules["sums.ts"]);
  await page.reload();
  await findText(page, "There you are.").waitFor();
  await findCards().locator(".call-count").waitFor();
  await expectCard();
  await page.setViewportSize(phone);
  expect(await hasNoOverflow()).toBe(true);
  await takeScreenshots("code-phone", ["light"]);
  expect(pageErrors).toEqual([]);
});

test("a failed run shows the kind of error and where in the code it occurred", async () => {
  const steps = [
    run("const order = undefined;\nreturn order.customer;"),
    run("const sum = (1 + ;"),
    run("console.log('begun');\nfor (;;) await new Promise((resolve) => setTimeout(resolve, 10));", {
      timeoutMs: 3000,
    }),
    run("return await tools.executeCode({ code: '1' });"),
    { text: "All of them failed." },
  ];
  await createAndOpenAgent("clumsy", steps);
  await findText(page, "All of them failed.").waitFor();
  const expected = ["failed", "syntax error", "timed out after 3 s", "failed"];
  const readStates = () => findCards().locator(".call-state").allInnerTexts();
  expect(await readStates()).toEqual(expected);
  for (const index of [0, 1, 2]) await openCard(index);
  expect(
    await findPart(/^Error$/)
      .first()
      .innerText(),
  ).toMatch(/^TypeError: .*\n.*code:2:\d+/);
  expect(await findPart("Error: syntax error").innerText()).toMatch(/^SyntaxError: .*code:1:\d+/);
  expect(await findPart("Error: timed out").innerText()).toBe("The run did not finish within 3 s and was stopped.");
  expect(await findPart("Console").innerText()).toBe("begun");
  // Long cards scroll inside the transcript, not the page.
  expect(await page.evaluate(() => document.documentElement.scrollHeight <= window.innerHeight)).toBe(true);
  await takeScreenshots("code-failed", ["dark"]);
  await page.reload();
  await findText(page, "All of them failed.").waitFor();
  // The kind of an error comes from the log, which is read after the messages.
  await waitUntil("the kinds of errors", async () => (await readStates()).join() === expected.join());
  expect(pageErrors).toEqual([]);
});

test("a card that is opened stays in view, and the end is followed again from there", async () => {
  const printed = "for (let line = 0; line < 200; line++) console.log(`line ${line}`);";
  const steps = [run(printed), run(printed), { text: "Printed." }];
  await createAndOpenAgent("printer", steps);
  await findText(page, "Printed.").waitFor();
  const summary = findCards().first().locator("summary").first();
  const readTop = async () => Math.round((await summary.boundingBox())?.y ?? Number.NaN);
  const before = await readTop();
  await openCard(0);
  const log = page.getByRole("log");
  await page.getByRole("button", { name: "Latest" }).waitFor();
  expect(await readTop()).toBe(before);
  const measureRest = () => log.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight);
  expect(await measureRest()).toBeGreaterThan(60);
  await page.getByRole("button", { name: "Latest" }).click();
  await say(page, "Again.");
  await waitUntil("the second answer", async () => (await findText(page, "Printed.").count()) === 2);
  await waitUntil("the end", async () => (await measureRest()) < 5);
});

/** Prints a counter until it is canceled. */
const endless = `await tools.set_title({ title: "Counting" });
for (let round = 1; ; round++) {
  console.log("round " + round);
  await new Promise((resolve) => setTimeout(resolve, 50));
}`;

const readLatestRound = async () => Number(/round (\d+)\s*$/.exec(await page.locator(".call-live").innerText())?.[1]);

test("the output of a long run is shown live, also after a reload, until it is canceled", async () => {
  await createAndOpenAgent("counter", [run(endless, { timeoutMs: 60_000 })], phone);
  await waitUntil("the third round", async () => (await readLatestRound()) >= 3);
  const live = page.getByRole("region", { name: "Output of executeCode so far" });
  expect(await live.getAttribute("aria-live")).toBe("polite");
  await live.focus();
  expect(await live.evaluate((element) => element === document.activeElement)).toBe(true);
  // Lines are appended; existing ones are not rendered or announced again.
  const first = await live.locator("span").first().elementHandle();
  const before = await readLatestRound();
  await waitUntil("more rounds", async () => (await readLatestRound()) > before + 20);
  expect(await first?.evaluate((element) => element.isConnected && element.textContent)).toBe("round 1\n");
  expect(
    await live.evaluate(
      (element) =>
        element.scrollHeight > element.clientHeight &&
        element.scrollHeight - element.scrollTop - element.clientHeight < 2,
    ),
  ).toBe(true);
  expect(await hasNoOverflow()).toBe(true);
  await takeScreenshots("code-live-phone", ["light", "dark"]);
  const lastRound = await readLatestRound();
  await page.reload();
  await waitUntil("rounds after the reload", async () => (await readLatestRound()) > lastRound);
  expect(await page.locator(".capabilities .call-name").innerText()).toContain("set_title");
  await page.getByRole("button", { name: "Cancel" }).click();
  await findIdleStatus(page).waitFor();
  expect(await page.locator(".call-live").count()).toBe(0);
  expect(await findCards().first().getAttribute("data-state")).toBe("failed");
  expect(await readCardState()).toBe("canceled");
  expect(pageErrors).toEqual([]);
});

test("a run that waits for a sandbox says so, and the host page shows which agent has it", async () => {
  onTestFinished(
    () =>
      void host.client
        .agent("busy")
        .cancel()
        .catch(() => {}),
  );
  await createAndOpenAgent("busy", [run(endless, { timeoutMs: 60_000 })]);
  await waitUntil("the first round", async () => (await readLatestRound()) >= 1);
  await createAndOpenAgent("patient", [
    run("for (;;) await new Promise((resolve) => setTimeout(resolve, 50));", { timeoutMs: 60_000 }),
  ]);
  await page.locator(".call-progress", { hasText: "Waiting for a sandbox." }).waitFor();
  expect(await readCardState()).toBe("waiting for a sandbox");
  await page.locator(".status-line", { hasText: "Waiting for a sandbox." }).waitFor();
  await takeScreenshots("code-waits", ["dark"]);
  const other = await page.context().newPage();
  await other.goto(`${host.url}/app`);
  const table = other.getByRole("table", { name: "Sandboxes" });
  const row = table.getByRole("row", { name: /^sandbox-0/ });
  await row.getByRole("link", { name: "busy" }).waitFor();
  expect(await row.innerText()).toMatch(/ready\s+busy in global\s+\d+\s+\d+(\.\d+)? MB/);
  await other.getByText("1 run waiting").waitFor();
  await table.scrollIntoViewIfNeeded();
  await takeScreenshots("host-sandboxes", ["light"], other);
  await other.setViewportSize(phone);
  await table.scrollIntoViewIfNeeded();
  expect(await hasNoOverflow(other)).toBe(true);
  await takeScreenshots("host-sandboxes-phone", ["dark"], other);
  await other.close();
  await host.client.agent("busy").cancel();
  // It prints nothing, but is no longer shown as waiting.
  await findCards().locator(".call-state", { hasText: "running…" }).waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await findIdleStatus(page).waitFor();
  expect(pageErrors).toEqual([]);
});

const hasBubblewrap = existsSync("/usr/bin/bwrap");
if (!hasBubblewrap) console.log("bubblewrap is not installed; skipping the test of commands.");

test.skipIf(!hasBubblewrap)("a command is shown as in a terminal, with live output and its exit code", async () => {
  const command = "echo line 1; echo line 2; until [ -e seen ]; do sleep 0.05; done; ls /nowhere";
  await createAndOpenAgent("shell", [{ call: { tool: "sandbox", input: { command } } }, { text: "Ended." }]);
  await page.locator(".call-live", { hasText: "line 2" }).waitFor();
  await takeScreenshots("command-live", ["light"]);
  await writeFile(join(home, "linux", "global", "shell", "seen"), "");
  await findText(page, "Ended.").waitFor();
  expect(await readCardState()).toBe("exit code 2");
  await openCard();
  expect(await findPart("Command").innerText()).toBe(`$ ${command}`);
  expect(await findPart("Output").innerText()).toMatch(/^line 1\nline 2\nls: [^\n]*$/);
  await page.getByText("Exited with code 2").waitFor();
  await takeScreenshots("command", ["dark"]);
  expect(pageErrors).toEqual([]);
});

test("hostile code, console output, results and errors are shown and not executed", async () => {
  const evil =
    '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script><a href="javascript:window.hacked=1">x</a> \\u001b[31mred\\u0007 \\u202Egnirts\\u2066';
  const raw = '<img src=x onerror="window.hacked=1"> \u202Egnirts\u2066 \u001b[31m';
  const steps = [
    run(
      `const evil = \`${evil}\`; // ${raw}\nconsole.log(evil);\nawait tools.set_title({ title: evil.slice(0, 60) });\nawait tools.write_todos({ evil }).catch(() => {});\nreturn evil;`,
      {
        modules: { "evil.js": `export const evil = 1; // ${raw}` },
      },
    ),
    run(`throw new Error(\`${evil}\`);`),
    run(`console.log(\`${evil}\`);\nfor (;;) await new Promise((resolve) => setTimeout(resolve, 50));`),
  ];
  await createAndOpenAgent("mallory", steps);
  await page.locator(".call-live", { hasText: "<img src=x" }).waitFor();
  expect(await page.locator(".call-live").innerText()).toContain("\u241b[31mred\u2407 \ufffdgnirts\ufffd");
  await page.getByRole("button", { name: "Cancel" }).click();
  await findIdleStatus(page).waitFor();
  for (const index of [0, 1, 2]) await openCard(index);
  await page.getByRole("tab", { name: "evil.js" }).click();
  for (const title of ["Result", "Error", "Console"]) {
    const text = await findPart(title).first().innerText();
    expect(text).toContain('<img src=x onerror="window.hacked=1"><script>');
    expect(text).toContain("\u241b[31mred\u2407 \ufffdgnirts\ufffd");
  }
  const everything = await page.locator(".transcript").innerText();
  for (const character of "\u202e\u2066\u001b\u0007") expect(everything).not.toContain(character);
  expect(await page.locator("main img, main script, .transcript a").count()).toBe(0);
  expect(await page.evaluate("window.hacked")).toBeUndefined();
  await takeScreenshots("code-hostile", ["light"]);
  expect(pageErrors).toEqual([]);
});
