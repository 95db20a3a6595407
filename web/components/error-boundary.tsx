import { Component, type ReactNode } from 'react';
import { Button } from './button.tsx';
import { Notice } from './notice.tsx';

/**
 * A fault of a page's own takes that page away and leaves a sentence in its place, until somebody goes on to another `place`. Its
 * cause is on the browser's console.
 */
export class ErrorBoundary extends Component<{ children: ReactNode; place?: string }, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override componentDidUpdate({ place }: { place?: string }) {
    if (this.state.failed && place !== this.props.place) this.setState({ failed: false });
  }

  override render() {
    if (!this.state.failed) return this.props.children;
    return (
      <Notice tone="bad" role="alert" title="This page has failed">
        <p>
          That is a fault of the portal, and nothing was changed by it. A newer one may have been installed
          since you opened it.
        </p>
        <Button small onClick={() => window.location.reload()}>
          Load it again
        </Button>
      </Notice>
    );
  }
}
