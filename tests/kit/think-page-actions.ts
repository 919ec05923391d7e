import type { Page } from "playwright-core";
import type { PageWindow } from "./think-page.ts";

// Actions and queries of tests on a page with the hook.

/** Evaluates a function of the hook's result inside the page. */
export const readHook = <T>(page: Page, read: (hook: PageWindow["page"]) => T): Promise<T> =>
  page.evaluate(`(${read.toString()})(window.page)`) as Promise<T>;

export const send = (page: Page, text: string) =>
  page.evaluate((text) => (window as unknown as PageWindow).page.think.send(text), text);

export const cancel = (page: Page) => page.evaluate(() => (window as unknown as PageWindow).page.think.cancel());

/** Shows the conversation with this agent, or none. */
export const show = (page: Page, agent: string | undefined) =>
  page.evaluate((agent) => (window as unknown as PageWindow).page.show(agent), agent);

export const waitForStatus = (page: Page, status: string) => page.locator(`main[data-status="${status}"]`).waitFor();

export const readTexts = (page: Page) => readHook(page, ({ think }) => think.messages.map(({ text }) => text));

export const readLastText = async (page: Page) => (await readTexts(page)).at(-1) ?? "";

export const waitForConnection = (page: Page) =>
  page.locator('main[data-connection="open"][data-ready="true"]').waitFor();
