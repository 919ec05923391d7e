import { Component, type ReactNode } from "react";

interface FallbackProps {
  children: ReactNode;
  /** Draws what is shown in place of children that throw. */
  to(): ReactNode;
}

/** Keeps an error in one part of the page from taking down the rest. */
export class Fallback extends Component<FallbackProps, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    return this.state.failed ? this.props.to() : this.props.children;
  }
}
