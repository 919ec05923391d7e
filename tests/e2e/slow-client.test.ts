import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Talk, talk } from "@thinkery/sdk/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { createHomePath, type HostProcess, startHostProcess, removeHome } from "../kit/host-process.ts";
import { waitUntil } from "../kit/wait-until.ts";

const params = { agency: "global", agent: "alice" };
const turns = 8;

let home: string;
let house: HostProcess;
let healthy: Talk;

beforeAll(async () => {
  home = await createHomePath();
  await mkdir(join(home, "scripts"), { recursive: true, mode: 0o700 });
  // Every turn tells each client some megabytes: the words, the message, the outcome, and the events of all three.
  await writeFile(join(home, "scripts", "long.yaml"), `- text: "${"lorem ipsum ".repeat(30_000)}"\n`);
  house = await startHostProcess({ home });
  await house.client.call("createAgent", {
    params: { agency: "global" },
    body: { name: "alice", model: "scripted:long" },
  });
});

afterAll(async () => {
  healthy?.close();
  await house?.stop();
  await removeHome(home);
});

test("a client that does not read is cut off and may go on later; one that reads hears everything", async () => {
  const url = `${house.url.replace("http", "ws")}/agency/global/agent/alice/ws`;
  const headers = { authorization: `Bearer ${house.token}` };
  const heard: number[] = [];
  const states: string[] = [];
  healthy = talk({
    url,
    token: house.token,
    onFrame: (frame) => "seq" in frame && heard.push(frame.seq),
    onConnection: (state) => states.push(state),
    connect: (address, given) => new WebSocket(address, { headers: given }) as unknown as globalThis.WebSocket,
  });
  const deaf = new WebSocket(url, { headers });
  await new Promise((resolve) => deaf.once("open", resolve));
  deaf.pause();

  for (let turn = 0; turn < turns; turn++) {
    await house.client.call("serve", { body: { agent: "alice", message: `turn ${turn}` } });
  }
  const { events: total } = await house.client.call("getUsage", { params });
  await waitUntil("the reader to have heard all", () => heard.at(-1) === total);
  expect(heard).toEqual(Array.from({ length: total - (heard[0] ?? 0) + 1 }, (_, index) => (heard[0] ?? 0) + index));
  expect(states).toEqual(["open"]);

  const seen: number[] = [];
  deaf.on("message", (data) => {
    const frame = JSON.parse(String(data)) as { seq?: number };
    if (frame.seq !== undefined) seen.push(frame.seq);
  });
  const closed = new Promise<number>((resolve) => deaf.once("close", resolve));
  deaf.resume();
  // The line itself ends some seconds after the close frame, when the object sleeps.
  await waitUntil("the close", () => deaf.readyState === WebSocket.CLOSING);
  deaf.terminate();
  expect(await closed).toBe(1013);
  const last = seen.at(-1) ?? 0;
  expect(last).toBeLessThan(total);

  // It goes on from where it was cut off, and misses nothing.
  const { events } = await house.client.call("listEvents", { params, query: { after: last, limit: 1000 } });
  expect(events[0]?.seq).toBe(last + 1);
});
