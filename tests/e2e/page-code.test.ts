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

// What a person sees of code while it runs and afterwards. The house has one sandbox, so that a second run has to wait.

const shots = fileURLToPath(new URL("../../test-output/page/", import.meta.url));
let home: string;
let house: HostProcess;
let browser: Browser;
/** One person, who goes from agent to agent. */
let page: Page;
let complaints: string[];

beforeAll(async () => {
  mkdirSync(shots, { recursive: true });
  home = await createHomePath();
  await mkdir(home, { recursive: true, mode: 0o700 });
  await writeFile(join(home, "config.jsonc"), JSON.stringify({ sandboxSlots: 1 }));
  [house, browser] = await Promise.all([startHostProcess({ home }), openBrowser()]);
  // What moves is not photographed while it moves.
  ({ page, complaints } = await openPage(browser, { reducedMotion: "reduce", hasTouch: true }));
  await page.goto(await createLoginLink(house));
  await page.getByRole("heading", { name: "Welcome" }).waitFor();
});

afterAll(async () => {
  await browser?.close();
  await house?.stop();
  if (home) await removeHome(home);
});

const desk = { width: 1280, height: 900 };
const phone = { width: 390, height: 780 };

/** Goes to an agent that does this, on a screen of this size, and says something to it. */
async function createAndOpenAgent(name: string, steps: object[], screen = desk): Promise<void> {
  await mkdir(join(home, "scripts"), { recursive: true });
  await writeFile(join(home, "scripts", `${name}.yaml`), JSON.stringify([{ steps }]));
  await house.client.call("createAgent", { params: { agency: "global" }, body: { name, model: `scripted:${name}` } });
  await page.setViewportSize(screen);
  await page.goto(`${house.url}/app/global/${name}`);
  await findIdleStatus(page).waitFor();
  await say(page, "Go.");
}

const run = (code: string, more: object = {}) => ({ call: { tool: "executeCode", input: { code, ...more } } });

const findCards = () => page.locator(".call");
const openCard = (index = 0) => findCards().nth(index).locator("summary").click();
const readCardState = (index = 0) => findCards().nth(index).locator(".call-state").innerText();

async function takeScreenshots(name: string, schemes: ("light" | "dark")[], of = page): Promise<void> {
  for (const colorScheme of schemes) {
    await of.emulateMedia({ colorScheme });
    // Two frames later it has been painted so.
    await of.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    await of.screenshot({ path: `${shots}${name}-${colorScheme}.png` });
  }
}

const hasNoOverflow = (of = page) =>
  of.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);

/** A part of a card by its title. */
const findPart = (title: string | RegExp) =>
  page.locator(".call-body > div", { has: page.locator(".call-part", { hasText: title }) }).locator("pre");

