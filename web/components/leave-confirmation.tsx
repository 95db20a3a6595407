import { useLayoutEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { guardSignOut } from '../session/sign-out-guard.ts';
import { ConfirmDialog } from './dialog.tsx';
import { useShownLeaveReason } from './leave-reasons.ts';
import { type Destination, guardNavigation, type NavigationGuard } from './navigation-guard.ts';

/** The user's intention: leave for another page, or sign out. Sign-out waits for the answer. */
type Asked = { to: Destination } | { answer(leaves: boolean): void };

/** Asks before the user leaves a page and loses something: unsaved text, or a secret that is shown only once. */
export function LeaveConfirmation() {
  const reason = useShownLeaveReason();
  const [, navigate] = useLocation();
  const [asked, setAsked] = useState<Asked | null>(null);
  const watch = useRef<NavigationGuard | null>(null);
  const isGuarded = reason !== null;

  // Before the next paint, because the user may leave before it.
  useLayoutEffect(() => {
    if (!isGuarded) return;
    watch.current = guardNavigation((to) => setAsked({ to }));
    const forget = guardSignOut(() => new Promise((answer) => setAsked({ answer })));
    return () => {
      forget();
      watch.current?.stop();
    };
  }, [isGuarded]);

  function stay() {
    if (asked !== null && 'answer' in asked) asked.answer(false);
    setAsked(null);
  }

  return (
    <ConfirmDialog
      open={asked !== null}
      onOpenChange={(open) => !open && stay()}
      title="Leave this page?"
      description={reason}
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
