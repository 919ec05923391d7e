import type { FileContent, FileInfo } from "@thinkery/sdk";
import type { ViewFile } from "../../sandbox/shell.ts";
import type { ViewSource } from "../../sandbox/views.ts";
import type { Workspace } from "../../workspace/workspace.ts";

/** So much text goes along with a view, the smallest files first; what is in the others is asked for when it is read. */
const mostSent = 4 * 1024 * 1024;
/** Of more files than this, all are told anew. */
const mostChanged = 2000;

/** An object that was evicted and came back, or another one of the same name, is another workspace to a sandbox. */
const ids = new WeakMap<Workspace, string>();

/** The workspace as commands and searches see it. */
export function viewOf(workspace: Workspace): ViewSource {
  let id = ids.get(workspace);
  if (id === undefined) ids.set(workspace, (id = crypto.randomUUID()));
  return {
    id,
    latest: () => workspace.latest(),
    whole: () => whole(workspace),
    since(version) {
      const paths = workspace.changedSince(version);
      if (!paths || paths.length > mostChanged) return undefined;
      const files: ViewFile[] = [];
      const gone: string[] = [];
      let room = mostSent;
      for (const path of paths) {
        const info = workspace.stat(path);
        const content = workspace.content(path);
        if (!info || content === undefined) gone.push(path);
        else {
          const file = viewFile(info, content, room);
          files.push(file);
          if (typeof file[1] === "string") room -= info.size;
        }
      }
      return { files, gone };
    },
    async read(path, version) {
      const isNow = (workspace.stat(path)?.version ?? Number.POSITIVE_INFINITY) <= version;
      const then = isNow ? {} : { version };
      const content = workspace.content(path, then);
      return typeof content === "object" ? workspace.bytes(path, then) : content;
    },
  };
}

function whole(workspace: Workspace): ViewFile[] {
  if (workspace.totals().textBytes <= mostSent) return Array.from(workspace.contents(), ({ info, content }) => viewFile(info, content, mostSent));
  let room = mostSent;
  const { files } = workspace.list();
  return files
    .sort((a, b) => a.size - b.size)
    .map((info): ViewFile => {
      if (info.kind === "text") room -= info.size;
      const content = room >= 0 && info.kind === "text" ? workspace.content(info.path) : undefined;
      return viewFile(info, content, mostSent);
    });
}

/** What no search would find anything in. Text that is too large to be merged is kept like a picture, but it is text. */
const binary = /^(?:image\/(?!svg)|audio\/|video\/|font\/|application\/(?:octet-stream|pdf|zip|gzip|x-tar|wasm)$)/;

function viewFile({ path, size, kind, mediaType, modifiedAt }: FileInfo, content: FileContent | undefined, room: number): ViewFile {
  if (typeof content === "string" && size <= room) return [path, content, Date.parse(modifiedAt)];
  return [path, { size, ...(kind === "binary" && binary.test(mediaType) ? { binary: true } : {}) }, Date.parse(modifiedAt)];
}
