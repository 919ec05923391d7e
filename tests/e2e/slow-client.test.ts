import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type AgentSocket, openAgentSocket } from "@thinkery/sdk/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { createHomePath, type HostProcess, startHostProcess, removeHome } from "../kit/host-process.ts";
import { waitUntil } from "../kit/wait-until.ts";

const params = { agency: "global", agent: "alice" };
const turns = 8;

let home: string;
let host: HostProcess;
let healthy: AgentSocket;

beforeAll(async () => {
  home = await createHomePath();
  await mkdir(join(home, "scripts"), { recursive: true, mode: 0o700 });
  // Each turn sends each client some megabytes: the deltas, the message, the outcome, and the events of all three.
  await writeFile(join(home, "scripts", "long.yaml"), `- text: "${"lorem ipsum ".repeat(30_000)}"\n`);
  host = await startHostProcess({ home });
  await host.client.call("createAgent", {
    params: { agency: "global" },
    body: { name: "alice", model: "scripted:long" },
  });
});

afterAll(async () => {
  healthy?.close();
  await host?.stop();
  await removeHome(home);
});

test("a client that does not read is disconnected and can resume later; one that reads receives everything", async () => {
  const url = `${host.url.replace("http", "ws")}/agency/global/agent/alice/ws`;
  const headers = { authorization: `Bearer ${host.token}` };
  const received: number[] = [];
  const states: string[] = [];
  healthy = openAgentSocket({
    url,
    token: host.token,
    onFrame: (frame) => "seq" in frame && received.push(frame.seq),
    onConnection: (state) => states.push(state),
    connect: (address, options) => new WebSocket(address, { headers: options }) as unknown as globalThis.WebSocket,
  });
  const stalled = new WebSocket(url, { headers });
  await new Promise((resolve) => stalled.once("open", resolve));
  stalled.pause();

  for (let turn = 0; turn < turns; turn++) {
    await host.client.call("serve", { body: { agent: "alice", message: `turn ${turn}` } });
  }
  const { events: total } = await host.client.call("getUsage", { params });
  await waitUntil("the reader to receive everything", () => received.at(-1) === total);
  const first = received[0] ?? 0;
  expect(received).toEqual(Array.from({ length: total - first + 1 }, (_, index) => first + index));
  expect(states).toEqual(["open"]);

  const receivedLate: number[] = [];
  stalled.on("message", (data) => {
    const frame = JSON.parse(String(data)) as { seq?: number };
    if (frame.seq !== undefined) receivedLate.push(frame.seq);
  });
  const closed = new Promise<number>((resolve) => stalled.once("close", resolve));
  stalled.resume();
  // The TCP connection ends some seconds after the close frame, when the object hibernates.
  await waitUntil("the close", () => stalled.readyState === WebSocket.CLOSING);
  stalled.terminate();
  expect(await closed).toBe(1013);
  const last = receivedLate.at(-1) ?? 0;
  expect(last).toBeLessThan(total);

  // It can resume where it was disconnected without missing anything.
  const { events } = await host.client.call("listEvents", { params, query: { after: last, limit: 1000 } });
  expect(events[0]?.seq).toBe(last + 1);
});
