import type { Outcome } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { HostProcess } from "../kit/host-process.ts";
import { createRandom } from "../kit/random.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { ask, askJson, deployAgent, listMessages, readState, startAgentHost, waitForLog } from "../kit/user-agent.ts";
import { waitUntil } from "../kit/wait-until.ts";

// Turns of an agent's code that are interrupted: by their user, or by the next message.

let host: HostProcess;

beforeAll(async () => {
  host = await startAgentHost();
});

afterAll(() => host?.stop());

test("an interrupt aborts the signal with its reason; calls throw it, and lines of the log still arrive", async () => {
  const { client } = host;
  await deployAgent(client, "polite", {
    async onMessage({ content }, ctx) {
      if (content !== "wait") return ctx.send(ctx.conversation.map((message) => message.content).join(" | "));
      const reply = ctx.reply();
      await reply.write("I begin. ");
      ctx.setState({ changed: true });
      ctx.log.info(`aborted: ${ctx.signal.aborted}`);
      await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
      ctx.log.info(`reason: ${(ctx.signal.reason as Error).message}`);
      const attempts = [() => ctx.storage.get("x"), () => reply.write("Late."), () => ctx.ai.generate("x")];
      for (const attempt of attempts) {
        try {
          await attempt();
          ctx.log.error("It succeeded.");
        } catch (error) {
          ctx.log.info(`error: ${(error as Error).message}`);
        }
      }
    },
  });
  const turn = await client.agent("polite").send("wait");
  await waitForLog(client, "polite", 1);
  await turn.cancel();
  expect(await turn.outcome()).toMatchObject({ status: "canceled" });
  const lines = await waitForLog(client, "polite", 5);
  const reason = lines[1]?.replace("reason: ", "");
  expect(reason).toBeTruthy();
  expect(lines).toEqual(["aborted: false", `reason: ${reason}`, ...Array(3).fill(`error: ${reason}`)]);
  expect(await listMessages(client, "polite")).toEqual([
    ["user", "complete", "wait"],
    ["assistant", "cancelled", "I begin. "],
  ]);
  // What it said counts, what it changed does not.
  expect(await ask(client, "polite", "recall")).toBe("wait | I begin. ");
  expect(await readState(client, "polite")).toEqual({});
});

test("code that ignores its interrupt holds up nothing, and what it does later has no effect", async () => {
  const { client } = host;
  await deployAgent(
    client,
    "stubborn",
    {
      async onMessage({ content }, ctx) {
        if (content !== "stay") return ctx.send(JSON.stringify(ctx.state));
        await ctx.reply().write("Forever. ");
        ctx.log.info("staying");
        ctx.setState({ stayed: true });
        const kept = globalThis as unknown as { results?: string[] };
        kept.results = [];
        ctx.signal.addEventListener("abort", () => {
          const timer = setInterval(() => {
            const late = [
              () => ctx.send("Late."),
              () => ctx.fs.writeFile("late.txt", "x"),
              () => ctx.storage.set("a", 1),
            ];
            for (const attempt of late)
              void Promise.resolve()
                .then(attempt)
                .then(
                  () => kept.results?.push("It succeeded."),
                  () => kept.results?.push("refused"),
                );
          }, 100);
          setTimeout(() => clearInterval(timer), 2000);
        });
        await new Promise(() => {});
      },
      tools: {
        report: {
          description: "Returns the results of the late attempts.",
          execute: () => (globalThis as unknown as { results?: string[] }).results ?? [],
        },
      },
    },
    { capabilities: ["fs"] },
  );
  await deployAgent(
    client,
    "reporter",
    { onMessage: async (_, ctx) => ctx.send(JSON.stringify(await ctx.tools.execute("stubborn__report"))) },
    { capabilities: ["tools"] },
  );
  const agent = client.agent("stubborn");
  const turn = await agent.send("stay");
  await waitForLog(client, "stubborn", 1);
  const next = await agent.send({ message: "next", mode: "interrupt" });
  expect((await turn.outcome()).status).toBe("canceled");
  expect((await next.outcome()).content).toBe("{}");
  const results = await waitUntil("the late attempts", async () => {
    const found = (await askJson(client, "reporter")) as string[];
    return found.length >= 15 && found;
  });
  expect(new Set(results)).toEqual(new Set(["refused"]));
  expect((await listMessages(client, "stubborn")).map(([, status, content]) => [status, content])).toEqual([
    ["complete", "stay"],
    ["cancelled", "Forever. "],
    ["complete", "next"],
    ["complete", "{}"],
  ]);
  expect((await agent.files()).files).toEqual([]);
});

