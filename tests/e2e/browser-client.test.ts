import { mkdir, writeFile } from "node:fs/promises";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type * as Sdk from "@thinkery/sdk/client";
import { build } from "esbuild";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser, openPage } from "../kit/browser.ts";
import { countingText } from "../kit/chat.ts";
import { createHomePath, type HostProcess, startHostProcess, removeHome } from "../kit/host-process.ts";
import { findMain } from "../kit/processes.ts";
import { waitUntil } from "../kit/wait-until.ts";

// The typed client in a page of another origin, which the host's configuration names and which brings its own token.

let house: HostProcess;
let browser: Browser;
let site: http.Server;
let origin: string;

beforeAll(async () => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("../../packages/sdk/src/client/client.ts", import.meta.url))],
    bundle: true,
    write: false,
    format: "iife",
    globalName: "sdk",
  });
  const script = outputFiles[0]?.text ?? "";
  site = http.createServer((request, response) => {
    if (request.url === "/sdk.js") response.writeHead(200, { "content-type": "text/javascript" }).end(script);
    else
      response
        .writeHead(200, { "content-type": "text/html" })
        .end('<!doctype html><title>Elsewhere</title><script src="/sdk.js"></script>');
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const home = await createHomePath();
  await mkdir(join(home, "scripts"), { recursive: true, mode: 0o700 });
  await writeFile(join(home, "config.jsonc"), JSON.stringify({ allowedOrigins: [origin] }));
  await writeFile(
    join(home, "scripts", "counter.yaml"),
    JSON.stringify({ pace: 15, exchanges: [{ steps: [{ text: countingText }] }] }),
  );
  [house, browser] = await Promise.all([startHostProcess({ home }), openBrowser()]);
});

afterAll(async () => {
  site?.closeAllConnections();
  site?.close();
  await browser?.close();
  await house?.stop();
  if (house) await removeHome(house.home);
});

interface Elsewhere {
  sdk: typeof Sdk;
  told: { said: Record<string, string>; status?: string };
}

test("it makes an agent, talks to it and is told the turn to its end, over kill -9", async () => {
  const { page, context, complaints } = await openPage(browser);
  await page.goto(origin);
  await page.evaluate(
    ([url, token]) => {
      const here = window as unknown as Elsewhere;
      const told: Elsewhere["told"] = { said: {} };
      here.told = told;
      void (async () => {
        const agent = await here.sdk
          .createClient({ url: url as string, token: token as string })
          .agents()
          .create({ name: "far", model: "scripted:counter" });
        const turn = await agent.send("Count.");
        for await (const event of turn) {
          if (event.type === "text") told.said[event.messageId] = (told.said[event.messageId] ?? "") + event.text;
          if (event.type === "unsaid") delete told.said[event.messageId];
        }
        told.status = (await turn.outcome()).status;
      })();
    },
    [house.url, house.token],
  );
  const told = () => page.evaluate(() => (window as unknown as Elsewhere).told);
  await waitUntil("some words", async () => Object.values((await told()).said).some((text) => text.includes("word9")));
  const main = await waitUntil("main", () => findMain(house.home));
  process.kill(main.pid, "SIGKILL");
  const { said, status } = await waitUntil("the outcome", async () => ((await told()).status ? told() : undefined));
  expect(status).toBe("completed");
  const { messages } = await house.client.agent("far").messages();
  expect(Object.entries(said)).toEqual(
    messages.filter(({ role }) => role === "assistant").map(({ id }) => [id, countingText]),
  );
  expect(complaints).toEqual([]);
  await context.close();
});
