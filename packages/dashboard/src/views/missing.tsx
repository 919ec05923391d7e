import { Link } from "../frame/link.tsx";
import { homePath } from "../frame/navigation.ts";

export function MissingView({ title }: { title: string }) {
  return (
    <article className="view">
      <h1>{title}</h1>
      <p className="lead">
        It may have been deleted, or the address is wrong. <Link href={homePath}>Go to the home page</Link> or choose an
        agency in the sidebar.
      </p>
    </article>
  );
}
