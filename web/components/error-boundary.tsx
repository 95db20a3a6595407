import { Component, type ReactNode, useEffect, useState } from 'react';
import { errorMessage, isReachable, Unreachable } from '../api/failure.ts';
import { useIsConnected } from '../live/connected.ts';
import { Button } from './button.tsx';
import { Notice } from './notice.tsx';
import { Page } from './page.tsx';

/**
 * A fault of a page's own takes that page away and leaves a sentence in its place, until somebody goes on to another `place`. Its
 * cause is on the browser's console. A page that could not be loaded for want of a server is no fault, and comes once there is one.
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
    <Page title="This page has failed">
      <Notice tone="bad" role="alert">
        <p>
          That is a fault of the portal, and nothing was changed by it. A newer one may have been installed
          since you opened it.
        </p>
        <Button small onClick={() => window.location.reload()}>
          Load it again
        </Button>
      </Notice>
    </Page>
  );
}

/** Loads the whole page again as soon as it can be: browsers do not ask a second time for a script that did not come. */
function NotLoaded({ error }: { error: Unreachable }) {
  const isConnected = useIsConnected();
  const [pending, setPending] = useState(false);

  useEffect(() => {
    // Also when the connection is back.
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

/** Without a server, the browser would show a page of its own. */
async function reloadIfReachable(): Promise<void> {
  if (await isReachable()) window.location.reload();
}
