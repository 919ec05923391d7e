// The naive implementation: `one-by-one.ts <events>` sends each event to each socket in its own frame.
import { WebSocketServer } from "ws";

const events = Number(process.argv[2]);
const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false });
const broadcast = (frame: object) => {
  const text = JSON.stringify(frame);
  for (const client of server.clients) client.send(text);
};

server.on("connection", (socket) => {
  socket.on("message", (data: Buffer) => {
    if ((JSON.parse(data.toString()) as { type: string }).type !== "chat") return;
    for (let event = 0; event < events; event++)
      broadcast({ type: "text_delta", delta: `word${event} `, messageId: "d1b6a6f2-5d7e-4a52-9c0e-0f6f2f6f2b11" });
    broadcast({ type: "message-complete" });
    broadcast({ type: "status", status: "idle" });
  });
});
server.on("listening", () => console.log((server.address() as { port: number }).port));
