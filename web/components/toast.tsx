import { type FocusEvent, useEffect, useRef, useSyncExternalStore } from 'react';
import { errorMessage } from '../api/failure.ts';
import { Button } from './button.tsx';
import styles from './toast.module.css';

interface Toast {
  id: number;
  sentence: string;
  tone: 'good' | 'bad';
}

const GOOD_MS = 5_000;

let shown: readonly Toast[] = [];
let last = 0;
const listeners = new Set<() => void>();

function show(sentence: string, tone: Toast['tone']): Toast {
  last += 1;
  const toast = { id: last, sentence, tone };
  // Said again, it stands there anew and not twice.
  change([...shown.filter((other) => other.sentence !== sentence), toast]);
  return toast;
}

function takeAway(toast: Toast): void {
  change(shown.filter((other) => other !== toast));
}

function change(next: readonly Toast[]): void {
  shown = next;
  for (const listener of listeners) listener();
}

/** Says that something is done, for a few seconds, without taking the focus. */
export function showSuccess(sentence: string): void {
  const toast = show(sentence, 'good');
  setTimeout(() => takeAway(toast), GOOD_MS);
}

/** Says what went wrong where there is no form that could; it stays until somebody puts it away. */
export function showFailure(error: unknown): void {
  show(errorMessage(error), 'bad');
}

/** What went wrong for one person is not told to the next. */
export function useClearFailuresOnUnmount(): void {
  useEffect(() => () => change(shown.filter(({ tone }) => tone === 'good')), []);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** How many dialogs are open that tell of failures themselves. */
let dialogs = 0;

function countDialogs(by: 1 | -1): void {
  dialogs += by;
  for (const listener of listeners) listener();
}

/** Where it is said; there all the time, since a region that comes with its text is not read out. */
export function Toasts() {
  const toasts = useSyncExternalStore(subscribe, () => shown);
  const inDialog = useSyncExternalStore(subscribe, () => dialogs > 0);
  return (
    <output className={styles.viewport} aria-live="polite">
      <ToastList toasts={inDialog ? toasts.filter(({ tone }) => tone === 'good') : toasts} />
    </output>
  );
}

/**
 * Failures at the end of a dialog while one is open: beside it they would lie over its buttons on a telephone, and nobody could put
 * them away, for a dialog keeps everybody inside.
 */
export function FailuresInDialog() {
  const toasts = useSyncExternalStore(subscribe, () => shown);
  useEffect(() => {
    countDialogs(1);
    return () => countDialogs(-1);
  }, []);
  return (
    <output className={styles.inDialog} aria-live="polite">
      <ToastList toasts={toasts.filter(({ tone }) => tone === 'bad')} />
    </output>
  );
}

function ToastList({ toasts }: { toasts: readonly Toast[] }) {
  const { list, remember, goOn } = useFocusAfter();
  return (
    <span ref={list} className={styles.list}>
      {toasts.map((toast) => (
        <span key={toast.id} className={styles.toast} data-tone={toast.tone}>
          <span className={styles.sentence}>{toast.sentence}</span>
          {toast.tone === 'bad' && (
            <Button
              small
              variant="quiet"
              aria-label="Put away this message"
              onFocus={remember}
              onClick={({ currentTarget }) => {
                goOn(currentTarget);
                takeAway(toast);
              }}
            >
              <span aria-hidden="true">✕</span>
            </Button>
          )}
        </span>
      ))}
    </span>
  );
}

/**
 * Where the focus goes on when a message is put away by its button: to that of the next, else to where it was before, else to the dialog
 * or the content of the page.
 */
function useFocusAfter() {
  const list = useRef<HTMLSpanElement>(null);
  const before = useRef<HTMLElement>(null);
  const remember = ({ relatedTarget }: FocusEvent) => {
    const isOutside = relatedTarget instanceof HTMLElement && !list.current?.contains(relatedTarget);
    if (isOutside) before.current = relatedTarget;
  };
  const goOn = (button: HTMLElement) => {
    const buttons: HTMLElement[] = [...(list.current?.querySelectorAll('button') ?? [])];
    const next = buttons[buttons.indexOf(button) + 1];
    const others = buttons.filter((other) => other !== button);
    const last = before.current?.isConnected ? before.current : null;
    const around = button.closest<HTMLElement>('[role$="dialog"]') ?? document.getElementById('content');
    (next ?? others.at(-1) ?? last ?? around)?.focus();
  };
  return { list, remember, goOn };
}
