import type { NewEvent } from "@thinkery/sdk";
import type { Random } from "../kit/random.ts";

/** The part of a turn in which code writes. */
interface WritingTurn {
  runId: string;
  step: number;
  /** The message that is being written. */
  reply?: string;
  /** Tool calls without a result. */
  open: string[];
  answered: boolean;
}

/** Generates messages that code writes. */
export function createReplyEvents(chance: Random, createId: (kind: string) => string) {
  function start(turn: WritingTurn): NewEvent {
    const messageId = createId("reply");
    turn.reply = messageId;
    return { type: "reply.started", data: { runId: turn.runId, step: turn.step, messageId } };
  }

  /** The message goes on, is begun again, or is completed, possibly with calls. */
  function write(turn: WritingTurn, messageId: string): NewEvent[] {
    const { runId, step } = turn;
    if (chance.chance(0.5)) return [{ type: "model.delta", data: { runId, delta: chance.text(1 + chance.below(30)) } }];
    if (chance.chance(0.15)) return [{ type: "reply.discarded", data: { runId, reason: "lost" } }, start(turn)];
    const toolCalls = Array.from({ length: chance.pick([0, 0, 1, 3]) }, () => ({
      id: createId("call"),
      name: "echo",
      input: { text: chance.text(5) },
    }));
    delete turn.reply;
    turn.open = toolCalls.map(({ id }) => id);
    turn.answered = toolCalls.length === 0;
    return [{ type: "reply.completed", data: { runId, step, messageId, toolCalls } }];
  }

  return { start, write };
}
