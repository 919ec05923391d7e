import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Message } from "@thinkery/sdk";
import type { Browser, Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { loginLink, type Visit, visit } from "./browser.ts";
import type { House } from "./house.ts";
import { mainOf } from "./processes.ts";
import { until } from "./until.ts";

/** A text of some length in which every word can be told from the others. */
export const counting = Array.from({ length: 150 }, (_, index) => `word${index}`).join(" ");

/** A person at the page's conversations with the agents of a house. */
export class Guest {
  private readonly house: House;
  private readonly browser: Browser;

  constructor(house: House, browser: Browser) {
    this.house = house;
    this.browser = browser;
  }

  /** Makes an agent that plays this script, and goes to it. */
  async meet(name: string, script: object, options: Parameters<typeof visit>[1] = {}): Promise<Visit> {
    await mkdir(join(this.house.home, "scripts"), { recursive: true });
    await writeFile(join(this.house.home, "scripts", `${name}.yaml`), JSON.stringify(script));
    await this.house.client.call("createAgent", { params: { agency: "global" }, body: { name, model: `scripted:${name}` } });
    return this.enter(name, options);
  }

  async enter(name: string, options: Parameters<typeof visit>[1] = {}): Promise<Visit> {
    const visited = await visit(this.browser, options);
    onTestFinished(() => visited.context.close());
    await visited.page.goto(await loginLink(this.house));
    await visited.page.getByRole("heading", { name: "Welcome" }).waitFor();
    await visited.page.goto(`${this.house.url}/app/global/${name}`);
    await idle(visited.page).waitFor();
    return visited;
  }

  async messages(agent: string): Promise<Message[]> {
    return (await this.house.client.call("listMessages", { params: { agency: "global", agent }, query: { limit: 500 } })).messages;
  }

  /** The page shows every message of the agent, in order, and nothing else. */
  async expectTruth(page: Page, agent: string): Promise<void> {
    const told = (await this.messages(agent)).filter(({ role }) => role !== "tool").map(({ id, content }) => ({ id, words: squeezed(content) }));
    expect((await transcript(page)).map(({ id, words }) => ({ id, words: squeezed(words) }))).toEqual(told);
  }

  async killMain(): Promise<void> {
    const { pid } = await until("main", () => mainOf(this.house.home));
    process.kill(pid, "SIGKILL");
    await until("another main", () => mainOf(this.house.home, pid));
  }
}

export async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel("Message to").fill(text);
  await page.getByLabel("Message to").press("Enter");
}

/** A place in the conversation; what is read out stands elsewhere. */
export const shown = (page: Page, text: string | RegExp, exact = false) => page.getByRole("log").getByText(text, { exact });

export const idle = (page: Page) => page.locator('.status-line[data-status="idle"]', { hasText: "Idle." });

/** Every message the page shows, by id, with its words. */
export function transcript(page: Page): Promise<{ id: string; words: string }[]> {
  return page.locator(".entry").evaluateAll((entries) =>
    entries.map((entry) => ({
      id: (entry as HTMLElement).dataset.message ?? "",
      words: [...entry.querySelectorAll(":scope > .words > *")].map((part) => part.textContent).join(" "),
    })),
  );
}

export const lastWords = async (page: Page) => (await transcript(page)).at(-1)?.words ?? "";

/** Words only: what is shown has no backticks and other spaces. */
const squeezed = (text: string) => text.replaceAll("`", "").replaceAll(/\s+/g, " ").trim();
