import { useLayoutEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { guardSignOut } from '../session/sign-out-guard.ts';
import { ConfirmDialog } from './dialog.tsx';
import { type Destination, guardNavigation, type NavigationGuard } from './navigation-guard.ts';

/** The user's intention: leave for another page, or sign out. Sign-out waits for the answer. */
type Asked = { to: Destination } | { answer(leaves: boolean): void };

/**
 * Asks before the user leaves a page with a secret that is shown only once. `description` says what would be lost.
 */
export function LeaveConfirmation({ description }: { description: string }) {
  const [, navigate] = useLocation();
  const [asked, setAsked] = useState<Asked | null>(null);
  const watch = useRef<NavigationGuard | null>(null);

  // Before the next paint, because the user may leave before it.
  useLayoutEffect(() => {
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
        // Replaces the guard's history entry. The path already contains the portal's base, hence the ~.
        else watch.current?.leave(asked.to, (path) => navigate(`~${path}`, { replace: true }));
      }}
    />
  );
}
