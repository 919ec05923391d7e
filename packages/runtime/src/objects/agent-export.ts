import type { AgentEvent, AgentExport } from "@thinkery/sdk";
import { runFairly, type Work } from "../host/fair-work.ts";
import type { Actions } from "../store/actions.ts";
import type { Log } from "../store/log.ts";
import type { AgentParts } from "./assemble-agent.ts";
import { createUsage } from "./snapshot.ts";

/** What is read and written at once. Everything together may be too large for memory. */
const maxPieceChars = 500_000;
const maxPageItems = 500;
/** Reading, redacting and writing a character takes about 1/25 µs. */
const charsPerUnit = 25;

/** The lists of an export; each is written page by page. */
export type ExportLists = Record<string, Iterable<readonly unknown[]>>;

/** Returns an `AgentExport` as text. Others are served between its pieces. */
export async function openExport(agent: AgentParts): Promise<ReadableStream<Uint8Array>> {
  const pieces = writeExport(agent);
  const { owner } = agent.registration.get().agent;
  const readPiece = () => runFairly(writePiece, { owner });
  function* writePiece(): Work<string | undefined> {
    const { value } = pieces.next();
    yield Math.ceil((value?.length ?? 0) / charsPerUnit);
    return value ?? undefined;
  }
  const encoder = new TextEncoder();
  // An agent that cannot be read fails before anything is sent.
  let next = await readPiece();
  return new ReadableStream({
    type: "bytes",
    async pull(controller) {
      if (next !== undefined) {
        controller.enqueue(encoder.encode(next));
        next = await readPiece();
        return;
      }
      controller.close();
      controller.byobRequest?.respond(0);
    },
  });
}

/** Writes the JSON of an export. What is added while it is read is left out. */
function* writeExport({ store, registration, features, name, redactor }: AgentParts): Generator<string, undefined> {
  const title = store.facts.getTitle();
  const values: Omit<AgentExport, "messages" | "events" | "actions"> = {
    format: "thinkery-agent",
    version: 1,
    agent: registration.get().agent,
    ...(title ? { title } : {}),
    todos: store.facts.getTodos(),
    ...Object.assign({}, ...features.map((feature) => feature.export?.())),
    run: store.turns.getRun(name),
    usage: createUsage(store),
  };
  const lists: ExportLists = {
    ...Object.assign({}, ...features.map((feature) => feature.exportLists?.())),
    messages: store.messages.readPages(maxPageItems, maxPieceChars),
    events: readEvents(store.log),
    actions: readActions(store.actions),
  };
  let text = JSON.stringify(redactor.redactValue(values)).slice(0, -1);
  for (const [key, pages] of Object.entries(lists)) {
    text += `,${JSON.stringify(key)}:[`;
    let separator = "";
    for (const page of pages) {
      if (page.length === 0) continue;
      text += separator + JSON.stringify(redactor.redactValue(page)).slice(1, -1);
      separator = ",";
      if (text.length < maxPieceChars) continue;
      yield text;
      text = "";
    }
    text += "]";
  }
  yield `${text}}`;
}

function readEvents(log: Log): Iterable<AgentEvent[]> {
  return readTo(log.last);

  function* readTo(last: number) {
    for (let after = 0; after < last;) {
      const page = log.read(after, Math.min(maxPageItems, last - after), maxPieceChars);
      const end = page.at(-1)?.seq;
      if (end === undefined) return;
      yield page.filter(({ seq }) => seq <= last);
      after = end;
    }
  }
}

function* readActions(actions: Actions) {
  for (let after: string | undefined; ;) {
    const page = actions.page({ limit: maxPageItems, ...(after === undefined ? {} : { after }) });
    yield page.actions;
    if (page.next === undefined) return;
    after = page.next;
  }
}
