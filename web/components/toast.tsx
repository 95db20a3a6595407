import {
  createContext,
  useCallback,
  useContext,
  useEffect,
  useLayoutEffect,
  useState,
  useSyncExternalStore,
} from 'react';
import { errorMessage } from '../api/failure.ts';
import { isUnderWay, type Operation, type OperationResult, useOperation } from '../api/operations.ts';
import { Button } from './button.tsx';
import { useFocusAfter } from './focus-after-dismissal.ts';
import styles from './toast.module.css';

interface Toast {
  id: number;
  sentence: string;
  /** A `warned` success stays, as a `bad` one does. */
  tone: 'busy' | 'good' | 'warned' | 'bad';
  /** The operation that a busy one follows. */
  operation?: Followed;
  /** The next step that it offers. */
  action?: ToastAction;
}

interface ToastAction {
  label: string;
  onSelect(): void;
}

/** The sentence for a successful operation, which can depend on its result. A warning stays until the user dismisses it. */
type Done = string | ((result: OperationResult) => string | { warning: string });

export interface OperationWords {
  busy: string;
  done: Done;
  /** The next step after a failure with this code. */
  retry?: (code: NonNullable<Operation['error']>['code']) => ToastAction | undefined;
}

interface Followed extends Omit<OperationWords, 'busy'> {
  id: string;
}

/** Reading takes about 60 ms for each character, and seeing the toast takes a moment. */
const readingMs = (sentence: string) => Math.max(5_000, 3_000 + 80 * sentence.length);

let shown: readonly Toast[] = [];
let last = 0;
const listeners = new Set<() => void>();
/**
 * Errors and operations of pages that are hidden below a sign-in, until their user signs in again; null without hidden pages. Anyone at the
 * screen would see them.
 */
let held: readonly Toast[] | null = null;

interface ToastOptions extends Pick<Toast, 'operation' | 'action'> {
  /** Whether the sign-in above hidden pages shows it. */
  isOfSignIn?: boolean;
}

function show(
  sentence: string,
  tone: Toast['tone'],
  { operation, action, isOfSignIn }: ToastOptions = {},
): Toast {
  last += 1;
  const toast: Toast = {
    id: last,
    sentence,
    tone,
    ...(operation && { operation }),
    ...(action && { action }),
  };
  if (held === null || isOfSignIn) change(withToast(shown, toast));
  else if (outlastsHiding(toast)) held = withToast(held, toast);
  return toast;
}

/** A repeated message moves to the end instead of appearing twice, unless it follows an operation or offers a next step. */
function withToast(toasts: readonly Toast[], toast: Toast): readonly Toast[] {
  const isRepeated = (other: Toast) =>
    other.sentence === toast.sentence && isOnlyText(other) && isOnlyText(toast);
  return [...toasts.filter((other) => !isRepeated(other)), toast];
}

const isOnlyText = ({ operation, action }: Toast) => operation === undefined && action === undefined;

/** Whether it stays until the user dismisses it. */
const stays = ({ tone }: Toast) => tone === 'bad' || tone === 'warned';

/** Whether it is shown after its page was hidden. Confirmations would come late, and someone else could use an offer to undo. */
const outlastsHiding = ({ tone }: Toast) => tone !== 'good';

/**
 * Whether it belongs into a dialog that opened after the toast with this number: users reach its button only there. Older offers
 * to undo wait outside.
 */
const isOfDialog = (toast: Toast, openedAfter: number) =>
  stays(toast) || (toast.action !== undefined && toast.id > openedAfter);

function dismiss(toast: Toast): void {
  change(shown.filter((other) => other !== toast));
}

function change(next: readonly Toast[]): void {
  shown = next;
  for (const listener of listeners) listener();
}

/** Confirms an action for a few seconds, without taking the focus. */
export function showSuccess(sentence: string): void {
  const toast = show(sentence, 'good');
  setTimeout(() => dismiss(toast), readingMs(sentence));
}

/** An offer to undo needs time to read, decide and reach. */
const UNDO_MS = 20_000;

/** Confirms an action, and offers to undo it for a while. */
export function showUndo(sentence: string, onUndo: () => void): void {
  const toast = show(sentence, 'good', { action: { label: 'Undo', onSelect: onUndo } });
  setTimeout(() => dismiss(toast), UNDO_MS);
}

/**
 * Shows that an operation is in progress, and then that it is done, or why it failed. An operation that the server did not name is
 * only announced.
 */
export function showOperation(operationId: string | null, { busy, ...words }: OperationWords): void {
  if (operationId === null) showSuccess(busy);
  else show(busy, 'busy', { operation: { id: operationId, ...words } });
}

/** Shows an error outside of a form. It stays until the user dismisses it. */
export function showFailure(error: unknown): void {
  show(errorMessage(error), 'bad');
}

