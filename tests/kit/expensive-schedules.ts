import type { TestHost } from "@thinkery/sdk/test";
import type { ExpensiveRequest, LargeAgent } from "./expensive-request.ts";

async function createSchedules(host: TestHost, agent: string, count: number, toInput: (index: number) => string) {
  await host.agent(agent, { model: "scripted:patterns" });
  const params = { agency: "global", agent };
  const zones = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago"];
  for (let from = 0; from < count; from += 10) {
    await Promise.all(
      Array.from({ length: 10 }, (_, index) => {
        const timeZone = zones[index % zones.length]!;
        const body = { when: `${index} 0 29 2 *`, timeZone, input: toInput(from + index) };
        return host.client.call("createSchedule", { params, body });
      }),
    );
  }
}

export const scheduleAgents: readonly LargeAgent[] = [
  {
    // Schedules whose next times are many years away.
    name: "schedules",
    model: "scripted:patterns",
    create: (host) => createSchedules(host, "schedules", 500, (index) => `input ${index}`),
  },
  {
    name: "inputs",
    model: "scripted:patterns",
    create: (host) => createSchedules(host, "inputs", 100, (index) => `${index} `.repeat(25_000).slice(0, 100_000)),
  },
];

const get = (what: string, agent: string, path: string): ExpensiveRequest => ({
  kind: "schedules",
  what,
  statuses: [200],
  agent,
  method: "GET",
  path,
});

export const scheduleRequests: readonly ExpensiveRequest[] = [
  get("times that are years away", "schedules", "schedules?limit=500"),
  get("an export of times that are years away", "schedules", "export"),
  get("long inputs", "inputs", "schedules?limit=500"),
  get("an export of long inputs", "inputs", "export"),
];
