import { readdir, readFile } from "node:fs/promises";
import type { AgentHandle } from "@thinkery/sdk/client";
import { startHost, type TestHost } from "@thinkery/sdk/test";
import { afterAll, beforeAll, expect, test } from "vitest";

const shop = new URL("../shop/", import.meta.url);
const modules = ["cart", "coupons", "shipping", "tax"];

let host: TestHost;

beforeAll(async () => {
  const scripts = {
    lead: new URL("../scripts/lead.yaml", import.meta.url),
    refactorer: new URL("../scripts/refactorer.yaml", import.meta.url),
  };
  host = await startHost({ worker: new URL("./worker.ts", import.meta.url), scripts });
});

afterAll(() => host?.stop());

async function newLead(name: string): Promise<AgentHandle> {
  const lead = await host.agent(name, { blueprint: "lead" });
  const files = await readdir(shop, { recursive: true, withFileTypes: true });
  const edits = await Promise.all(
    files
      .filter((file) => file.isFile())
      .map(async (file) => {
        const path = `${file.parentPath}/${file.name}`.slice(shop.pathname.length).replace(/^\/+/, "");
        return { write: path, content: await readFile(new URL(path, shop), "utf8") };
      }),
  );
  await lead.editFiles(edits);
  return lead;
}

async function ask(lead: AgentHandle, message: string): Promise<string> {
  const outcome = await (await lead.send(message)).outcome();
  expect(outcome).toMatchObject({ status: "completed" });
  return outcome.content;
}

const read = async (lead: AgentHandle, path: string) => (await lead.file(path)).text();

test("four refactorers change four modules at the same time, and all of it is merged", async () => {
  const lead = await newLead("lea");
  const answer = await ask(lead, "Refactor the shop.");
  expect(answer.match(/Its branch was merged as version \d+\./g)).toHaveLength(modules.length);
  for (const name of modules) expect(await read(lead, `src/${name}.js`)).not.toContain("var ");
  // All of them added a line at the same place, so the later ones met the earlier ones.
  const changes = await read(lead, "CHANGES.md");
  for (const name of modules) expect(changes).toContain(`src/${name}.js is simpler`);
  const subagents = await lead.subagents();
  const merges = subagents.map(({ merge }) => merge);
  expect(merges.map((merge) => [merge?.isMerged, merge?.check?.exitCode])).toEqual(modules.map(() => [true, 0]));
  expect(merges.filter((merge) => merge?.overlaps.length === 1)).toHaveLength(modules.length - 1);
}, 90_000);

test("what breaks the shop is not merged, and stays on its branch", async () => {
  const lead = await newLead("leo");
  const before = await read(lead, "src/tax.js");
  const answer = await ask(lead, "Refactor it carelessly.");
  expect(answer).toMatch(
    /The work is on branch “(subagent-[\w-]+)”\. It was not merged: the check “sh check\.sh” failed/,
  );
  expect(answer).toContain("src/tax.js does not export addTax");
  expect(await read(lead, "src/tax.js")).toBe(before);
  const [branch] = await lead.branches();
  const kept = await lead.file("src/tax.js", { branch: branch?.id ?? "" });
  expect(await kept.text()).toContain("export function withTax");
}, 90_000);
