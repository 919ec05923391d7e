import "../styles/command-line.css";
import { CopyButton } from "./copy-button.tsx";

/** A command for a terminal, to copy. */
export function CommandLine({ command }: { command: string }) {
  return (
    <div className="command-line">
      <code>{command}</code>
      <CopyButton text={command} label={`Copy ${command}`} />
    </div>
  );
}
