import {
  createContext,
  type FormEvent,
  type ReactNode,
  useContext,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { ApiFailure, Objection, sentenceFor, sentencesByField } from '../api/failure.ts';
import { Button } from './button.tsx';
import styles from './form.module.css';
import { Notice } from './notice.tsx';

/** Faults by the name of their field, from the last answer of the server. */
export const Faults = createContext<Record<string, string>>({});

/** What is wrong with a field; undefined: nothing that is known of. */
export function useFault(name: string): string | undefined {
  return useContext(Faults)[name];
}

/** Why it was not taken, and what is wrong with which field. */
interface Failure {
  sentence: string;
  faults: Record<string, string>;
}

const NONE: Failure['faults'] = {};

export interface FormProps {
  /** Sends it; what it throws is told above the form, and its faults at their fields. */
  onSubmit(values: FormData): Promise<void>;
  submitLabel: string;
  danger?: boolean;
  disabled?: boolean;
  /** Beside the submit button. */
  actions?: ReactNode;
  /** Where the server's field has another name than the form's. */
  fieldOf?(serverField: string): string;
  children: ReactNode;
}

/**
 * A form whose faults are the server's own. While it is being sent it cannot be sent again; what was typed stays. The first
 * faulty field, else the sentence, gets the focus.
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
  const [pending, setPending] = useState(false);
  const notice = useRef<HTMLDivElement>(null);
  const [failure, setFailure] = useState<Failure | null>(null);

  useLayoutEffect(() => {
    if (failure) (firstOf(form.current, Object.keys(failure.faults)) ?? notice.current)?.focus();
  }, [failure]);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    if (pending) return;
    setPending(true);
    setFailure(null);
    try {
      await onSubmit(new FormData(event.currentTarget));
    } catch (error) {
      const found = error instanceof ApiFailure || error instanceof Objection ? error.faults : [];
      setFailure({ sentence: sentenceFor(error), faults: sentencesByField(found, fieldOf) });
    } finally {
      setPending(false);
    }
  }

  return (
    <Faults.Provider value={failure?.faults ?? NONE}>
      <form ref={form} className={styles.form} onSubmit={submit} noValidate={false}>
        {failure !== null && (
          <Notice ref={notice} tone="bad" role="alert">
            {failure.sentence}
          </Notice>
        )}
        {children}
        <div className={styles.actions}>
          <Button type="submit" variant={danger ? 'danger' : 'primary'} pending={pending} disabled={disabled}>
            {submitLabel}
          </Button>
          {actions}
        </div>
      </form>
    </Faults.Provider>
  );
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
