import { type ReactNode, Suspense, useLayoutEffect, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { ErrorBoundary } from '../components/error-boundary.tsx';
import { PageSkeleton } from '../components/skeleton.tsx';
import { SignInToasts, ToastsInDialog, useSignInToastsOnly } from '../components/toast.tsx';
import { Brand } from './brand.tsx';
import styles from './shell.module.css';

/**
 * The layout of the sign-in after a session expired while its user used the portal. It fills the window. The page below stays as it was, but
 * no one can see or reach it. When the layer unmounts, the focus returns.
 */
export function SignInLayer({ children }: { children: ReactNode }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isOpen, setIsOpen] = useState(false);
  useSignInToastsOnly();

  // Before the next paint, which would still show the page.
  useLayoutEffect(() => {
    const layer = dialog.current;
    const { title } = document;
    layer?.showModal();
    setIsOpen(true);
    document.documentElement.addEventListener('keydown', ignoreEscape);
    return () => {
      document.documentElement.removeEventListener('keydown', ignoreEscape);
      layer?.close();
      document.title = title;
    };
  }, []);

  // Beside the page, because an open dialog of the page hides all around it from screen readers.
  return createPortal(
    <dialog
      ref={dialog}
      // The role is explicit, because other code finds open dialogs by it.
      role="alertdialog"
      aria-label="Sign in again"
      className={styles.layer}
      onCancel={(event) => event.preventDefault()}
      // The back button of a phone closes a dialog that nobody has touched, and would show the page.
      onClose={() => dialog.current?.showModal()}
    >
      <div className={styles.alone}>
        <span className={styles.brand}>
          <Brand />
        </span>
        {/* The form takes the focus, so its dialog must be open. */}
        {isOpen && (
          <ErrorBoundary>
            <SignInToasts value={true}>
              <Suspense fallback={<PageSkeleton />}>{children}</Suspense>
            </SignInToasts>
          </ErrorBoundary>
        )}
        <ToastsInDialog />
      </div>
    </dialog>,
    document.body,
  );
}

/** Escape would close the layer, or a dialog of the page below. */
function ignoreEscape(event: KeyboardEvent): void {
  if (event.key !== 'Escape') return;
  event.preventDefault();
  event.stopPropagation();
}
