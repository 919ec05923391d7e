import { type ComponentType, type FunctionComponent, lazy, type ReactNode, Suspense } from "react";
import { Fallback } from "./fallback.tsx";
import { Notice } from "./notice.tsx";

/** A component whose code is loaded when it is first shown. */
export function createLazyComponent<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  loading: ReactNode = <p className="pane-note">Loading…</p>,
): FunctionComponent<Props> {
  const Loaded = lazy(async () => ({ default: await load() })) as unknown as ComponentType<Props>;
  return function Lazily(props: Props) {
    return (
      <Fallback to={() => <LoadFailure />}>
        <Suspense fallback={loading}>
          <Loaded {...props} />
        </Suspense>
      </Fallback>
    );
  };
}

/** The same for a whole view. */
export function createLazyView<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): FunctionComponent<Props> {
  return createLazyComponent(load, <p className="view faint">Loading…</p>);
}

/** Its code may be gone: a host that was updated has other files than the page was made of. */
function LoadFailure() {
  return (
    <Notice tone="bad" title="This part of the page could not be shown." onRetry={() => window.location.reload()}>
      The host may have been updated, or is away.
    </Notice>
  );
}
