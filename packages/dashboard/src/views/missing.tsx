import { Link } from "../frame/link.tsx";
import { homePath } from "../frame/navigation.ts";

export function MissingView({ title }: { title: string }) {
  return (
    <article className="view">
      <h1>{title}</h1>
      <p className="lead">
        It may have been deleted or never have been. <Link href={homePath}>Go to the start</Link>, or choose something
        from the list of agencies.
      </p>
    </article>
  );
}