test("turns that are interrupted at random points leave no open message and no half state", async () => {
  const { client } = host;
  const random = createRandom("user-agent-interrupts");
  await deployAgent(
    client,
    "interrupted",
    {
      state: { count: 0 },
      async onMessage({ content }, ctx) {
        const [first, second] = [ctx.reply(), ctx.reply()];
        ctx.setState({ count: ctx.state.count + 1 });
        for (let step = 0; step < 4; step++) {
          await first.write(`${content}.${step} `);
          void second.write("x");
          await ctx.storage.set(`${content}.${step}`, step);
          await first.thinking("Hm.");
          if (step % 2) await ctx.tools.execute("bash", { command: `echo ${content} ${step}` });
          else await ctx.fs.writeFile("a.txt", content);
          await new Promise((resolve) => setTimeout(resolve, 3));
        }
        await ctx.storage.set("count", ctx.state.count);
      },
    },
    { capabilities: ["tools", "fs"] },
  );
  const agent = client.agent("interrupted");
  const outcomes: Outcome[] = [];
  const count = getRepeatCount("user-agent-interrupts", { sample: 20, full: 300 });
  for (let index = 0; index < count; index++) {
    const turn = await agent.send(`m${index}`);
    const kind = random.pick(["cancel", "interrupt", "stop", "none"]);
    // A random point of its work; on a busy machine another one.
    await new Promise((resolve) => setTimeout(resolve, random.below(80)));
    if (kind === "cancel") await turn.cancel();
    if (kind === "interrupt")
      outcomes.push(await (await agent.send({ message: `i${index}`, mode: "interrupt" })).outcome());
    if (kind === "stop") {
      await agent.stop();
      await agent.start();
    }
    outcomes.push(await turn.outcome());
    const completed = outcomes.filter(({ status }) => status === "completed").length;
    expect(outcomes.filter(({ status }) => status === "error")).toEqual([]);
    expect([index, kind, await readState(client, "interrupted")]).toEqual([
      index,
      kind,
      completed > 0 ? { count: completed } : {},
    ]);
  }
  const statuses = (await listMessages(client, "interrupted")).map(([role, status]) => `${role} ${status}`);
  expect([...new Set(statuses)].toSorted()).toEqual(
    expect.arrayContaining(["assistant complete", "tool complete", "user complete"]),
  );
  expect(statuses.filter((status) => !/complete$|cancelled$/.test(status))).toEqual([]);
  // Storage has exactly what completed turns have kept.
  const completed = outcomes.filter(({ status }) => status === "completed");
  const exported = await fetch(`${host.url}/agency/global/agent/interrupted/export`, {
    headers: { authorization: `Bearer ${host.token}` },
  });
  const { codeValues } = (await exported.json()) as { codeValues: { key: string; value: unknown }[] };
  const stored = Object.fromEntries(codeValues.map(({ key, value }) => [key, value]));
  expect(stored.count).toBe(completed.length);
  expect(Object.keys(stored)).toHaveLength(1 + 4 * completed.length);
  for (const { content } of completed)
    expect(content).toMatch(/^[mi]\d+\.0 [mi]\d+\.1 [mi]\d+\.2 [mi]\d+\.3 \n\nxxxx$/);
});

test("only the turn that is meant is canceled, and one that waits can be, too", async () => {
  const { client } = host;
  await deployAgent(client, "several", {
    async onMessage({ content }, ctx) {
      await ctx.reply().write(`Begun ${content}.`);
      if (content === "first") await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
    },
  });
  const agent = client.agent("several");
  const [first, second, third] = [await agent.send("first"), await agent.send("second"), await agent.send("third")];
  await second.cancel();
  expect((await second.outcome()).status).toBe("canceled");
  await first.cancel();
  expect((await first.outcome()).status).toBe("canceled");
  expect(await third.outcome()).toMatchObject({ status: "completed", content: "Begun third." });
});
