import { expect, test } from "vitest";
import { Broadcaster, type Frame } from "./broadcaster.ts";

const frame = { type: "subagent_text_delta", taskId: "t", delta: "x" } as const;

test("frames of sub-agents are only passed on while someone wants them", () => {
  const broadcaster = new Broadcaster({} as never, () => {});
  const received: Frame[] = [];
  const receive = (frames: readonly Frame[]) => void received.push(...frames);
  expect(broadcaster.relay([frame])).toBe(false);
  broadcaster.subscribe({ receive });
  expect(broadcaster.relay([frame])).toBe(false);
  broadcaster.flush();
  expect(received).toEqual([]);
  const wanting = { wantsSubagents: true, receive };
  broadcaster.subscribe(wanting);
  expect(broadcaster.relay([frame])).toBe(true);
  broadcaster.flush();
  expect(received).toEqual([
    { frame, text: JSON.stringify(frame) },
    { frame, text: JSON.stringify(frame) },
  ]);
  broadcaster.unsubscribe(wanting);
  expect(broadcaster.relay([frame])).toBe(false);
});
