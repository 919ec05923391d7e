import type { AgentEvent, ChatFrame } from "@thinkery/sdk";
import { onTestFinished } from "vitest";
import { WebSocket } from "ws";
import type { HostProcess } from "./host-process.ts";

type Frame = ChatFrame | AgentEvent;

/** Connects to an agent's socket and collects what it sends. */
export async function collectFrames(host: HostProcess, path: string, query = ""): Promise<Frame[]> {
  const socket = new WebSocket(`${host.url.replace("http", "ws")}${path}/ws${query}`, {
    headers: { authorization: `Bearer ${host.token}` },
  });
  onTestFinished(() => socket.terminate());
  const frames: Frame[] = [];
  socket.on("message", (data: Buffer) => {
    const frame = JSON.parse(data.toString()) as Frame | { type: "batch"; frames: Frame[] };
    frames.push(...(frame.type === "batch" ? frame.frames : [frame]));
  });
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  return frames;
}
