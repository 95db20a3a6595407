import {
  createContext,
  type FormEvent,
  type ReactNode,
  useContext,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { ApiFailure, errorMessage, FormError, messagesByField } from '../api/failure.ts';
import { Button } from './button.tsx';
import { DialogContext } from './dialog-context.ts';
import styles from './form.module.css';
import { Notice } from './notice.tsx';
import { showFailure } from './toast.tsx';

/** Faults by the name of their field, from the last answer of the server. */
export const FieldErrors = createContext<Record<string, string>>({});

/** What is wrong with a field; undefined: nothing that is known of. */
export function useFieldError(name: string): string | undefined {
  return useContext(FieldErrors)[name];
}

/** Why it was not taken, and what is wrong with which field. */
interface Failure {
  /** Of those in a row; so what is said twice is heard twice. */
  number: number;
  sentence: string;
  faults: Record<string, string>;
}

const NONE: ReadonlySet<string> = new Set();

export interface FormProps {
  /** Sends it; what it throws is told above the form, and its faults at their fields, where they are in sight. */
  onSubmit(values: FormData): Promise<void>;
  submitLabel: string;
  danger?: boolean;
  disabled?: boolean;
  /** Beside the submit button; in a dialog otherwise a button that closes it. */
  actions?: ReactNode;
  /** Where the server's field has another name than the form's. */
  fieldOf?(serverField: string): string;
  children: ReactNode;
}

/**
 * A form whose faults are the server's own. While it is being sent it cannot be sent again; what was typed stays. The first
 * faulty field, else the sentence, gets the focus. A fault is shown until its field is changed or the next answer is there.
 */
export function Form({
  onSubmit,
  submitLabel,
  danger,
  disabled,
  actions,
  fieldOf = (name) => name,
  children,
}: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const dialog = useContext(DialogContext);
  const [pending, setPending] = useState(false);
  const notice = useRef<HTMLDivElement>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [changed, setChanged] = useState(NONE);

  useEffect(() => {
    if (form.current) dialog?.begin?.(form.current);
  }, [dialog]);

  useLayoutEffect(() => {
    if (failure) (firstOf(form.current, Object.keys(failure.faults)) ?? notice.current)?.focus();
  }, [failure]);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    if (pending) return;
    setPending(true);
    const release = dialog?.hold();
    try {
      await onSubmit(new FormData(event.currentTarget));
      setFailure(null);
    } catch (error) {
      // Left meanwhile: there is no form any more that could say it.
      if (form.current === null) showFailure(error);
      else fail(error);
    } finally {
      release?.();
      setPending(false);
    }
  }

  function fail(error: unknown) {
    const found = error instanceof ApiFailure || error instanceof FormError ? error.faults : [];
    const faults = messagesByField(found, fieldOf);
    const sentence = whereMarked(form.current, Object.keys(faults)) ?? errorMessage(error);
    setChanged(NONE);
    setFailure((before) => ({ number: (before?.number ?? 0) + 1, sentence, faults }));
  }

  function change(event: FormEvent<HTMLFormElement>) {
    const name = event.target instanceof Element ? event.target.getAttribute('name') : null;
    if (failure && name !== null) setChanged(new Set([...changed, name]));
  }

  const { shown, faults } = leftOf(failure, changed);
  return (
    <FieldErrors.Provider value={faults}>
      <form ref={form} className={styles.form} onSubmit={submit} onChange={change} noValidate={false}>
        {shown !== null && (
          <Notice key={shown.number} ref={notice} tone="bad" role="alert">
            {shown.sentence}
          </Notice>
        )}
        {children}
        <div className={styles.actions}>
          <Button type="submit" variant={danger ? 'danger' : 'primary'} pending={pending} disabled={disabled}>
            {submitLabel}
          </Button>
          {actions ?? (dialog && <Button onClick={dialog.close}>Cancel</Button>)}
        </div>
      </form>
    </FieldErrors.Provider>
  );
}

/**
 * What of a failure still holds once some fields are changed: the faults of the others. The sentence is of all that was sent, and goes
 * with the first change of a field that it is about; of any where it is about none.
 */
function leftOf(failure: Failure | null, changed: ReadonlySet<string>) {
  const all = Object.entries(failure?.faults ?? {});
  const left = all.filter(([field]) => !changed.has(field));
  const isOld = left.length < all.length || (all.length === 0 && changed.size > 0);
  return { shown: isOld ? null : failure, faults: Object.fromEntries(left) };
}

/** Where to look, when all that is wrong stands at fields in sight, and need not be said twice; null: it does not. */
function whereMarked(form: HTMLFormElement | null, fields: string[]): string | null {
  const areInSight = fields.every((field) => firstOf(form, [field])?.checkVisibility());
  if (fields.length === 0 || !areInSight) return null;
  return fields.length === 1 ? 'Look at the marked field.' : 'Look at the marked fields.';
}

function firstOf(form: HTMLFormElement | null, fields: string[]): HTMLElement | undefined {
  return [...(form?.elements ?? [])]
    .filter((element) => element instanceof HTMLElement)
    .find((element) => fields.includes(element.getAttribute('name') ?? ''));
}

/** The text of a field as it was typed; empty where there is none. */
export function textOf(values: FormData, name: string): string {
  const value = values.get(name);
  return typeof value === 'string' ? value : '';
}
