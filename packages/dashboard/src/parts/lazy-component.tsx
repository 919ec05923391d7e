import { type ComponentType, type FunctionComponent, lazy, type ReactNode, Suspense } from "react";
import { Fallback } from "./fallback.tsx";
import { Notice } from "./notice.tsx";

/** A component whose code is loaded when it is first rendered. */
export function createLazyComponent<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  loading: ReactNode = <p className="pane-note">Loading…</p>,
): FunctionComponent<Props> {
  const Loaded = lazy(async () => ({ default: await load() })) as unknown as ComponentType<Props>;
  return function LazyComponent(props: Props) {
    return (
      <Fallback render={() => <LoadFailure />}>
        <Suspense fallback={loading}>
          <Loaded {...props} />
        </Suspense>
      </Fallback>
    );
  };
}

/** Like `createLazyComponent`, for a whole view. */
export function createLazyView<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): FunctionComponent<Props> {
  return createLazyComponent(load, <p className="view faint">Loading…</p>);
}

/** The code may be gone: after an update, the host serves other files than those the page was built with. */
function LoadFailure() {
  return (
    <Notice tone="bad" title="Failed to load this view" onRetry={() => window.location.reload()}>
      The host may have been updated or be unreachable.
    </Notice>
  );
}
