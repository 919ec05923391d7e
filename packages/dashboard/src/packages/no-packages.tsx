import { useDefaultAgency } from "../api/login.ts";
import { CommandLine } from "../parts/command-line.tsx";
import { Empty } from "../parts/empty.tsx";

/** What a package is, and how to make the first one. */
export function NoPackages({ agency }: { agency: string }) {
  const isDefault = agency === useDefaultAgency();
  return (
    <Empty title="No packages yet">
      <p>
        A package is an agent that you write: code that decides what happens to each message. It runs in a sandbox and
        may only use what it asked for. Three commands from a terminal to the first answer:
      </p>
      <ol className="command-steps">
        <li>
          <p>Create a folder with an agent in it.</p>
          <CommandLine command="thinkery agent init hello" />
        </li>
        <li>
          <p>Deploy it, and again whenever you save. Its versions appear here.</p>
          <CommandLine command={`thinkery agent dev hello${isDefault ? "" : ` --agency @${agency}`}`} />
        </li>
        <li>
          <p>Talk to it, in another terminal.</p>
          <CommandLine command={`thinkery chat hello${isDefault ? "" : `@${agency}`}`} />
        </li>
      </ol>
    </Empty>
  );
}
