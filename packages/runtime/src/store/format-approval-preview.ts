import type { AskedCall, CallPreview } from "@thinkery/sdk";

/** Formats the previews of an approval's calls as text, for notifications and terminals. */
export function formatApprovalPreview(calls: readonly AskedCall[]): string {
  return calls.flatMap(({ preview }) => (preview ? [formatPreview(preview)] : [])).join("\n\n");
}

function formatPreview(preview: CallPreview): string {
  switch (preview.kind) {
    case "diff":
      return preview.diff;
    case "command":
      return `$ ${preview.command}`;
    case "request":
      return [`${preview.method} ${preview.url}`, preview.body].filter(Boolean).join("\n\n");
    case "code":
      return preview.code;
    case "text":
      return preview.text;
  }
}
