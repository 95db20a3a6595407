import { type ComponentProps, type ReactNode, useContext, useId } from 'react';
import styles from './form.module.css';
import { RetriedField, useFieldError } from './form.tsx';

export interface Labelled {
  label: string;
  name: string;
  hint?: ReactNode;
}

/**
 * Returns what all fields share: the attributes that link a field with its hint and error, and those two below it.
 */
export function useField(name: string, hint: ReactNode) {
  const id = useId();
  const error = useFieldError(name);
  const retried = useContext(RetriedField);
  const described = [
    retried?.name === name && retried.messageId,
    hint !== undefined && `${id}-hint`,
    error !== undefined && `${id}-error`,
  ].filter(Boolean);
  return {
    error,
    attributes: {
      id,
      name,
      'aria-invalid': error !== undefined || undefined,
      'aria-describedby': described.length > 0 ? described.join(' ') : undefined,
    },
    below: (
      <>
        {hint !== undefined && (
          <span id={`${id}-hint`} className={styles.hint}>
            {hint}
          </span>
        )}
        {error !== undefined && (
          <span id={`${id}-error`} className={styles.error}>
            {error}
          </span>
        )}
      </>
    ),
  };
}

/** A one-line input: text, password, date and so on, by its `type`. */
export function TextField({ label, name, hint, ...rest }: Labelled & Omit<ComponentProps<'input'>, 'name'>) {
  const { attributes, below } = useField(name, hint);
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={attributes.id}>
        {label}
      </label>
      <input type="text" className={styles.input} {...rest} {...attributes} />
      {below}
    </div>
  );
}

export function TextArea({
  label,
  name,
  hint,
  ...rest
}: Labelled & Omit<ComponentProps<'textarea'>, 'name'>) {
  const { attributes, below } = useField(name, hint);
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={attributes.id}>
        {label}
      </label>
      <textarea className={styles.input} spellCheck={false} {...rest} {...attributes} />
      {below}
    </div>
  );
}

/** A native select, which works with every keyboard, phone and screen reader. */
export function SelectField({
  label,
  name,
  hint,
  options,
  ...rest
}: Labelled &
  Omit<ComponentProps<'select'>, 'name'> & {
    options: readonly { value: string; label: string; disabled?: boolean }[];
  }) {
  const { attributes, below } = useField(name, hint);
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={attributes.id}>
        {label}
      </label>
      <select className={styles.input} {...rest} {...attributes}>
        {options.map(({ value, label: text, disabled }) => (
          <option key={value} value={value} disabled={disabled}>
            {text}
          </option>
        ))}
      </select>
      {below}
    </div>
  );
}

/** A checkbox. Its form value is `on` if checked. */
export function CheckboxField({
  label,
  name,
  hint,
  ...rest
}: Labelled & Omit<ComponentProps<'input'>, 'name' | 'type'>) {
  const { attributes, below } = useField(name, hint);
  return (
    <div className={styles.choice}>
      <input type="checkbox" {...rest} {...attributes} />
      <div>
        <label htmlFor={attributes.id}>{label}</label>
        <div>{below}</div>
      </div>
    </div>
  );
}

/** A group of radio buttons, each with a label and an optional hint. */
export function RadioGroup({
  label,
  name,
  options,
  value,
  onChange,
}: {
  label: string;
  name: string;
  options: readonly { value: string; label: string; hint?: ReactNode }[];
  value: string;
  onChange(value: string): void;
}) {
  const { attributes, error, below } = useField(name, undefined);
  const { id } = attributes;
  return (
    <fieldset className={styles.group} aria-describedby={attributes['aria-describedby']}>
      <legend className={styles.label}>{label}</legend>
      {options.map((option) => (
        <div key={option.value} className={styles.choice}>
          <input
            type="radio"
            id={`${id}-${option.value}`}
            name={name}
            value={option.value}
            checked={option.value === value}
            aria-invalid={error !== undefined || undefined}
            onChange={() => onChange(option.value)}
            aria-describedby={option.hint === undefined ? undefined : `${id}-${option.value}-hint`}
          />
          <div>
            <label htmlFor={`${id}-${option.value}`}>{option.label}</label>
            {option.hint !== undefined && (
              <div id={`${id}-${option.value}-hint`} className={styles.hint}>
                {option.hint}
              </div>
            )}
          </div>
        </div>
      ))}
      {below}
    </fieldset>
  );
}
