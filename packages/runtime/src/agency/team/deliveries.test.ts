import { fail } from "@thinkery/sdk";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { DeliverySimulation } from "../../../../../tests/kit/delivery-simulation.ts";
import { createRandom, createSeededRandom } from "../../../../../tests/kit/random.ts";
import { getRepeatCount } from "../../../../../tests/kit/sample.ts";
import { createTeamParts, type TeamParts } from "../../../../../tests/kit/team-parts.ts";
import type { Deliveries, DeliveriesOptions, Delivery, DeliveryReport } from "./deliveries.ts";

const start = Date.parse("2026-01-01T00:00:00Z");

let team: TeamParts;
let sent: Delivery[];
let deliveries: Deliveries;

beforeEach(() => {
  vi.useFakeTimers({ now: start, toFake: ["Date"] });
  vi.spyOn(console, "error").mockImplementation(() => {});
  open();
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Opens an agency whose agents accept everything, unless the options say otherwise. */
function open(options: Partial<DeliveriesOptions> = {}): void {
  team = createTeamParts();
  sent = [];
  deliveries = team.createDeliveries({
    async send(delivery) {
      sent.push(delivery);
      return { runId: `run-${delivery.number}` };
    },
    ...options,
  });
}

const pass = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1000);

const createReport = (delivery: number, report: Partial<DeliveryReport> = {}): DeliveryReport => ({
  delivery,
  agent: "alice",
  runId: `run-${delivery}`,
  status: "completed",
  result: "Done.",
  hasProgress: true,
  usage: { inputTokens: 1, outputTokens: 1, costUsd: 0 },
  ...report,
});

const failed = (delivery: number, report: Partial<DeliveryReport> = {}) =>
  deliveries.settle(createReport(delivery, { status: "error", error: "No.", ...report }));

const listStatuses = (agent = "alice") => team.listItems(agent).map(({ status }) => status);

async function redeliver(seconds: number): Promise<number> {
  pass(seconds);
  await deliveries.deliver();
  return sent.length;
}

describe("a delivery", () => {
  test("has all that is due as one turn, the urgent first, and the next waits for its end", async () => {
    await team.post("@alice one");
    await team.post("@alice two", { priority: "low" });
    await team.post("@alice three", { priority: "high" });
    await deliveries.deliver();
    await team.post("@alice four");
    await deliveries.deliver();
    expect(sent.map(({ messages }) => messages)).toEqual([["msg-3", "msg-1", "msg-2"]]);
    expect(sent[0]).toMatchObject({ agent: "alice", channel: "general", from: "owner" });
    expect(deliveries.settle(createReport(1))).toBe(true);
    await deliveries.deliver();
    expect(sent[1]?.messages).toEqual(["msg-4"]);
    expect(listStatuses()).toEqual(["acked", "acked", "acked", "seen"]);
  });

  test("has at most 20 messages and 100,000 characters, but at least one message", async () => {
    for (let number = 0; number < 25; number++) await team.post("@alice");
    await deliveries.deliver();
    expect(sent[0]?.messages).toHaveLength(20);
    open();
    for (let number = 0; number < 3; number++) await team.post(`@alice ${"x".repeat(60_000)}`);
    await deliveries.deliver();
    deliveries.settle(createReport(1));
    await deliveries.deliver();
    expect(sent.map(({ messages }) => messages)).toEqual([["msg-1"], ["msg-2"]]);
  });

  test("is sent again under its number if nobody knows whether it arrived", async () => {
    let isLost = true;
    open({
      async send(delivery) {
        sent.push(delivery);
        if (isLost) throw new Error("Network connection lost.");
        return { runId: "run" };
      },
    });
    await team.post("@alice");
    await deliveries.deliver();
    expect(deliveries.getNextDueAt()).toBe(start + 5000);
    isLost = false;
    expect(await redeliver(5)).toBe(2);
    expect([sent[0]?.number, sent[1]?.number]).toEqual([1, 1]);
    expect(team.listItems("alice")[0]).toMatchObject({ status: "seen", attempts: 1 });
    expect(await redeliver(60)).toBe(2);
  });

  test("is sent again after a crash before its agent had it, also at once with what is new", async () => {
    open({ send: () => new Promise(() => {}) });
    await team.post("@alice");
    void deliveries.deliver();
    const sentAgain: Delivery[] = [];
    const next = team.createDeliveries({
      async send(delivery) {
        sentAgain.push(delivery);
        return { runId: "run" };
      },
    });
    await team.post("@bob");
    await Promise.all([next.deliver(), next.deliver(), next.deliver()]);
    expect(sentAgain.map(({ number, agent }) => [number, agent])).toEqual([
      [1, "alice"],
      [2, "bob"],
    ]);
  });

  test("is put back while its agent is stopped or its queue full, which is no attempt", async () => {
    let isStopped = true;
    open({
      async send(delivery) {
        if (isStopped) throw fail("conflict", "alice is stopped.");
        sent.push(delivery);
        return { runId: "run" };
      },
    });
    for (let number = 0; number < 30; number++) await team.post("@alice");
    for (let round = 0; round < 3; round++) await deliveries.deliver();
    expect(new Set(listStatuses())).toEqual(new Set(["pending"]));
    expect(team.listItems("alice").every(({ attempts, dueAt }) => attempts === 0 && dueAt === start + 60_000)).toBe(
      true,
    );
    expect(deliveries.getNextDueAt()).toBe(start + 60_000);
    isStopped = false;
    deliveries.resume("alice");
    await deliveries.deliver();
    expect(sent[0]?.messages).toHaveLength(20);
    // All of them are due, not only the first.
    expect(team.store.listDueItems("alice", Date.now(), 100)).toHaveLength(10);
  });

  test("that its agent refuses is an attempt that failed; one that never arrives, too, in the end", async () => {
    open({ send: () => Promise.reject(fail("too_large", "Your disk space is used up.")) });
    await team.post("@alice");
    await deliveries.deliver();
    expect(team.listItems("alice")[0]).toMatchObject({ status: "pending", error: "Your disk space is used up." });
    expect(team.store.listDeliveries()).toEqual([]);

    open({ send: () => Promise.reject(new Error("Network connection lost.")) });
    await team.post("@alice");
    for (let round = 0; round < 59; round++) await redeliver(5);
    expect(listStatuses()).toEqual(["seen"]);
    await redeliver(5);
    expect(team.listItems("alice")[0]).toMatchObject({ status: "pending", error: "The agent could not be reached." });
  });

  test("is not made for agents that are gone, nor while everything is held", async () => {
    let isHeld = true;
    open({
      isHeld: () => isHeld,
      hasAgent: (name) => name !== "bob",
      send: async (delivery) => (sent.push(delivery), { runId: "run" }),
    });
    await team.post("@alice @bob");
    await deliveries.deliver();
    expect([sent, deliveries.getNextDueAt()]).toEqual([[], undefined]);
    isHeld = false;
    expect(deliveries.getNextDueAt()).toBe(start);
    await deliveries.deliver();
    expect(sent.map(({ agent }) => agent)).toEqual(["alice"]);
    expect(deliveries.getNextDueAt()).toBeUndefined();
  });

  test("to many agents is sent to one after the other, whichever of them hangs, and no longer once everything is held", async () => {
    const names = Array.from({ length: 30 }, (_, index) => `agent-${index}`);
    const deliverTo = async (isHeld: () => boolean) => {
      team = createTeamParts(names);
      sent = [];
      deliveries = team.createDeliveries({
        isHeld,
        async send(delivery) {
          sent.push(delivery);
          if (delivery.number % 7 === 0) await new Promise(() => {});
          return { runId: "run" };
        },
      });
      await team.post("hello", { to: names });
      void deliveries.deliver();
      void deliveries.deliver();
    };
    await deliverTo(() => false);
    await vi.waitFor(() => expect(sent).toHaveLength(30), 10_000);
    expect(new Set(sent.map(({ agent }) => agent)).size).toBe(30);

    let isHeld = false;
    await deliverTo(() => isHeld);
    await vi.waitFor(() => expect(sent.length).toBeGreaterThan(10), 10_000);
    isHeld = true;
    const { length } = sent;
    await vi.waitFor(() => expect(deliveries.getNextDueAt()).toBeUndefined());
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(sent).toHaveLength(length);
    isHeld = false;
    void deliveries.deliver();
    await vi.waitFor(() => expect(sent).toHaveLength(30), 10_000);
  });

  test("of messages whose channel is deleted is closed", async () => {
    open({ send: () => Promise.reject(new Error("Network connection lost.")) });
    team.channels.create({ name: "news" }, { kind: "user", name: "owner" });
    await team.post("@alice", { channel: "news" });
    await deliveries.deliver();
    team.channels.hide("news");
    await team.channels.clear();
    await redeliver(5);
    expect([team.store.listDeliveries(), team.store.hasOpenItems()]).toEqual([[], false]);
  });
});

describe("a report", () => {
  test("counts once, from the agent that had the messages, and not after another delivery has them", async () => {
    await team.post("@alice");
    await deliveries.deliver();
    expect(deliveries.settle(createReport(1, { agent: "bob" }))).toBe(false);
    expect(deliveries.settle(createReport(7))).toBe(false);
    expect(failed(1)).toBe(true);
    expect(failed(1)).toBe(false);
    await redeliver(2);
    expect(deliveries.settle(createReport(1))).toBe(false);
    expect(listStatuses()).toEqual(["seen"]);
    expect(deliveries.settle(createReport(2, { agent: "ALICE" }))).toBe(true);
    expect(listStatuses()).toEqual(["acked"]);
  });

  test("that comes before the agent's response is not lost", async () => {
    open({
      async send({ number }) {
        deliveries.settle(createReport(number));
        return { runId: "run" };
      },
    });
    await team.post("@alice");
    await deliveries.deliver();
    expect([listStatuses(), team.store.listDeliveries()]).toEqual([["acked"], []]);
  });

  test("of a failure brings the messages again, later each time, until they are given up with the reason", async () => {
    const givenUp: unknown[] = [];
    open({ onGivenUp: (item, message, reason) => givenUp.push([item.agent, message.number, item.attempts, reason]) });
    await team.post("@alice");
    await deliveries.deliver();
    failed(1);
    expect(deliveries.getNextDueAt()).toBe(start + 2000);
    expect(await redeliver(1.9)).toBe(1);
    expect(await redeliver(0.1)).toBe(2);
    failed(2);
    expect(await redeliver(7.9)).toBe(2);
    expect(await redeliver(0.1)).toBe(3);
    failed(3, { error: "Really not." });
    expect(givenUp).toEqual([["alice", 1, 3, "Really not."]]);
    expect(team.listItems("alice")[0]).toMatchObject({ status: "given_up", error: "Really not.", attempts: 3 });
    expect([await redeliver(1e6), deliveries.getNextDueAt()]).toEqual([3, undefined]);
  });

  test("waits at most an hour for another attempt", async () => {
    open({ getSettings: () => ({ maxAttempts: 20, backoffSeconds: 2 }) });
    await team.post("@alice");
    for (let number = 1; number <= 19; number++) {
      await redeliver(3600);
      failed(number);
      expect(deliveries.getNextDueAt()).toBeLessThanOrEqual(Date.now() + 3600_000);
    }
  });

  test("of a failure that another attempt cannot help gives the messages up at once", async () => {
    await team.post("@alice");
    await deliveries.deliver();
    failed(1, { isFinal: true });
    expect(listStatuses()).toEqual(["given_up"]);
  });

  test("of a turn that was stopped or replaced puts the messages back", async () => {
    await team.post("@alice");
    for (let number = 1; number <= 10; number++) {
      await deliveries.deliver();
      failed(number, { status: "canceled", isFinal: true, isPutBack: true });
    }
    expect(team.listItems("alice")[0]).toMatchObject({ status: "pending", attempts: 0, failures: 0 });
  });

  test("changes nothing that the agent put off or acknowledged in its turn", async () => {
    await team.post("@alice one");
    await team.post("@alice two");
    await team.post("@alice three");
    await deliveries.deliver();
    team.inboxes.defer("alice", { id: "msg-1", until: 60 }, Date.now());
    await team.inboxes.ack("alice", { ids: ["msg-2"] });
    failed(1, { isFinal: true });
    expect(listStatuses()).toEqual(["deferred", "acked", "given_up"]);
    expect(deliveries.getNextDueAt()).toBe(start + 60_000);
    await redeliver(60);
    expect(sent[1]?.messages).toEqual(["msg-1"]);
  });

  test("of a failure is not held against an agent for what it had put off before", async () => {
    await team.post("@alice");
    for (let number = 1; number <= 5; number++) {
      await redeliver(60);
      team.inboxes.defer("alice", { id: "msg-1", until: 60 }, Date.now());
      deliveries.settle(createReport(number));
    }
    await redeliver(60);
    failed(6);
    expect(team.listItems("alice")[0]).toMatchObject({ status: "pending", attempts: 6, failures: 1 });
    expect(deliveries.getNextDueAt()).toBe(Date.now() + 2000);
  });
});

describe("whatever agents do", () => {
  test("each message is handled once, or given up", async () => {
    const { seed } = createRandom("deliveries");
    const rounds = getRepeatCount("delivery rounds", { sample: 60, full: 1000 });
    const totals: Record<string, number> = {};
    for (let round = 0; round < rounds; round++) {
      const random = createSeededRandom(seed, `deliveries ${round}`);
      const simulation = new DeliverySimulation(random);
      await simulation.run(50 + random.below(150));
      await simulation.end();
      expect([round, simulation.listProblems()]).toEqual([round, []]);
      for (const [name, count] of Object.entries(simulation.counts)) totals[name] = (totals[name] ?? 0) + count;
    }
    // Everything that can happen has happened.
    console.log(`deliveries: ${JSON.stringify(totals)}`);
    for (const [name, count] of Object.entries(totals)) expect([name, count > 0]).toEqual([name, true]);
  });
});
