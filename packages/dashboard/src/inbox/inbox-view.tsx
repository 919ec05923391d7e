import { useEffect, useMemo, useRef, useState } from "react";
import { getInboxSource } from "../api/inbox.ts";
import { useSource } from "../api/source.ts";
import { Empty } from "../parts/empty.tsx";
import { Notice } from "../parts/notice.tsx";
import type { ItemChange } from "../waits/use-answer.ts";
import { InboxEntry } from "./inbox-entry.tsx";
import { type InboxItem, type KnownApprovals, listInboxItems, mergeItems } from "./inbox-items.ts";

/** As many as the host lists of each kind. */
const maxListed = 200;

/** What all agents of the user wait for them to answer. */
export function InboxView({ user }: { user: string }) {
  const source = getInboxSource(user);
  const { value, error } = useSource(source);
  const [known, setKnown] = useState<KnownApprovals>({});
  const list = useRef<HTMLUListElement>(null);
  const listed = useMemo(() => value && listInboxItems(value, user), [value, user]);
  const items = useShownItems(listed, known);
  const open = items.filter(({ isOpen }) => isOpen).length;

  // What had the focus may be gone. The keys then work on the next item.
  useEffect(() => {
    if (document.activeElement !== document.body || items.length === open) return;
    list.current?.querySelector<HTMLElement>(".approval, .question :is(input, textarea, select)")?.focus();
  }, [items.length, open]);

  const handleChange = ({ approval }: ItemChange) => {
    if (approval) setKnown((before) => ({ ...before, [approval.id]: approval }));
    void source.reload();
  };

  return (
    <article className="view">
      <header className="view-head">
        <div>
          <h1>Inbox {open > 0 && <span className="count">{open}</span>}</h1>
          <p className="lead">
            What your agents wait for you to approve or to answer. Their turns are paused until then.
          </p>
          {open > 0 && (
            <p className="inbox-keys faint">
              For the item with the focus: <kbd>y</kbd> approves, <kbd>n</kbd> denies, <kbd>e</kbd> edits.
            </p>
          )}
        </div>
      </header>
      {error && (
        <Notice tone={value ? "warn" : "bad"} title="Failed to load the inbox" onRetry={() => void source.reload()}>
          {value ? `${error.message} Showing what was loaded before.` : error.message}
        </Notice>
      )}
      {!value && !error && <p className="faint">Loading…</p>}
      {value && items.length === 0 && <NothingWaits />}
      {items.length > 0 && (
        <ul ref={list} className="inbox" aria-label="Items">
          {items.map((item) => (
            <InboxEntry key={item.id} item={item} onChange={handleChange} />
          ))}
        </ul>
      )}
      {value && open === 0 && items.length > 0 && <p className="faint">Nothing else waits for you.</p>}
      {value && Math.max(value.approvals.length, value.questions.length) >= maxListed && (
        <p className="faint">Showing the oldest {maxListed}. The others follow as you answer these.</p>
      )}
    </article>
  );
}

/** Items that were shown stay until the inbox is left. */
function useShownItems(listed: readonly InboxItem[] | undefined, known: KnownApprovals): InboxItem[] {
  const shown = useRef<readonly InboxItem[]>([]);
  const items = useMemo(() => (listed ? mergeItems(shown.current, listed, known) : []), [listed, known]);
  useEffect(() => {
    shown.current = items;
  }, [items]);
  return items;
}

function NothingWaits() {
  return (
    <Empty title="Nothing waits for you">
      <p>
        An agent asks here before it makes a call that its rules say to ask about. For example, with this in its
        blueprint it asks before commands that delete something, and before it writes files:
      </p>
      <pre className="text inbox-example">
        {`config:
  policy:
    - { tool: bash, match: "rm *", action: ask }
    - { tool: writeFile, action: ask }`}
      </pre>
      <p>
        Questions that agents ask with <code>askUser</code> appear here too. From a terminal:{" "}
        <code>thinkery approval ls</code>
      </p>
    </Empty>
  );
}
