import { expect, test } from "vitest";
import { createRandom } from "../../../../tests/kit/random.ts";
import { AgentDouble } from "./agent-double.ts";
import type { Conversation } from "./conversation.ts";
import type { Entry } from "./entry.ts";
import { dropEarlierNotes } from "./note.ts";
import { ReaderDouble } from "./reader-double.ts";

/** What a reader sees of each message. A question taken back in time is shown to those who saw it asked, to nobody else. */
function toShown({ entries }: Conversation) {
  return entries
    .filter(({ role, stage }) => !(role === "user" && stage === "canceled"))
    .map(({ id, seq, role, stage, text, reasoning, reasoningSize, calls, error }: Entry) => ({
      id,
      seq,
      role,
      stage,
      text,
      reasoning,
      reasoningSize,
      calls: calls.map(({ id, name, input, result, capabilities }) => {
        const { failed, output, errorCode, ms } = result ?? {};
        return { id, name, input, failed, output, errorCode, ms, capabilities };
      }),
      error: error?.message,
    }));
}

test("whatever happens, in whatever order, everybody ends up with what the agent would tell a newcomer", () => {
  const chance = createRandom("conversation");
  for (let world = 0; world < 150; world++) {
    const agent = new AgentDouble();
    const readers = [new ReaderDouble(agent), new ReaderDouble(agent), new ReaderDouble(agent)];
    let asked = 0;
    const word = () => chance.text(1 + chance.below(6), "abc `\n<");
    const deeds = [
      () =>
        agent.say(
          `q${chance.chance(0.15) ? chance.below(asked + 1) : asked++}`,
          word(),
          chance.pick(["queue", "queue", "steer", "interrupt"]),
        ),
      () => agent.startStep(),
      () => agent.startStep(),
      () => agent.stream(word(), chance.chance(0.3) ? word() : ""),
      () => agent.stream(word(), ""),
      () => agent.finishStep(chance.pick([[], [], ["one"], ["one", "two"]])),
      () => agent.answerTool(word(), chance.chance(0.3)),
      () => agent.answerTool(word(), false),
      () => agent.callWithin(word(), { [word()]: word() }),
      () => agent.answerWithin(word(), { failed: chance.chance(0.3), latest: chance.chance(0.3) }),
      () => agent.show(word()),
      () => chance.chance(0.3) && agent.retryStep(),
      () => chance.chance(0.2) && agent.fail(word()),
      () => chance.chance(0.3) && agent.cancel(chance.chance(0.5) ? agent.running : agent.queue[0]?.id),
      () => chance.chance(0.2) && agent.nap(),
      () => chance.chance(0.3) && agent.note(chance.pick(["", "onTick"])),
      () => {
        if (chance.chance(0.9)) return;
        agent.crash();
        for (const reader of readers) reader.leave();
      },
      () => chance.chance(0.05) && agent.clear(),
      () => chance.pick(readers).leave(),
      () => chance.pick(readers).connect(),
    ];
    for (let step = 0; step < 120; step++) chance.pick(deeds)();
    const newcomer = new ReaderDouble(agent);
    for (const reader of readers) {
      if (!reader.isConnected || chance.chance(0.3)) reader.connect();
      expect(toShown(reader.now).slice(-toShown(newcomer.now).length), `world ${world}`).toEqual(toShown(newcomer.now));
      expect(dropEarlierNotes(reader.now.notes, newcomer.now.entries), `world ${world}`).toEqual(newcomer.now.notes);
      expect(reader.now.run, `world ${world}`).toBe(newcomer.now.run);
      expect(reader.now.state, `world ${world}`).toEqual(newcomer.now.state);
      expect(new Set(reader.now.entries.map(({ id }) => id)).size).toBe(reader.now.entries.length);
      const calls = reader.now.entries.flatMap(({ calls }) => calls);
      expect(
        calls.filter(({ result, abandoned, progress }) => (result || abandoned) && progress !== undefined),
        `world ${world}`,
      ).toEqual([]);
    }
  }
});