const OfSignIn = createContext(false);
/** Marks the components of the sign-in above hidden pages, whose failures are shown. */
export const SignInToasts = OfSignIn.Provider;

/** Returns {@link showFailure} for a component that can be part of the sign-in. */
export function useShowFailure(): typeof showFailure {
  const isOfSignIn = useContext(OfSignIn);
  return useCallback((error) => void show(errorMessage(error), 'bad', { isOfSignIn }), [isOfSignIn]);
}

/**
 * Dismisses all errors, operations and offers: the next user does not see them, and cannot undo with their own session what another user
 * did.
 */
function clearToasts(): void {
  if (held !== null) held = [];
  change(shown.filter(({ tone, action }) => tone === 'good' && action === undefined));
}

/** Clears the toasts when the signed-in pages unmount. */
export function useClearToastsOnUnmount(): void {
  useEffect(() => clearToasts, []);
}

/** Removes the toasts before the next paint. The errors and operations among them, and new ones, return when the component unmounts. */
export function useSignInToastsOnly(): void {
  useLayoutEffect(() => {
    held = shown.filter(outlastsHiding);
    change([]);
    return () => {
      const returning = held ?? [];
      held = null;
      change([...shown, ...returning]);
    };
  }, []);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The open dialogs, which show toasts with buttons themselves: the number of the last toast when each opened. */
let dialogs: readonly { openedAfter: number }[] = [];

function changeDialogs(next: typeof dialogs): void {
  dialogs = next;
  for (const listener of listeners) listener();
}

/**
 * Shows the toasts. Always rendered, because screen readers ignore a live region that appears together with its text.
 */
export function Toasts() {
  const toasts = useSyncExternalStore(subscribe, () => shown);
  const dialog = useSyncExternalStore(subscribe, () => dialogs[0]);
  return (
    <output className={styles.viewport} aria-live="polite">
      <ToastList
        toasts={dialog ? toasts.filter((toast) => !isOfDialog(toast, dialog.openedAfter)) : toasts}
      />
    </output>
  );
}

/**
 * Shows errors and offers to undo at the end of an open dialog. Outside it they would cover its buttons on a phone, and the focus
 * trap would keep users from them.
 */
export function ToastsInDialog() {
  const toasts = useSyncExternalStore(subscribe, () => shown);
  const [dialog] = useState(() => ({ openedAfter: last }));
  useEffect(() => {
    changeDialogs([...dialogs, dialog]);
    return () => changeDialogs(dialogs.filter((other) => other !== dialog));
  }, [dialog]);
  return (
    <output className={styles.inDialog} aria-live="polite">
      <ToastList toasts={toasts.filter((toast) => isOfDialog(toast, dialog.openedAfter))} />
    </output>
  );
}

function ToastList({ toasts }: { toasts: readonly Toast[] }) {
  const { list, remember, moveOn } = useFocusAfter();
  return (
    <span ref={list} className={styles.list}>
      {toasts.map((toast) => (
        <span key={toast.id} className={styles.toast} data-tone={toast.tone}>
          <span className={styles.sentence}>
            {toast.sentence}
            {toast.action && <ActionButton toast={toast} action={toast.action} />}
          </span>
          {toast.operation && <Follow toast={toast} {...toast.operation} />}
          {stays(toast) && (
            <Button
              small
              variant="quiet"
              aria-label="Dismiss this message"
              onFocus={remember}
              onClick={({ currentTarget }) => {
                moveOn(currentTarget);
                dismiss(toast);
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

function ActionButton({ toast, action }: { toast: Toast; action: ToastAction }) {
  return (
    <span className={styles.action}>
      <Button
        small
        onClick={() => {
          dismiss(toast);
          action.onSelect();
        }}
      >
        {action.label}
      </Button>
    </span>
  );
}

/** Adds to the sentence of a successful operation the faults that remain in the website. */
function withWarning(sentence: string, result: OperationResult): string | { warning: string } {
  return result?.warning ? { warning: `${sentence} Warning: ${result.warning}.` } : sentence;
}

/** Replaces a toast by the outcome of its operation. */
function Follow({ toast, id, done, retry }: Followed & { toast: Toast }) {
  const { data, error } = useOperation(id);
  useEffect(() => {
    if (error !== null) dismiss(toast);
    if (data === undefined || isUnderWay(data)) return;
    dismiss(toast);
    if (data.status === 'succeeded') {
      const said = typeof done === 'string' ? withWarning(done, data.result) : done(data.result);
      if (typeof said === 'string') showSuccess(said);
      else show(said.warning, 'warned');
    } else if (data.status === 'failed') {
      const action = data.error ? retry?.(data.error.code) : undefined;
      show(data.error?.message ?? 'The operation failed.', 'bad', action && { action });
    }
  }, [toast, data, error, done, retry]);
  return <span className={styles.turning} aria-hidden="true" />;
}
