import { Component, type ReactNode, useEffect, useState } from 'react';
import { errorMessage, isReachable, Unreachable } from '../api/failure.ts';
import { useIsConnected } from '../live/connected.ts';
import { Button } from './button.tsx';
import { Notice } from './notice.tsx';
import { Page } from './page.tsx';

/**
 * Shows an error in place of a page that failed to render, until `place` changes. The browser's console has the
 * cause. A page that could not be loaded without a server is reloaded as soon as the server is reachable.
 */
export class ErrorBoundary extends Component<
  { children: ReactNode; place?: string },
  { failed: false | { error: unknown } }
> {
  override state: { failed: false | { error: unknown } } = { failed: false };

  static getDerivedStateFromError(error: unknown) {
    return { failed: { error } };
  }

  override componentDidUpdate({ place }: { place?: string }) {
    if (this.state.failed && place !== this.props.place) this.setState({ failed: false });
  }

  override render() {
    const { failed } = this.state;
    if (!failed) return this.props.children;
    return failed.error instanceof Unreachable ? <NotLoaded error={failed.error} /> : <PageError />;
  }
}

function PageError() {
  return (
    <Page title="Something went wrong">
      <Notice tone="bad" role="alert">
        <p>
          The portal could not show this page. Nothing was changed. The portal may have been updated since you
          opened it, so reload the page.
        </p>
        <Button small onClick={() => window.location.reload()}>
          Reload the page
        </Button>
      </Notice>
    </Page>
  );
}

/**
 * Reloads the document once the server is reachable, because browsers do not request a failed script a second time.
 */
function NotLoaded({ error }: { error: Unreachable }) {
  const isConnected = useIsConnected();
  const [pending, setPending] = useState(false);

  useEffect(() => {
    // The effect also runs when the live connection returns.
    if (isConnected) void reloadIfReachable();
    const listener = () => void reloadIfReachable();
    window.addEventListener('online', listener);
    return () => window.removeEventListener('online', listener);
  }, [isConnected]);

  return (
    <Page title="This page could not be loaded">
      <Notice tone="bad" role="alert">
        <p>{errorMessage(error)}</p>
        <Button
          small
          pending={pending}
          onClick={async () => {
            setPending(true);
            await reloadIfReachable();
            setPending(false);
          }}
        >
          Try again
        </Button>
      </Notice>
    </Page>
  );
}

/** Without a server, a reload would show the browser's own error page. */
async function reloadIfReachable(): Promise<void> {
  if (await isReachable()) window.location.reload();
}
