import { useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { guardSignOut } from '../session/sign-out-guard.ts';
import { ConfirmDialog } from './dialog.tsx';
import { type Destination, guardNavigation, type Watch } from './navigation-guard.ts';

/** What is asked about: going somewhere else, or signing out, which waits for the answer. */
type Asked = { to: Destination } | { answer(leaves: boolean): void };

/** Asks before a page is left while something stands on it that is shown only once. `description`: what is lost. */
export function LeaveConfirmation({ description }: { description: string }) {
  const [, navigate] = useLocation();
  const [asked, setAsked] = useState<Asked | null>(null);
  const watch = useRef<Watch | null>(null);

  useEffect(() => {
    watch.current = guardNavigation((to) => setAsked({ to }));
    const forget = guardSignOut(() => new Promise((answer) => setAsked({ answer })));
    return () => {
      forget();
      watch.current?.stop();
    };
  }, []);

  function stay() {
    if (asked !== null && 'answer' in asked) asked.answer(false);
    setAsked(null);
  }

  return (
    <ConfirmDialog
      open={asked !== null}
      onOpenChange={(open) => !open && stay()}
      title="Leave this page?"
      description={description}
      confirmLabel="Leave"
      onConfirm={async () => {
        if (asked === null) return;
        if ('answer' in asked) asked.answer(true);
        // In place of the entry that stands above the page; the path has the portal's own base in it already.
        else watch.current?.leave(asked.to, (path) => navigate(`~${path}`, { replace: true }));
      }}
    />
  );
}
