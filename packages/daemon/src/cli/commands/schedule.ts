import { fail, isThinkeryError, missedPolicies, overlapPolicies, type Schedule } from "@thinkery/sdk";
import { type AgencySchedules, type AgentSchedules, type Client } from "@thinkery/sdk/client";
import { findNearest } from "@thinkery/sdk/internal";
import { type Command, Option } from "commander";
import { findAgent } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { parseDuration } from "../duration.ts";
import { formatExamples } from "../help.ts";
import { mapAgents } from "../lists.ts";
import { formatRunRow, formatScheduleRow, formatTime, runTitles, scheduleTitles } from "../schedule-table.ts";
import { getDefaultAgency, parseTarget } from "../target.ts";

const targetHelp = "agent, as alice or alice@review, or an agency, as @review";
const idHelp = "schedule id from `schedule ls`";

export function addSchedule(program: Command, cli: Cli): void {
  const group = program
    .command("schedule")
    .description("send agents messages at set times")
    .addHelpText(
      "after",
      formatExamples(
        ["schedule ls", ""],
        ['schedule add alice "What is new?" --cron "0 9 * * 1-5"', ""],
        ["schedule runs alice schedule-5fa3c1d0", ""],
      ),
    );
  addList(group, cli);
  addAdd(group, cli);
  addChange(
    group,
    cli,
    "pause",
    "pause a schedule; times that pass meanwhile are not missed",
    async (schedules, id) => {
      const schedule = await schedules.pause(id);
      cli.output.reply(schedule, () => `Paused ${id}.`);
    },
  );
  addChange(group, cli, "resume", "resume a paused schedule", async (schedules, id) => {
    const schedule = await schedules.resume(id);
    cli.output.reply(schedule, () => `Resumed ${id}. ${formatNext(schedule)}`);
  });
  addChange(group, cli, "run", "run a schedule now, in addition to its times", async (schedules, id) => {
    const run = await schedules.run(id);
    if (run.status === "failed") throw fail("conflict", run.error ?? "The agent did not accept it.");
    cli.output.reply(run, () =>
      run.runId ? `Started turn ${run.runId}.` : "It runs as soon as the agent is reached.",
    );
  });
  addChange(
    group,
    cli,
    "runs",
    "list the runs of a schedule and the times it missed, newest first",
    async (schedules, id) => {
      const runs = await schedules.runs(id);
      cli.output.reply({ runs }, () => {
        if (runs.length === 0) return `${id} has not run yet.`;
        return cli.output.formatTable(
          runTitles,
          runs.map((run) => formatRunRow(run, Date.now())),
        );
      });
    },
  );
  addChange(group, cli, "rm", "delete a schedule with its history", async (schedules, id) => {
    await schedules.delete(id);
    cli.output.reply({ id }, () => `Deleted ${id}.`);
  });
}

function addList(group: Command, cli: Cli): void {
  group
    .command("ls")
    .description("list schedules with their next times")
    .argument("[target]", `${targetHelp} with all of its agents (default: @global)`)
    .addHelpText("after", formatExamples(["schedule ls", ""], ["schedule ls alice", ""], ["schedule ls @review", ""]))
    .action(async (text: string | undefined) => {
      const { client } = await connect(cli);
      const target = text === undefined ? undefined : parseTarget(cli, text);
      const agency = target?.agency ?? getDefaultAgency(cli);
      const schedules =
        target?.kind === "agent"
          ? await listOfAgent(client, agency, (await findAgent(client, target)).name)
          : await listOfAgency(client, agency);
      cli.output.reply({ schedules }, () => {
        if (schedules.length === 0) return "No schedules. Add one with `thinkery schedule add`.";
        const rows = schedules.map((schedule) => [schedule.owner, ...formatScheduleRow(schedule, Date.now())]);
        return cli.output.formatTable(["TARGET", ...scheduleTitles], rows);
      });
    });
}

interface AddFlags {
  in?: number;
  at?: string;
  cron?: string;
  every?: number;
  tz?: string;
  missed?: Schedule["missed"];
  overlap?: Schedule["overlap"];
  maxDelay?: number;
  name?: string;
  agent?: string;
}

