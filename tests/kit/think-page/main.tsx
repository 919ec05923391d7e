import { type Entry, type Think, useThink } from "@thinkery/sdk/react";
import { memo, StrictMode, useEffect, useRef, useState } from "react";
import { createRoot } from "react-dom/client";

// A minimal page that shows everything the hook returns. Tests read it, and act through `window.page`.

export interface TestPage {
  /** The hook's latest result. */
  think: Think;
  /** Shows the conversation with this agent, or none. */
  show(agent: string | undefined): void;
  /** Renders per entry id. */
  drawn: Record<string, number>;
  /** Every connection state so far, in order. */
  connections: string[];
}

const query = new URLSearchParams(location.search);
const page = { drawn: {}, connections: [] as string[] } as unknown as TestPage;
Object.assign(window, { page });

const Row = memo(function Row({ entry }: { entry: Entry }) {
  page.drawn[entry.id] = (page.drawn[entry.id] ?? 0) + 1;
  return (
    <li data-id={entry.id} data-role={entry.role} data-stage={entry.stage}>
      <p>{entry.text}</p>
      {entry.calls.map(({ id, name, result }) => (
        <code key={id}>{`${name}: ${result?.output ?? "…"}`}</code>
      ))}
    </li>
  );
});

function Conversation({ agent }: { agent: string }) {
  // A new outbox object on each render, as people write it.
  const think = useThink({ agent, url: "/thinkery", outbox: createSessionOutbox(agent) });
  page.think = think;
  const lastState = useRef("");
  useEffect(() => {
    if (think.connection.state !== lastState.current) page.connections.push(think.connection.state);
    lastState.current = think.connection.state;
  }, [think.connection.state]);
  return (
    <main data-status={think.status} data-connection={think.connection.state} data-ready={think.ready}>
      <h1>{think.title ?? agent}</h1>
      <ol>
        {think.messages.map((entry) => (
          <Row key={entry.id} entry={entry} />
        ))}
      </ol>
      {think.error && <p role="alert">{think.error.message}</p>}
    </main>
  );
}

function createSessionOutbox(agent: string) {
  const read = () => JSON.parse(sessionStorage.getItem(agent) ?? "[]");
  const write = (all: { id: string }[]) => sessionStorage.setItem(agent, JSON.stringify(all));
  return {
    read,
    add: (unsent: { id: string }) => write([...read(), unsent]),
    remove: (id: string) => write(read().filter((unsent: { id: string }) => unsent.id !== id)),
  };
}

function Page() {
  const [agent, show] = useState<string | undefined>(query.get("agent") ?? undefined);
  page.show = show;
  return agent === undefined ? <p>Nobody.</p> : <Conversation agent={agent} />;
}

const root = createRoot(document.getElementById("root") as HTMLElement);
root.render(
  query.has("strict") ? (
    <StrictMode>
      <Page />
    </StrictMode>
  ) : (
    <Page />
  ),
);
