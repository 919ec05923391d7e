import type { Listener } from "../turn/loop/recorder.ts";
import type { AssignmentFeature } from "./assignment-feature.ts";
import type { Broadcaster } from "./broadcaster.ts";
import type { ChildStream } from "./subagents/child-stream.ts";
import type { SubagentSummaries } from "./subagents/summaries.ts";
import type { TeamFeature } from "./team-feature.ts";
import type { WaitsFeature } from "./waits-feature.ts";

interface ListeningParts {
  summaries: SubagentSummaries;
  waits: WaitsFeature;
  assignment: AssignmentFeature;
  stream: ChildStream;
  team: TeamFeature;
}

/** Passes what an agent records to its clients and to the features that depend on it. */
export function createAgentListener(isRoot: boolean, broadcaster: Broadcaster, parts: () => ListeningParts): Listener {
  return {
    onRecorded(events) {
      const { summaries, waits, assignment, stream, team } = parts();
      broadcaster.onRecorded(events);
      summaries.noteChange();
      waits.noteEvents(events);
      team.noteEvents(events);
      if (isRoot) return;
      assignment.noteEvents(events);
      stream.onRecorded(events);
    },
    onText(messageId, text, reasoning) {
      broadcaster.onText(messageId, text, reasoning);
      if (!isRoot) parts().stream.onText(text);
    },
    onProgress: (...progress) => broadcaster.onProgress(...progress),
    onActivity: (...activity) => broadcaster.onActivity(...activity),
  };
}
