import { test } from "vitest";
import { openWorkshop } from "./kit/worker/workshop.ts";
test("x", async () => {
  const workshop = await openWorkshop({ worker: new URL("./kit/worker/system.worker.ts", import.meta.url), scripts: { default: [{ steps: [{ text: "You said: {{ message }}" }] }] } });
  try {
    const agent = await workshop.newAgent({ blueprint: await workshop.newBlueprint({ tags: ["words", "planning", "coach"] }) });
    console.log((await agent.state()).tools.map((t: any) => t.name));
    console.log(JSON.stringify(await agent.log(), null, 1));
    console.log(workshop.house().printed());
  } finally { await workshop.stop(); }
});
