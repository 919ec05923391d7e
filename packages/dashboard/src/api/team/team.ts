import type { Channel, InboxItem, TeamAgent, TeamFrame, TeamTask } from "@thinkery/sdk";
import { useEffect, useMemo } from "react";
import { call } from "../host.ts";
import { type Pages, readPages } from "../pages.ts";
import type { Source } from "../source.ts";
import { createStore, type Store, useStore } from "../store.ts";
import { createFollowedSource } from "./follow-frames.ts";
import { MessageLog } from "./message-log.ts";
import { MessageOutbox } from "./message-outbox.ts";
import { reduceChannels, reduceInbox, reduceRoster, reduceTasks, type Roster } from "./reduce-team.ts";
import { createTeamLink, type TeamLink, watchWithLogin } from "./team-link.ts";

/** What changes without being sent itself. */
export type ChangeKind = Extract<TeamFrame, { type: "changed" }>["what"];

export type ChangeCounts = Readonly<Record<ChangeKind, number>>;

interface LogPlace {
  channel: string;
  thread?: string | undefined;
  around?: string | undefined;
}

/** Everything the page knows of an agency's team. Loaded when it is first shown, and live from then on. */
export interface Team {
  agency: string;
  link: TeamLink;
  roster: Pick<Store<Roster>, "get" | "subscribe">;
  changes: Pick<Store<ChangeCounts>, "get" | "subscribe">;
  channels: Source<Pages<Channel>>;
  tasks: Source<Pages<TeamTask>>;
  /** What an agent has to handle, and what was given up. */
  getInbox(agent: string): Source<readonly InboxItem[]>;
  getLog(place: LogPlace): MessageLog;
  /** What is being posted to a channel, or in a thread. */
  getOutbox(channel: string, thread?: string): MessageOutbox;
}

const teams = new Map<string, Team>();

/** Returns the team of an agency. Its connection is open while the component is mounted, and shortly after. */
export function useTeam(agency: string): Team {
  const team = useMemo(() => getTeam(agency), [agency]);
  useEffect(() => team.link.retain(), [team]);
  return team;
}

/** What the agents of an agency do, if the page watches it anyway. */
export function useWatchedAgents(agency: string): readonly TeamAgent[] {
  const { link, roster } = getTeam(agency);
  const { agents } = useStore(roster);
  return useStore(link.connection).state === "open" ? agents : noAgents;
}

const noAgents: readonly TeamAgent[] = [];

/** Drops everything, so that it is not shown to the next user who logs in. */
export function forgetTeams(): void {
  for (const { link } of teams.values()) link.close();
  teams.clear();
}

function getTeam(agency: string): Team {
  let team = teams.get(agency);
  if (!team) teams.set(agency, (team = createTeam(agency, createTeamLink(watchWithLogin(agency)))));
  return team;
}

const noChanges: ChangeCounts = { documents: 0, members: 0, tools: 0, settings: 0, feedback: 0 };

function createTeam(agency: string, link: TeamLink): Team {
  const params = { agency };
  const roster = createStore<Roster>({ agents: [] });
  const changes = createStore(noChanges);
  const inboxes = new Map<string, Source<readonly InboxItem[]>>();
  const logs = new Map<string, MessageLog>();
  const outboxes = new Map<string, MessageOutbox>();

  link.listen((frame) => {
    roster.set(reduceRoster(roster.get(), frame, Date.now()));
    if (frame.type === "changed") changes.set(addChanges(changes.get(), [frame.what]));
    if (frame.type !== "sync") return;
    // Whatever changed while there was no connection was missed.
    changes.set(addChanges(changes.get(), Object.keys(noChanges) as ChangeKind[]));
    for (const outbox of outboxes.values()) outbox.resend();
  });

  const createLog = ({ channel, thread, around }: LogPlace) =>
    new MessageLog({
      link,
      channel,
      thread,
      around,
      load: (query) => call("listChannelMessages", { params: { agency, channel }, query }),
    });

  return {
    agency,
    link,
    roster,
    changes,
    channels: createFollowedSource({
      link,
      load: () =>
        readPages(async (query) => {
          const { channels, next } = await call("listChannels", { params, query });
          return { items: channels, next };
        }),
      reduce: reduceChannels,
    }),
    tasks: createFollowedSource({
      link,
      load: () =>
        readPages(async (query) => {
          const { tasks, next } = await call("listTeamTasks", { params, query });
          return { items: tasks, next };
        }),
      reduce: reduceTasks,
    }),
    getInbox(agent) {
      let inbox = inboxes.get(agent);
      if (!inbox) {
        inbox = createFollowedSource({
          link,
          load: () => loadInbox(agency, agent),
          reduce: (items, frame) => reduceInbox(items, frame, agent),
        });
        inboxes.set(agent, inbox);
      }
      return inbox;
    },
    getLog(place) {
      // One that was opened at a message is not the log that others expect.
      if (place.around !== undefined) return createLog(place);
      const key = `${place.channel} ${place.thread ?? ""}`;
      let log = logs.get(key);
      if (!log) logs.set(key, (log = createLog(place)));
      return log;
    },
    getOutbox(channel, thread) {
      const key = `${channel} ${thread ?? ""}`;
      let outbox = outboxes.get(key);
      if (!outbox) {
        outbox = new MessageOutbox((body) =>
          call("postChannelMessage", {
            params: { agency, channel },
            body: { ...body, ...(thread === undefined ? {} : { thread }) },
          }),
        );
        outboxes.set(key, outbox);
      }
      return outbox;
    },
  };
}

async function loadInbox(agency: string, agent: string): Promise<readonly InboxItem[]> {
  const params = { agency, agent };
  const [open, givenUp] = await Promise.all([
    call("listInbox", { params, query: { status: "open", limit: 200 } }),
    call("listInbox", { params, query: { status: "given_up", limit: 200 } }),
  ]);
  return [...givenUp.items, ...open.items];
}

function addChanges(counts: ChangeCounts, kinds: readonly ChangeKind[]): ChangeCounts {
  return { ...counts, ...Object.fromEntries(kinds.map((kind) => [kind, counts[kind] + 1])) };
}
