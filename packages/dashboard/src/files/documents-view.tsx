import type { Agency } from "@thinkery/sdk";
import { useStore } from "../api/store.ts";
import { useTeam } from "../api/team/team.ts";
import type { FilesPlace } from "../frame/files-place.ts";
import "../styles/whole.css";
import { FilesView } from "./files-view.tsx";

/** The documents of an agency, which its people and agents edit together. */
export function DocumentsView({ user, agency, place }: { user: string; agency: Agency; place: FilesPlace }) {
  const { documents } = useStore(useTeam(agency.id).changes);
  return (
    <article className="whole documents">
      <h1 className="visually-hidden">Documents of {agency.name}</h1>
      <FilesView
        agency={agency.id}
        agent={undefined}
        user={user}
        place={place}
        lastChanged={undefined}
        changeCount={documents}
      />
    </article>
  );
}
