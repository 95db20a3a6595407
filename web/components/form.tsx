import {
  createContext,
  type FormEvent,
  type ReactNode,
  useContext,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { ApiFailure, errorMessage, FormError, messagesByField } from '../api/failure.ts';
import { Button } from './button.tsx';
import { DialogContext } from './dialog-context.ts';
import { CONFLICT } from './field-conflict.tsx';
import styles from './form.module.css';
import { useLeaveReason } from './leave-reasons.ts';
import { Notice } from './notice.tsx';
import { useShowFailure } from './toast.tsx';
import type { Conflict, FormDraft } from './use-draft.ts';

/** Errors by field name, from the last response. */
export const FieldErrors = createContext<Record<string, string>>({});

/** Values that someone else saved for fields that the user edited, by field name. */
export const FieldConflicts = createContext<Readonly<Record<string, Conflict>>>({});

/** The field to fill in again after the last failure, and the ID of the message that says why. */
export const RetriedField = createContext<{ name: string; messageId: string } | null>(null);

/** Returns the error of a field, if it has one. */
export function useFieldError(name: string): string | undefined {
  return useContext(FieldErrors)[name];
}

/** A failed submission. */
interface Failure {
  /** Counts failures, so that screen readers announce a repeated message again. */
  number: number;
  sentence: string;
  fieldErrors: Record<string, string>;
}

const NONE: ReadonlySet<string> = new Set();
const NO_CONFLICTS = {};

interface CommonFormProps {
  submitLabel: string;
  danger?: boolean;
  disabled?: boolean;
  /** Shown beside the submit button. In a dialog the default is a Cancel button. */
  actions?: ReactNode;
  /** Name of the field to fill in again after a failure that marks no field. It gets the focus, and its text is selected. */
  retriedField?: string;
  /** Maps the server's field names to the form's. */
  fieldOf?(serverField: string): string;
  /** Whether the form only asks for something to continue with, so that nothing is lost if the user leaves. */
  isPrompt?: boolean;
  children: ReactNode;
}

/** An error appears above the form, and field errors beside their visible fields. */
export type FormProps = CommonFormProps &
  (
    | {
        /** Submits the form. */
        onSubmit(values: FormData): Promise<void>;
        draft?: undefined;
      }
    | {
        /** Changes of something that the server has. Without any, the form cannot be submitted. */
        draft: FormDraft;
        onSubmit?: undefined;
      }
  );

/**
 * A form that shows the server's validation errors, and those of the browser in the same way. It cannot be submitted again while a submission is pending, and
 * keeps its values. After a failure, the first invalid field, the `retriedField` or else the message gets the focus. An error disappears
 * when its field changes or with the next response. The user is asked before unsaved text is lost.
 */
export function Form({
  onSubmit,
  draft,
  submitLabel,
  danger,
  disabled = draft !== undefined && !draft.isEdited,
  actions,
  retriedField,
  fieldOf = (name) => name,
  isPrompt = false,
  children,
}: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const dialog = useContext(DialogContext);
  const showFailure = useShowFailure();
  const [pending, setPending] = useState(false);
  const notice = useRef<HTMLDivElement>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [changed, setChanged] = useState(NONE);
  const [hasText, setHasText] = useState(false);
  const [conflictsFound, setConflictsFound] = useState(0);
  const isUnsaved = draft ? draft.isUnsaved : hasText && !isPrompt;
  // A submission may open another page.
  useLeaveReason(isUnsaved && !pending ? 'Your unsaved changes will be lost.' : null);

  useEffect(() => {
    if (form.current) dialog?.begin?.(form.current);
  }, [dialog]);

  useLayoutEffect(() => {
    if (!failure) return;
    const invalid = firstOf(form.current, Object.keys(failure.fieldErrors));
    const retried = retriedField === undefined ? undefined : firstOf(form.current, [retriedField]);
    (invalid ?? retried ?? notice.current)?.focus();
    if (!invalid && retried instanceof HTMLInputElement) retried.select();
  }, [failure, retriedField]);

  useLayoutEffect(() => {
    if (conflictsFound > 0) form.current?.querySelector<HTMLElement>(`[${CONFLICT}]`)?.focus();
  }, [conflictsFound]);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    if (pending) return;
    const missing = constraintErrors(event.currentTarget);
    if (Object.keys(missing).length > 0) return refuse('Fill in the form first.', missing);
    setPending(true);
    const release = dialog?.hold();
    try {
      const isDone = draft
        ? await draft.save()
        : await onSubmit(new FormData(event.currentTarget)).then(() => true);
      setFailure(null);
      if (isDone) setHasText(false);
      else setConflictsFound((before) => before + 1);
    } catch (error) {
      // The user has left the form, so a toast shows the error.
      if (form.current === null) showFailure(error);
      else fail(error);
    } finally {
      release?.();
      setPending(false);
    }
  }

  function fail(error: unknown) {
    const found = error instanceof ApiFailure || error instanceof FormError ? error.fieldErrors : [];
    refuse(errorMessage(error), messagesByField(found, fieldOf));
  }

  function refuse(message: string, fieldErrors: Record<string, string>) {
    const sentence = fieldsToCheck(form.current, Object.keys(fieldErrors)) ?? message;
    setChanged(NONE);
    setFailure((before) => ({ number: (before?.number ?? 0) + 1, sentence, fieldErrors }));
  }

  function change({ type, target }: FormEvent<HTMLFormElement>) {
    // A choice sends `input` before `change`, with which its own state follows. Rendering between the two would undo it.
    if (!(target instanceof Element) || (type === 'input') !== isTyped(target)) return;
    if (isTyped(target)) setHasText(form.current !== null && hasTypedText(form.current));
    const name = target.getAttribute('name');
    if (failure && name !== null) setChanged(new Set([...changed, name]));
  }

  const messageId = useId();
  const { shown, fieldErrors } = remainingFailure(failure, changed);
  const isRetried = shown !== null && retriedField !== undefined && Object.keys(fieldErrors).length === 0;
  return (
    <FieldErrors.Provider value={fieldErrors}>
      <form
        ref={form}
        className={styles.form}
        onSubmit={submit}
        onInput={change}
        onChange={change}
        noValidate
      >
        {shown !== null && (
          <Notice key={shown.number} id={messageId} ref={notice} tone="bad" role="alert">
            {shown.sentence}
          </Notice>
        )}
        <FieldConflicts value={draft?.conflicts ?? NO_CONFLICTS}>
          <RetriedField value={isRetried ? { name: retriedField, messageId } : null}>{children}</RetriedField>
        </FieldConflicts>
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
 * Returns the part of a failure that still applies after some fields changed: the errors of the other fields. The
 * message disappears with the first change to an invalid field, or to any field if it concerns none.
 */
function remainingFailure(failure: Failure | null, changed: ReadonlySet<string>) {
  const all = Object.entries(failure?.fieldErrors ?? {});
  const left = all.filter(([field]) => !changed.has(field));
  const isOld = left.length < all.length || (all.length === 0 && changed.size > 0);
  return { shown: isOld ? null : failure, fieldErrors: Object.fromEntries(left) };
}

/** Whether text is typed into a field. The others are choices: a box, a list, a file. */
const isTyped = (field: Element): boolean =>
  field instanceof HTMLTextAreaElement ||
  (field instanceof HTMLInputElement && !['checkbox', 'radio', 'file'].includes(field.type));

/** Whether a form has text that takes effort to type again: no passwords, codes and searches. */
const hasTypedText = (form: HTMLFormElement): boolean =>
  [...form.elements].some(
    (field) =>
      (field instanceof HTMLTextAreaElement || field instanceof HTMLInputElement) &&
      isTyped(field) &&
      !['password', 'search'].includes(field.type) &&
      field.autocomplete !== 'one-time-code' &&
      field.value !== '',
  );

/** Returns what the browser finds wrong with the fields of a form, by their names. */
function constraintErrors(form: HTMLFormElement): Record<string, string> {
  const errors: Record<string, string> = {};
  for (const field of form.elements) {
    if (
      !(
        field instanceof HTMLInputElement ||
        field instanceof HTMLSelectElement ||
        field instanceof HTMLTextAreaElement
      )
    )
      continue;
    if (field.name === '' || !field.willValidate || field.validity.valid) continue;
    errors[field.name] = constraintMessage(field);
  }
  return errors;
}

/** Returns what to do about an invalid field. The browser's own message is in its language and long. */
function constraintMessage(field: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement): string {
  const { validity, type } = field;
  if (validity.valueMissing) {
    return type === 'checkbox' || type === 'radio' ? 'Choose an option.' : 'Fill in this field.';
  }
  if (!(field instanceof HTMLInputElement)) return field.validationMessage;
  if (validity.tooShort) return `Enter at least ${field.minLength} characters.`;
  if (validity.typeMismatch && type === 'email') return 'Enter an email address, such as name@example.com.';
  const isOutside = validity.rangeUnderflow || validity.rangeOverflow;
  if (isOutside && type === 'number' && field.min !== '' && field.max !== '') {
    return `Enter a number from ${field.min} to ${field.max}.`;
  }
  return field.validationMessage;
}

/** Returns a short message if visible fields show every error; otherwise null. */
function fieldsToCheck(form: HTMLFormElement | null, fields: string[]): string | null {
  const areInSight = fields.every((field) => firstOf(form, [field])?.checkVisibility());
  if (fields.length === 0 || !areInSight) return null;
  return fields.length === 1 ? 'Check the marked field.' : 'Check the marked fields.';
}

function firstOf(form: HTMLFormElement | null, fields: string[]): HTMLElement | undefined {
  return [...(form?.elements ?? [])]
    .filter((element) => element instanceof HTMLElement)
    .find((element) => fields.includes(element.getAttribute('name') ?? ''));
}

/** Returns the text of a field as typed; empty if the form has no such field. */
export function textOf(values: FormData, name: string): string {
  const value = values.get(name);
  return typeof value === 'string' ? value : '';
}
