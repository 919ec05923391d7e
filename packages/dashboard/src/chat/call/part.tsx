import type { Result } from "@thinkery/sdk/react";
import type { ReactNode } from "react";
import { formatBytes } from "../../parts/amount.ts";

/** A piece of a call with its title: what went in, what came out. */
export function Part({
  title,
  tone,
  more,
  children,
}: {
  title: ReactNode;
  tone?: "bad";
  more?: ReactNode;
  children: string;
}) {
  return (
    <div>
      <p className="call-part">{title}</p>
      <pre className="text" data-tone={tone} tabIndex={0} dir="ltr">
        {children}
      </pre>
      {more}
    </div>
  );
}

// As a download, never as a page: what a tool brought home may be anything.
export function DownloadLink({ result, blobs }: { result: Result; blobs: string }) {
  if (!result.blob) return null;
  return (
    <a href={`${blobs}/${encodeURIComponent(result.blob)}`} download>
      Download all of it ({formatBytes(result.size)})
    </a>
  );
}