function addAdd(group: Command, cli: Cli): void {
  group
    .command("add")
    .description("send an agent a message at a time, or repeatedly")
    .argument("<target>", `${targetHelp} together with --agent`)
    .argument("<input>", "the message")
    .addOption(new Option("--in <duration>", "once, after 90s, 2h or 3d").argParser(parseDuration))
    .option("--at <date>", "once, at 2026-12-24T18:00")
    .option("--cron <expression>", 'repeatedly: minute, hour, day, month, weekday, as "0 9 * * 1-5"')
    .addOption(new Option("--every <duration>", "repeatedly, as 30m").argParser(parseDuration))
    .option("--tz <zone>", "time zone of --cron and --at (default: that of this machine)")
    .addOption(
      new Option("--missed <policy>", "times that pass while the host is down (default: once)").choices([
        ...missedPolicies,
      ]),
    )
    .addOption(
      new Option("--overlap <policy>", "if the previous run is not over (default: queue)").choices([
        ...overlapPolicies,
      ]),
    )
    .addOption(new Option("--max-delay <duration>", "miss a run rather than start it later").argParser(parseDuration))
    .option("--name <name>", "what it is for")
    .option("--agent <agent>", "who gets the message of an agency's schedule")
    .addHelpText(
      "after",
      formatExamples(
        ['schedule add alice "What is new?" --cron "0 9 * * 1-5" --tz Europe/Berlin', ""],
        ['schedule add alice "Check the build" --every 30m --overlap skip', ""],
        ['schedule add @review "Start the review" --agent lead --in 2h', ""],
      ),
    )
    .action(async (text: string, input: string, flags: AddFlags) => {
      const body = { ...toTimes(flags), ...toOptions(flags), input };
      const target = parseTarget(cli, text);
      const { client } = await connect(cli);
      if (target.kind === "agency" && flags.agent === undefined) {
        throw fail("bad_request", "An agency's schedule needs --agent: who gets the message?");
      }
      if (target.kind === "agent" && flags.agent !== undefined) {
        throw fail("bad_request", "--agent is only for agencies. Name the agent in the target.");
      }
      if (target.kind === "agent") await findAgent(client, target);
      const schedule =
        target.kind === "agent"
          ? await client.agent(`${target.agent}@${target.agency}`).schedules().create(body)
          : await client.schedules(target.agency).create({ ...body, agent: flags.agent ?? "" });
      cli.output.reply(schedule, () => `Added ${schedule.id}. ${formatNext(schedule)}`);
    });
}

/** Exactly one of the flags says when. */
function toTimes({ in: delay, at, cron, every, tz }: AddFlags): { when: Schedule["when"]; timeZone?: string } {
  const given = [delay, at, cron, every].filter((flag) => flag !== undefined);
  if (given.length !== 1) throw fail("bad_request", "Pass one of --in, --at, --cron and --every.");
  if (delay !== undefined) return { when: delay };
  if (every !== undefined) return { when: { every } };
  const timeZone = tz ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  return { when: cron ?? at ?? "", timeZone };
}

function toOptions({ missed, overlap, maxDelay, name }: AddFlags) {
  return {
    ...(missed === undefined ? {} : { missed }),
    ...(overlap === undefined ? {} : { overlap }),
    ...(maxDelay === undefined ? {} : { maxDelaySeconds: maxDelay }),
    ...(name === undefined ? {} : { name }),
  };
}

type AnySchedules = AgentSchedules | AgencySchedules;

/** Adds a command for one schedule. */
function addChange(
  group: Command,
  cli: Cli,
  name: string,
  description: string,
  work: (schedules: AnySchedules, id: string) => Promise<void>,
): void {
  group
    .command(name)
    .description(description)
    .argument("<target>", targetHelp)
    .argument("<id>", idHelp)
    .addHelpText("after", formatExamples([`schedule ${name} alice schedule-5fa3c1d0`, ""]))
    .action(async (text: string, id: string) => {
      const target = parseTarget(cli, text);
      const { client } = await connect(cli);
      if (target.kind === "agent") await findAgent(client, target);
      const schedules: AnySchedules =
        target.kind === "agent"
          ? client.agent(`${target.agent}@${target.agency}`).schedules()
          : client.schedules(target.agency);
      await work(schedules, id).catch(async (error: unknown) => {
        throw await suggestSchedule(schedules, id, text, error);
      });
    });
}

async function suggestSchedule(schedules: AnySchedules, id: string, target: string, error: unknown): Promise<unknown> {
  if (!isThinkeryError(error) || error.code !== "not_found") return error;
  const ids = (await schedules.list()).map((schedule) => schedule.id);
  const suggestion = findNearest(id, ids);
  const hint = suggestion ? `Did you mean ${suggestion}?` : `List them with \`thinkery schedule ls ${target}\`.`;
  return fail("not_found", `${error.message} ${hint}`, suggestion ? { suggestion } : {});
}

type OwnedSchedule = Schedule & { owner: string };

async function listOfAgent(client: Client, agency: string, agent: string): Promise<OwnedSchedule[]> {
  const schedules = await client.agent(`${agent}@${agency}`).schedules().list();
  return schedules.map((schedule) => ({ ...schedule, owner: agent }));
}

/** Lists the schedules of an agency, then those of its agents. */
async function listOfAgency(client: Client, agency: string): Promise<OwnedSchedule[]> {
  const own = await client.schedules(agency).list();
  const ofAgents = await mapAgents(client, agency, ({ name }) => listOfAgent(client, agency, name));
  return [...own.map((schedule) => ({ ...schedule, owner: `@${agency} → ${schedule.agent}` })), ...ofAgents.flat()];
}

function formatNext({ nextAt }: Schedule): string {
  return nextAt === null ? "It does not run again." : `It runs next at ${formatTime(nextAt, Date.now())}.`;
}
