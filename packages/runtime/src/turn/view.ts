import type { FileContent, FileInfo } from "@thinkery/sdk";
import type { ViewFile } from "../sandbox/shell.ts";
import type { ViewSource } from "../sandbox/views.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** So much text goes along with a view, the smallest files first; what is in the others is asked for when it is read. */
const mostSent = 4 * 1024 * 1024;
/** Of more files than this, all are told anew. */
const mostChanged = 2000;

/** An object that was evicted and came back, or another one of the same name, is another workspace to a sandbox. */
const ids = new WeakMap<Workspace, string>();

/** The workspace as commands and searches see it. */
export function viewOf(workspace: Workspace, branch?: string): ViewSource {
  let id = ids.get(workspace);
  if (id === undefined) ids.set(workspace, (id = crypto.randomUUID()));
  const at = branch === undefined ? {} : { branch };
  return {
    id: `${id} ${branch ?? ""}`,
    latest: () => workspace.latest(branch),
    whole: () => whole(workspace, branch),
    since(version) {
      const paths = workspace.changedSince(version, branch);
      if (!paths || paths.length > mostChanged) return undefined;
      const files: ViewFile[] = [];
      const gone: string[] = [];
      let room = mostSent;
      for (const path of paths) {
        const info = workspace.stat(path, at);
        const content = workspace.content(path, at);
        if (!info || content === undefined) gone.push(path);
        else {
          files.push(viewFile(info, content, room));
          room -= info.size;
        }
      }
      return { files, gone };
    },
    async read(path, version) {
      const isNow = (workspace.stat(path, at)?.version ?? Number.POSITIVE_INFINITY) <= version;
      const then = isNow ? at : { ...at, version };
      const content = workspace.content(path, then);
      return typeof content === "object" ? workspace.bytes(path, then) : content;
    },
  };
}

function whole(workspace: Workspace, branch: string | undefined): ViewFile[] {
  if (workspace.totals(branch).textBytes <= mostSent) return Array.from(workspace.contents(branch), ({ info, content }) => viewFile(info, content, mostSent));
  let room = mostSent;
  const { files } = workspace.list({ branch });
  return files
    .sort((a, b) => a.size - b.size)
    .map((info): ViewFile => {
      room -= info.size;
      const content = room >= 0 && info.kind === "text" ? workspace.content(info.path, branch === undefined ? {} : { branch }) : undefined;
      return viewFile(info, content, mostSent);
    });
}

/** What no search would find anything in. Text that is too large to be merged is kept like a picture, but it is text. */
const binary = /^(?:image\/(?!svg)|audio\/|video\/|font\/|application\/(?:octet-stream|pdf|zip|gzip|x-tar|wasm)$)/;

function viewFile({ path, size, kind, mediaType, modifiedAt }: FileInfo, content: FileContent | undefined, room: number): ViewFile {
  if (typeof content === "string" && size <= room) return [path, content, Date.parse(modifiedAt)];
  return [path, { size, ...(kind === "binary" && binary.test(mediaType) ? { binary: true } : {}) }, Date.parse(modifiedAt)];
}
