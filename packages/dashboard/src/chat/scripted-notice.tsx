import { Link } from "../frame/link.tsx";
import { homePath } from "../frame/navigation.ts";

/** Nobody should take a script for a model. */
export function ScriptedNotice({ model }: { model: string }) {
  return (
    <p className="scripted">
      <strong>{model === "scripted:tour" ? "This is a scripted tour." : "A script answers here."}</strong> The agent,
      its tools and its memory are real; the words are written in advance. Add a key of a model provider to talk to a
      model: <Link href={homePath}>see how</Link>.
    </p>
  );
}
