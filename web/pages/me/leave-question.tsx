import { useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { ConfirmDialog } from '../../components/dialog.tsx';
import { type Destination, type Watch, watchLeaving } from './watch-leaving.ts';

/** Asks before a page is left while something stands on it that is shown only once. `description`: what is lost. */
export function LeaveQuestion({ description }: { description: string }) {
  const [, navigate] = useLocation();
  const [to, setTo] = useState<Destination | null>(null);
  const watch = useRef<Watch | null>(null);

  useEffect(() => {
    watch.current = watchLeaving(setTo);
    return () => watch.current?.stop();
  }, []);

  return (
    <ConfirmDialog
      open={to !== null}
      onOpenChange={(open) => !open && setTo(null)}
      title="Leave this page?"
      description={description}
      confirmLabel="Leave"
      onConfirm={async () => {
        // In place of the entry that stands above the page; the path has the portal's own base in it already.
        if (to !== null) watch.current?.leave(to, (path) => navigate(`~${path}`, { replace: true }));
      }}
    />
  );
}
