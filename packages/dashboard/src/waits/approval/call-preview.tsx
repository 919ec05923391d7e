import type { AskedCall, CallPreview } from "@thinkery/sdk";
import { useMemo, useState } from "react";
import { DiffTable } from "../../chat/call/diff-table.tsx";
import { Part } from "../../chat/call/part.tsx";
import { Source } from "../../chat/call/source.tsx";
import { formatInput } from "../../chat/cards/plain-card.tsx";
import { parseDiff } from "../../files/history/parse-diff.ts";
import { showHidden } from "./show-hidden.ts";

/** What a call would do. The input is always there too: it is what is approved. */
export function CallPreviewView({ call: { args, preview } }: { call: Pick<AskedCall, "args" | "preview"> }) {
  const [open, setOpen] = useState(false);
  if (!preview) return <Part title="Input">{showHidden(formatInput(args))}</Part>;
  return (
    <>
      <Preview preview={preview} />
      <details className="asked-input" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Input</summary>
        {/* Only rendered when open, because it may be long. */}
        {open && (
          <pre className="text" tabIndex={0} dir="ltr">
            {showHidden(formatInput(args))}
          </pre>
        )}
      </details>
    </>
  );
}

function Preview({ preview }: { preview: CallPreview }) {
  switch (preview.kind) {
    case "diff":
      return <DiffPreview path={preview.path} diff={preview.diff} />;
    case "command":
      return (
        <div>
          <p className="call-part">Command</p>
          <pre className="text typed" tabIndex={0} dir="ltr">
            <span aria-hidden="true">$ </span>
            {showHidden(preview.command)}
          </pre>
        </div>
      );
    case "request":
      return (
        <>
          <div>
            <p className="call-part">Request</p>
            <pre className="text" tabIndex={0} dir="ltr">
              <strong>{showHidden(preview.method)}</strong> {showHidden(preview.url)}
            </pre>
          </div>
          {preview.body !== undefined && <Part title="Body">{showHidden(preview.body)}</Part>}
        </>
      );
    case "code":
      return <Source files={[["code", showHidden(preview.code)]]} />;
    case "text":
      return <Part title="What it would do">{showHidden(preview.text)}</Part>;
  }
}

function DiffPreview({ path, diff }: { path: string; diff: string }) {
  const lines = useMemo(() => parseDiff(showHidden(diff)), [diff]);
  return (
    <section className="diff" aria-label={`Change to ${showHidden(path)}`}>
      <header className="diff-head">
        <h4 className="mono">{showHidden(path)}</h4>
      </header>
      {lines.length > 0 ? <DiffTable lines={lines} /> : <p className="diff-none">{showHidden(diff) || "No changes"}</p>}
    </section>
  );
}
