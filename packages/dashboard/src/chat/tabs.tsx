import { Link } from "../frame/link.tsx";
import { filesAddress } from "../frame/files-place.ts";
import { pathTo } from "../frame/place.ts";

interface TabsProps {
  agency: string;
  agent: string;
  /** The files are shown, not the conversation. */
  files: boolean;
  running: boolean;
}

/** The two sides of an agent, each with an address of its own. */
export function Tabs({ agency, agent, files, running }: TabsProps) {
  const root = pathTo(agency, agent);
  return (
    <nav className="tabs" aria-label={`Views of ${agent}`}>
      <Link href={root} aria-current={files ? undefined : "page"}>
        Conversation
        {files && running && <span className="dot" data-tone="ok" data-busy role="img" aria-label="at work" />}
      </Link>
      <Link href={root + filesAddress({ show: "files" })} aria-current={files ? "page" : undefined}>
        Files
      </Link>
    </nav>
  );
}