const orders = `import { total } from "./sums.ts";
import orders from "./orders.json";

// What every customer has bought so far; a line that is longer than most screens are wide shall not be broken in two.
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

test("code is shown as code, with what it gave back, what it wrote and what it called, also after a reload", async () => {
  await createAndOpenAgent("coder", [run(orders, { modules }), { text: "There you are." }]);
  await findText(page, "There you are.").waitFor();
  const look = async () => {
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
    const called = page.locator(".capabilities li");
    expect(await called.locator(".call-name").allInnerTexts()).toEqual(["set_title", "write_todos", "no_such_tool"]);
    for (const took of await called.locator(".capability-took").allInnerTexts()) expect(took).toMatch(/^\d+ ms$/);
    expect(await findCards().locator(".call-count").innerText()).toBe("3 calls");
    expect(await readCardState()).toBe("done");
  };
  await look();
  await takeScreenshots("code", ["light", "dark"]);
  await page.getByRole("tab", { name: "code" }).focus();
  await page.keyboard.press("ArrowRight");
  expect(await page.getByRole("tab", { name: "sums.ts" }).getAttribute("aria-selected")).toBe("true");
  expect(await page.getByRole("tabpanel").locator("code").innerText()).toBe(modules["sums.ts"]);
  await page.reload();
  await findText(page, "There you are.").waitFor();
  await findCards().locator(".call-count").waitFor();
  await look();
  await page.setViewportSize(phone);
  expect(await hasNoOverflow()).toBe(true);
  await takeScreenshots("code-phone", ["light"]);
  expect(complaints).toEqual([]);
});

test("a run that fails says how, and where in the code", async () => {
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
  const words = ["failed", "cannot be read", "ended: took more than 3 s", "failed"];
  const states = () => findCards().locator(".call-state").allInnerTexts();
  expect(await states()).toEqual(words);
  for (const index of [0, 1, 2]) await openCard(index);
  expect(
    await findPart(/^What went wrong$/)
      .first()
      .innerText(),
  ).toMatch(/^TypeError: .*\n.*code:2:\d+/);
  expect(await findPart("What went wrong: cannot be read").innerText()).toMatch(/^SyntaxError: .*code:1:\d+/);
  expect(await findPart("What went wrong: ended").innerText()).toBe("The run took more than 3 s and was ended.");
  expect(await findPart("Console").innerText()).toBe("begun");
  // However long the cards are, they scroll in their place.
  expect(await page.evaluate(() => document.documentElement.scrollHeight <= window.innerHeight)).toBe(true);
  await takeScreenshots("code-failed", ["dark"]);
  await page.reload();
  await findText(page, "All of them failed.").waitFor();
  // The kind of a failure is in the log, which is read after the messages.
  await waitUntil("the kinds", async () => (await states()).join() === words.join());
  expect(complaints).toEqual([]);
});

/** Counts aloud until it is canceled. */
const endless = `await tools.set_title({ title: "Counting" });
for (let round = 1; ; round++) {
  console.log("round " + round);
  await new Promise((resolve) => setTimeout(resolve, 50));
}`;

const readLatestRound = async () => Number(/round (\d+)\s*$/.exec(await page.locator(".call-live").innerText())?.[1]);

test("what a long run writes is shown while it runs, over a reload, until it is canceled", async () => {
  await createAndOpenAgent("counter", [run(endless, { timeoutMs: 60_000 })], phone);
  await waitUntil("the third round", async () => (await readLatestRound()) >= 3);
  const live = page.getByRole("region", { name: "Output of executeCode so far" });
  expect(await live.getAttribute("aria-live")).toBe("polite");
  await live.focus();
  expect(await live.evaluate((element) => element === document.activeElement)).toBe(true);
  // Lines are added; those that were there are not drawn, and not read out, again.
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
  const told = await readLatestRound();
  await page.reload();
  await waitUntil("rounds after the reload", async () => (await readLatestRound()) > told);
  expect(await page.locator(".capabilities .call-name").innerText()).toContain("set_title");
  await page.getByRole("button", { name: "Cancel" }).click();
  await findIdleStatus(page).waitFor();
  expect(await page.locator(".call-live").count()).toBe(0);
  expect(await findCards().first().getAttribute("data-state")).toBe("failed");
  expect(await readCardState()).toBe("canceled");
  expect(complaints).toEqual([]);
});

test("a run that waits for a sandbox says so, and the host's page who has it", async () => {
  onTestFinished(
    () =>
      void house.client
        .agent("busy")
        .cancel()
        .catch(() => {}),
  );
  await createAndOpenAgent("busy", [run(endless, { timeoutMs: 60_000 })]);
  await waitUntil("the first round", async () => (await readLatestRound()) >= 1);
  await createAndOpenAgent("patient", [
    run("for (;;) await new Promise((resolve) => setTimeout(resolve, 50));", { timeoutMs: 60_000 }),
  ]);
  await page.locator(".call-now", { hasText: "Waiting for a sandbox." }).waitFor();
  expect(await readCardState()).toBe("waits for a sandbox");
  await page.locator(".status-line", { hasText: "Waiting for a sandbox." }).waitFor();
  await takeScreenshots("code-waits", ["dark"]);
  const other = await page.context().newPage();
  await other.goto(`${house.url}/app`);
  const table = other.getByRole("table", { name: "Sandboxes" });
  const row = table.getByRole("row", { name: /^sandbox-0/ });
  await row.getByRole("link", { name: "busy" }).waitFor();
  expect(await row.innerText()).toMatch(/ready\s+busy in global\s+\d+\s+\d+(\.\d+)? MB/);
  await other.getByText("1 run waits").waitFor();
  await table.scrollIntoViewIfNeeded();
  await takeScreenshots("host-sandboxes", ["light"], other);
  await other.setViewportSize(phone);
  await table.scrollIntoViewIfNeeded();
  expect(await hasNoOverflow(other)).toBe(true);
  await takeScreenshots("host-sandboxes-phone", ["dark"], other);
  await other.close();
  await house.client.agent("busy").cancel();
  // It runs without a word, and is not said to wait any more.
  await findCards().locator(".call-state", { hasText: "running…" }).waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await findIdleStatus(page).waitFor();
  expect(complaints).toEqual([]);
});

const walled = existsSync("/usr/bin/bwrap");
if (!walled) console.log("Without bubblewrap no command can be run, so none is looked at.");

test.skipIf(!walled)("a command is shown as in a terminal, with its output as it comes and how it ended", async () => {
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
  await page.getByText("It ended with exit code 2.").waitFor();
  await takeScreenshots("command", ["dark"]);
  expect(complaints).toEqual([]);
});

test("hostile code, console, results and errors are shown and do nothing", async () => {
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
  for (const title of ["Result", "What went wrong", "Console"]) {
    const text = await findPart(title).first().innerText();
    expect(text).toContain('<img src=x onerror="window.hacked=1"><script>');
    expect(text).toContain("\u241b[31mred\u2407 \ufffdgnirts\ufffd");
  }
  const everything = await page.locator(".transcript").innerText();
  for (const character of "\u202e\u2066\u001b\u0007") expect(everything).not.toContain(character);
  expect(await page.locator("main img, main script, .transcript a").count()).toBe(0);
  expect(await page.evaluate("window.hacked")).toBeUndefined();
  await takeScreenshots("code-hostile", ["light"]);
  expect(complaints).toEqual([]);
});
