import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Message } from "@thinkery/sdk";
import type { Browser, Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { createLoginLink, type PageSession, openPage } from "./browser.ts";
import type { HostProcess } from "./host-process.ts";
import { findMain } from "./processes.ts";
import { waitUntil } from "./wait-until.ts";

/** A longer text in which every word is different. */
export const countingText = Array.from({ length: 150 }, (_, index) => `word${index}`).join(" ");

/** A user of the page who talks to the agents of a host. */
export class ChatUser {
  private readonly host: HostProcess;
  private readonly browser: Browser;

  constructor(host: HostProcess, browser: Browser) {
    this.host = host;
    this.browser = browser;
  }

  /** Creates an agent that plays this script, and opens it. */
  async createAndOpenAgent(
    name: string,
    script: object,
    options: Parameters<typeof openPage>[1] = {},
  ): Promise<PageSession> {
    await mkdir(join(this.host.home, "scripts"), { recursive: true });
    await writeFile(join(this.host.home, "scripts", `${name}.yaml`), JSON.stringify(script));
    await this.host.client.call("createAgent", {
      params: { agency: "global" },
      body: { name, model: `scripted:${name}` },
    });
    return this.openAgent(name, options);
  }

  async openAgent(name: string, options: Parameters<typeof openPage>[1] = {}): Promise<PageSession> {
    const session = await openPage(this.browser, options);
    onTestFinished(() => session.context.close());
    await session.page.goto(await createLoginLink(this.host));
    await session.page.getByRole("heading", { name: "Welcome" }).waitFor();
    await session.page.goto(`${this.host.url}/app/global/${name}`);
    await findIdleStatus(session.page).waitFor();
    return session;
  }

  async readMessages(agent: string): Promise<Message[]> {
    return (await this.host.client.call("listMessages", { params: { agency: "global", agent }, query: { limit: 500 } }))
      .messages;
  }

  /** Checks that the page shows exactly the agent's messages, in order. */
  async expectAllMessages(page: Page, agent: string): Promise<void> {
    const expected = (await this.readMessages(agent))
      .filter(({ role }) => role !== "tool")
      .map(({ id, content }) => ({ id, words: normalizeText(content) }));
    expect((await readTranscript(page)).map(({ id, words }) => ({ id, words: normalizeText(words) }))).toEqual(
      expected,
    );
  }

  async killMain(): Promise<void> {
    const { pid } = await waitUntil("main", () => findMain(this.host.home));
    process.kill(pid, "SIGKILL");
    await waitUntil("another main", () => findMain(this.host.home, pid));
  }
}

export async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel("Message to").fill(text);
  await page.getByLabel("Message to").press("Enter");
}

/** Finds text in the conversation; text for screen readers is elsewhere. */
export const findText = (page: Page, text: string | RegExp, exact = false) =>
  page.getByRole("log").getByText(text, { exact });

export const findIdleStatus = (page: Page) => page.locator('.status-line[data-status="idle"]', { hasText: "Idle" });

/** Every message on the page, with its id and text. */
export function readTranscript(page: Page): Promise<{ id: string; words: string }[]> {
  return page.locator(".entry").evaluateAll((entries) =>
    entries.map((entry) => ({
      id: (entry as HTMLElement).dataset.message ?? "",
      words: [...entry.querySelectorAll(":scope > .formatted-text > *")].map((part) => part.textContent).join(" "),
    })),
  );
}

export const readLastText = async (page: Page) => (await readTranscript(page)).at(-1)?.words ?? "";

/** Ignores backticks and white space, which the page renders differently. */
const normalizeText = (text: string) => text.replaceAll("`", "").replaceAll(/\s+/g, " ").trim();
