import { type KeyboardEvent, useId, useState } from "react";
import { plain } from "./plain.ts";

/** Code as it was written, with the numbers that errors name; one file at a time where there are several. */
export function Source({ files }: { files: readonly (readonly [name: string, text: string])[] }) {
  const [chosen, choose] = useState(0);
  const id = useId();
  const [name = "", text = ""] = files[chosen] ?? [];

  const onKey = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = (chosen + step + files.length) % files.length;
    choose(next);
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
              aria-selected={index === chosen}
              aria-controls={`${id}-file`}
              tabIndex={index === chosen ? 0 : -1}
              onClick={() => choose(index)}
            >
              {plain(file)}
            </button>
          ))}
        </div>
      ) : (
        <p className="call-part">Code</p>
      )}
      <div
        className="text source"
        {...(files.length > 1 ? { role: "tabpanel", id: `${id}-file`, "aria-labelledby": `${id}-${chosen}` } : { role: "region", "aria-label": "Code" })}
        tabIndex={0}
        dir="ltr"
      >
        <pre className="source-numbers" aria-hidden="true">
          {numbers(text)}
        </pre>
        <pre>
          <code data-file={name}>{plain(text)}</code>
        </pre>
      </div>
    </div>
  );
}

function numbers(text: string): string {
  return Array.from(text.split("\n"), (_, index) => index + 1).join("\n");
}
