import { expect, test } from "vitest";
import { createRandom } from "../../../../tests/kit/random.ts";
import { AgentDouble } from "./agent-double.ts";
import type { Conversation } from "./conversation.ts";
import type { Entry } from "./entry.ts";
import { dropEarlierNotes } from "./note.ts";
import { ReaderDouble } from "./reader-double.ts";

/** What a reader sees of each message, without canceled user messages: only readers that saw them sent show those. */
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

test("after any sequence of events, all readers show what a new reader would", () => {
  const random = createRandom("conversation");
  for (let round = 0; round < 150; round++) {
    const agent = new AgentDouble();
    const readers = [new ReaderDouble(agent), new ReaderDouble(agent), new ReaderDouble(agent)];
    let messageCount = 0;
    const word = () => random.text(1 + random.below(6), "abc `\n<");
    const actions = [
      () =>
        agent.sendMessage(
          `q${random.chance(0.15) ? random.below(messageCount + 1) : messageCount++}`,
          word(),
          random.pick(["queue", "queue", "steer", "interrupt"]),
        ),
      () => agent.startStep(),
      () => agent.startStep(),
      () => agent.stream(word(), random.chance(0.3) ? word() : ""),
      () => agent.stream(word(), ""),
      () => agent.finishStep(random.pick([[], [], ["one"], ["one", "two"]])),
      () => agent.finishCall(word(), random.chance(0.3)),
      () => agent.finishCall(word(), false),
      () => agent.callFromCode(word(), { [word()]: word() }),
      () => agent.finishCodeCall(word(), { failed: random.chance(0.3), latest: random.chance(0.3) }),
      () => agent.sendProgress(word()),
      () => random.chance(0.3) && agent.retryStep(),
      () => random.chance(0.2) && agent.fail(word()),
      () => random.chance(0.3) && agent.cancel(random.chance(0.5) ? agent.running : agent.queue[0]?.id),
      () => random.chance(0.2) && agent.hibernate(),
      () => random.chance(0.3) && agent.addNote(random.pick(["", "onTick"])),
      () => {
        if (random.chance(0.9)) return;
        agent.crash();
        for (const reader of readers) reader.disconnect();
      },
      () => random.chance(0.05) && agent.clear(),
      () => random.pick(readers).disconnect(),
      () => random.pick(readers).connect(),
    ];
    for (let step = 0; step < 120; step++) random.pick(actions)();
    const newReader = new ReaderDouble(agent);
    for (const reader of readers) {
      if (!reader.isConnected || random.chance(0.3)) reader.connect();
      expect(toShown(reader.conversation).slice(-toShown(newReader.conversation).length), `round ${round}`).toEqual(
        toShown(newReader.conversation),
      );
      expect(dropEarlierNotes(reader.conversation.notes, newReader.conversation.entries), `round ${round}`).toEqual(
        newReader.conversation.notes,
      );
      expect(reader.conversation.run, `round ${round}`).toBe(newReader.conversation.run);
      expect(reader.conversation.state, `round ${round}`).toEqual(newReader.conversation.state);
      expect(new Set(reader.conversation.entries.map(({ id }) => id)).size).toBe(reader.conversation.entries.length);
      const calls = reader.conversation.entries.flatMap(({ calls }) => calls);
      expect(
        calls.filter(({ result, abandoned, progress }) => (result || abandoned) && progress !== undefined),
        `round ${round}`,
      ).toEqual([]);
    }
  }
});
