import { useSyncExternalStore } from 'react';
import { sentenceFor } from '../api/failure.ts';
import styles from './toast.module.css';

interface Toast {
  id: number;
  sentence: string;
  tone: 'good' | 'bad';
}

const GOOD_MS = 5_000;
const BAD_MS = 12_000;

let shown: readonly Toast[] = [];
let last = 0;
const listeners = new Set<() => void>();

function show(sentence: string, tone: Toast['tone'], forMs: number): void {
  last += 1;
  const toast = { id: last, sentence, tone };
  change([...shown, toast]);
  setTimeout(() => change(shown.filter((other) => other !== toast)), forMs);
}

function change(next: readonly Toast[]): void {
  shown = next;
  for (const listener of listeners) listener();
}

/** Says that something is done, for a few seconds, without taking the focus. */
export function say(sentence: string): void {
  show(sentence, 'good', GOOD_MS);
}

/** Says what went wrong where there is no form that could. */
export function sayFailure(error: unknown): void {
  show(sentenceFor(error), 'bad', BAD_MS);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Where it is said; there all the time, since a region that comes with its text is not read out. */
export function Toasts() {
  const toasts = useSyncExternalStore(subscribe, () => shown);
  return (
    <output className={styles.viewport} aria-live="polite">
      {toasts.map(({ id, sentence, tone }) => (
        <span key={id} className={styles.toast} data-tone={tone}>
          {sentence}
        </span>
      ))}
    </output>
  );
}
