// The process that a library peer lives in: `child.ts <the peer's file> <model base> <model> <folder>`.
import type { Setup } from "./in-node.ts";

const [file = "", modelBase = "", model = "", folder = ""] = process.argv.slice(2);
const { setup } = (await import(file)) as { setup: Setup };
const take = await setup(modelBase, model, folder);
process.on("message", ({ turn, agent }: { turn: number; agent: string }) => {
  take(agent).then(
    () => process.send?.({ turn }),
    (error: Error) => process.send?.({ turn, error: error.stack ?? String(error) }),
  );
});
process.on("disconnect", () => process.exit());
process.send?.({ ready: true });
