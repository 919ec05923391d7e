import { readdirSync, readFileSync } from "node:fs";
import { copyBuild } from "../tests/kit/build-copy.ts";
import { openHouse } from "../tests/kit/house.ts";
import { mainOf } from "../tests/kit/processes.ts";
import { median } from "./kit/bench.ts";
import { startModel } from "./kit/model.ts";
import { dialer, modelEnvironment } from "./kit/ours.ts";
import { Talk } from "./kit/subject.ts";
const rounds = Number(process.argv[2] ?? 12);
const model = await startModel();
const build = await copyBuild({ worker: new URL("middleware.worker.ts", import.meta.url) });
const house = await openHouse({ env: modelEnvironment(model.base), program: build.program });
const pid = (await mainOf(house.home))!.pid;
const cpuNow = () => { let ns = 0; for (const t of readdirSync(`/proc/${pid}/task`)) { try { ns += Number(readFileSync(`/proc/${pid}/task/${t}/schedstat`, "utf8").split(" ")[0]); } catch {} } return ns / 1000; };
const dial = dialer(house);
const open = async (name: string, blueprint: string) => {
  await house.client.call("createAgent", { params: { agency: "global" }, body: { name, blueprint, model: "openai:zero-8" } });
  return Talk.open(dial(name));
};
const cpu: Record<string, number[]> = { idle: [], think: [] };
const wall: Record<string, number[]> = { idle: [], think: [] };
for (let round = 0; round < rounds; round++) {
  const pair = [{ b: "idle", talk: await open(`i-${round}`, "idle") }, { b: "think", talk: await open(`t-${round}`, "think") }];
  for (let turn = -3; turn < 40; turn++) for (const { b, talk } of turn % 2 ? pair : pair.toReversed()) {
    const c = cpuNow(); const w = performance.now();
    await talk.turn();
    const dw = performance.now() - w; 
    await new Promise((r) => setTimeout(r, 3));
    const dc = cpuNow() - c;
    if (turn >= 0) { cpu[b]!.push(dc); wall[b]!.push(dw); }
  }
  for (const { talk } of pair) talk.close();
}
await house.stop(); await build.remove(); await model.stop();
const q = (a: number[], p: number) => [...a].sort((x, y) => x - y)[Math.floor(a.length * p)]!;
for (const p of [0.1, 0.25, 0.5]) console.log(p, "wall", q(wall.idle!, p).toFixed(2), q(wall.think!, p).toFixed(2), (q(wall.idle!, p) / q(wall.think!, p)).toFixed(3), " cpu us", q(cpu.idle!, p).toFixed(0), q(cpu.think!, p).toFixed(0), (q(cpu.idle!, p) / q(cpu.think!, p)).toFixed(3), "diff", (q(cpu.idle!, p) - q(cpu.think!, p)).toFixed(0));
const low = (a: number[]) => { const b = [...a].sort((x, y) => x - y).slice(0, Math.floor(a.length * 0.4)); return b.reduce((x, y) => x + y, 0) / b.length; };
console.log("low 40% cpu", low(cpu.idle!).toFixed(0), low(cpu.think!).toFixed(0), (low(cpu.idle!) / low(cpu.think!)).toFixed(3), "diff", (low(cpu.idle!) - low(cpu.think!)).toFixed(0), "wall", (low(wall.idle!) / low(wall.think!)).toFixed(3));
void median;
