import { type KeyboardEvent, useId, useState } from "react";
import { sanitizeText } from "./sanitize-text.ts";

export type SourceFile = readonly [name: string, text: string];

interface SourceProps {
  files: readonly SourceFile[];
  /** Shown above a single file; several have tabs. */
  title?: string;
}

/** Source text with line numbers; several files are shown as tabs. */
export function Source({ files, title = "Code" }: SourceProps) {
  const [selected, setSelected] = useState(0);
  const id = useId();
  const [name = "", text = ""] = files[selected] ?? [];

  const onKey = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = (selected + step + files.length) % files.length;
    setSelected(next);
    (event.currentTarget.children[next] as HTMLElement | undefined)?.focus();
  };

  return (
    <div>
      {files.length > 1 ? (
        <div className="source-tabs" role="tablist" aria-label="Files" onKeyDown={onKey}>
          {files.map(([file], index) => (
            <button
              key={index}
              type="button"
              role="tab"
              id={`${id}-${index}`}
              aria-selected={index === selected}
              aria-controls={`${id}-file`}
              tabIndex={index === selected ? 0 : -1}
              onClick={() => setSelected(index)}
            >
              {sanitizeText(file)}
            </button>
          ))}
        </div>
      ) : (
        <p className="call-part">{title}</p>
      )}
      <div
        className="text source"
        {...(files.length > 1
          ? { role: "tabpanel", id: `${id}-file`, "aria-labelledby": `${id}-${selected}` }
          : { role: "region", "aria-label": title })}
        tabIndex={0}
        dir="ltr"
      >
        <pre className="source-numbers" aria-hidden="true">
          {buildLineNumbers(text)}
        </pre>
        <pre>
          <code data-file={name}>{sanitizeText(text)}</code>
        </pre>
      </div>
    </div>
  );
}

function buildLineNumbers(text: string): string {
  return Array.from(text.split("\n"), (_, index) => index + 1).join("\n");
}
