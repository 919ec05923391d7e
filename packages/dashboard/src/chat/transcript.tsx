import type { Think } from "@thinkery/sdk/react";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { EntryView } from "./entry-view.tsx";
import { useEndInSight } from "./end-in-sight.ts";

interface TranscriptProps {
  agent: string;
  blobs: string;
  think: Think;
  onEdit(text: string): void;
}

const nearTheTop = 240;

export function Transcript({ agent, blobs, think, onEdit }: TranscriptProps) {
  const { messages, older, ready, connection, cancel, takeBack } = think;
  const { scroller, inSight, onScroll, toEnd } = useEndInSight(messages);
  const loadOlder = () => void think.loadOlder();
  let waiting = 0;

  return (
    <div className="transcript-frame">
      {/* The words as they come are not read out; finished messages are, by the announcer. */}
      <div
        ref={scroller}
        className="transcript"
        role="log"
        aria-live="off"
        aria-label={`Conversation with ${agent}`}
        tabIndex={0}
        onScroll={(event) => {
          onScroll();
          if (older && event.currentTarget.scrollTop < nearTheTop) loadOlder();
        }}
      >
        <div className="transcript-inside">
          {older && (
            <Button kind="quiet" onClick={loadOlder}>
              Show older messages
            </Button>
          )}
          {!ready && connection.state !== "refused" && <p className="faint">Loading…</p>}
          {ready && messages.length === 0 && <p className="transcript-empty">Nothing has been said yet. Say something to {agent} below.</p>}
          {messages.map((entry) => (
            <EntryView
              key={entry.id}
              entry={entry}
              agent={agent}
              ahead={entry.stage === "waiting" ? waiting++ : 0}
              offline={connection.state !== "open"}
              blobs={blobs}
              onCancel={cancel}
              onTakeBack={takeBack}
              onEdit={onEdit}
            />
          ))}
        </div>
      </div>
      {!inSight && (
        <button type="button" className="to-end" onClick={toEnd}>
          <Icon name="down" /> Latest
        </button>
      )}
    </div>
  );
}
