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

// The typed client in a page of another origin, which the host's configuration allows and which has its own token.

let host: HostProcess;
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
  [host, browser] = await Promise.all([startHostProcess({ home }), openBrowser()]);
});

afterAll(async () => {
  site?.closeAllConnections();
  site?.close();
  await browser?.close();
  await host?.stop();
  if (host) await removeHome(host.home);
});

interface TestWindow {
  sdk: typeof Sdk;
  progress: { texts: Record<string, string>; status?: string };
}

test("a page of another origin creates an agent, sends a message and follows the turn across kill -9", async () => {
  const { page, context, pageErrors } = await openPage(browser);
  await page.goto(origin);
  await page.evaluate(
    ([url, token]) => {
      const testWindow = window as unknown as TestWindow;
      const progress: TestWindow["progress"] = { texts: {} };
      testWindow.progress = progress;
      void (async () => {
        const agent = await testWindow.sdk
          .createClient({ url: url as string, token: token as string })
          .agents()
          .create({ name: "far", model: "scripted:counter" });
        const turn = await agent.send("Count.");
        for await (const event of turn) {
          if (event.type === "text")
            progress.texts[event.messageId] = (progress.texts[event.messageId] ?? "") + event.text;
          if (event.type === "discarded") delete progress.texts[event.messageId];
        }
        progress.status = (await turn.outcome()).status;
      })();
    },
    [host.url, host.token],
  );
  const readProgress = () => page.evaluate(() => (window as unknown as TestWindow).progress);
  await waitUntil("some text", async () =>
    Object.values((await readProgress()).texts).some((text) => text.includes("word9")),
  );
  const main = await waitUntil("main", () => findMain(host.home));
  process.kill(main.pid, "SIGKILL");
  const { texts, status } = await waitUntil("the outcome", async () =>
    (await readProgress()).status ? readProgress() : undefined,
  );
  expect(status).toBe("completed");
  const { messages } = await host.client.agent("far").messages();
  expect(Object.entries(texts)).toEqual(
    messages.filter(({ role }) => role === "assistant").map(({ id }) => [id, countingText]),
  );
  expect(pageErrors).toEqual([]);
  await context.close();
});
