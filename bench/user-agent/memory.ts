import { findMain } from "../../tests/kit/processes.ts";
import type { Finding } from "../kit/bench.ts";
import { measureResidentMegabytes } from "../kit/process.ts";
import { forEachConcurrently } from "../waiting/for-each-concurrently.ts";
import { deploy, emptyAgent, useHost } from "./turns.ts";

const agency = "global";
const agentCount = Number(process.env.AGENTS ?? 100);

/** Measures what agents of one owner need: processes, and memory of the whole host for each more. */
export function measureMemory(): Promise<Finding[]> {
  return useHost({}, async ({ client, home, ...host }) => {
    const countProcesses = async () => (await client.call("health")).sandboxes?.length ?? 0;
    const others = await countProcesses();
    await deploy({ client, home, ...host }, "empty", emptyAgent);
    const send = (agent: string) => client.call("serve", { body: { agent, message: "Hello" } });
    const daemon = host.daemon.pid ?? 0;
    // The processes that user agents share are the only ones that grow with them, besides main.
    const measure = () => {
      const whole = measureResidentMegabytes([daemon]);
      return { whole, pooled: whole - measureResidentMegabytes([findMain(home)?.pid ?? 0]) };
    };
    await send("empty");
    const before = measure();
    const names = Array.from({ length: agentCount }, (_, index) => `agent-${index}`);
    await forEachConcurrently(names, async (name) => {
      await client.call("createAgent", { params: { agency }, body: { name, blueprint: "empty" } });
      await send(name);
    });
    const after = measure();
    const pooled = (after.pooled - before.pooled) / agentCount;
    console.log(`  With its object in main: ${((after.whole - before.whole) / agentCount).toFixed(2)} MB each.`);
    const used = (await countProcesses()) - others;
    const findings: Finding[] = [
      {
        what: `shared processes, memory of each of ${agentCount} user agents of one owner`,
        unit: "MB",
        samples: { pooled: [pooled] },
        figure: pooled,
        goal: 3,
      },
      {
        what: `processes of ${agentCount} user agents of one owner`,
        unit: "processes",
        samples: { processes: [used] },
        figure: used,
        goal: 4,
      },
    ];
    return findings;
  });
}
