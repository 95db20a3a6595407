import { type ReactNode, Suspense, useEffect, useState } from 'react';
import type { ConfirmDialogProps, DialogPopupProps } from './dialog-popup.tsx';
import { ErrorBoundary } from './error-boundary.tsx';
import { onDemand } from './on-demand.ts';

/** Pages need this script only when a dialog opens. */
const loadDialogs = () => import('./dialog-popup.tsx');

const DialogPopup = onDemand(loadDialogs, (module) => module.DialogPopup);
const ConfirmPopup = onDemand(loadDialogs, (module) => module.ConfirmPopup);

/**
 * A modal dialog. Its buttons and Escape close it. A click outside does not, because it could lose typed text by
 * accident. A `drawer` stands at the right edge, for the details of a row, and has the initial focus itself.
 */
export function Dialog(dialog: DialogPopupProps) {
  return (
    <OnceOpened open={dialog.open}>
      <DialogPopup {...dialog} />
    </OnceOpened>
  );
}

/**
 * Asks for confirmation. With `name`, the user must type that name first. Without it, Cancel has the initial focus,
 * so that Enter changes nothing. The dialog closes when `onConfirm` resolves, and shows the error if it rejects.
 */
export function ConfirmDialog(dialog: ConfirmDialogProps) {
  return (
    <OnceOpened open={dialog.open}>
      <ConfirmPopup {...dialog} />
    </OnceOpened>
  );
}

/** Events that precede the opening of a dialog. */
const SIGNS = ['pointermove', 'pointerdown', 'keydown'] as const;

/** Loads the script of dialogs as soon as the user touches mouse, screen or keyboard, so that they open without a wait. */
export function useDialogsAhead(): void {
  useEffect(() => {
    const done = new AbortController();
    const load = () => {
      done.abort();
      // The dialog that opens shows the error.
      loadDialogs().catch(() => {});
    };
    for (const sign of SIGNS) document.addEventListener(sign, load, { signal: done.signal, passive: true });
    return () => done.abort();
  }, []);
}

/** Renders nothing until the dialog opens for the first time, and then keeps it, so that it can close by itself. */
function OnceOpened({ open, children }: { open: boolean; children: ReactNode }) {
  const [wanted, setWanted] = useState(open);
  if (open && !wanted) setWanted(true);
  return (
    wanted && (
      <ErrorBoundary place={String(open)}>
        <Suspense fallback={null}>{children}</Suspense>
      </ErrorBoundary>
    )
  );
}
