import MagnifyingGlassIcon from '@heroicons/react/24/outline/MagnifyingGlassIcon';
import { Suspense, useEffect, useState } from 'react';
import buttonStyles from '../components/button.module.css';
import { ErrorBoundary } from '../components/error-boundary.tsx';
import { onDemand } from '../components/on-demand.ts';
import styles from './search-button.module.css';

const Palette = onDemand(
  () => import('./palette.tsx'),
  (module) => module.Palette,
);

/** An open dialog keeps its keys. One that is closing is still on the page. */
const OPEN_DIALOG = '[role$="dialog"]:not([data-closed])';

/** Opens the search and the commands, like Ctrl K (⌘ K). Their script is loaded when first needed. */
export function SearchButton({ accountId }: { accountId: string }) {
  const [open, setOpen] = useState(false);
  const [wanted, setWanted] = useState(false);
  const show = () => {
    setWanted(true);
    setOpen(true);
  };

  useEffect(() => {
    const listener = (event: KeyboardEvent) => {
      const isAsked = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
      if (!isAsked || event.key.toLowerCase() !== 'k' || document.querySelector(OPEN_DIALOG)) return;
      event.preventDefault();
      setWanted(true);
      setOpen(true);
    };
    document.addEventListener('keydown', listener);
    return () => document.removeEventListener('keydown', listener);
  }, []);

  return (
    <>
      <button
        type="button"
        className={`${buttonStyles.button} ${styles.search}`}
        aria-keyshortcuts="Control+K Meta+K"
        onClick={show}
      >
        <MagnifyingGlassIcon />
        Search
      </button>
      {wanted && (
        <ErrorBoundary place={String(open)}>
          <Suspense fallback={null}>
            <Palette accountId={accountId} open={open} onOpenChange={setOpen} />
          </Suspense>
        </ErrorBoundary>
      )}
    </>
  );
}
