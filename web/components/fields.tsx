import { type ComponentProps, type ReactNode, useContext, useId } from 'react';
import { FieldConflict } from './field-conflict.tsx';
import styles from './form.module.css';
import { FieldConflicts, RetriedField, useFieldError } from './form.tsx';

export interface Labelled {
  label: string;
  name: string;
  hint?: ReactNode;
}

/** The change of a field's value, as a draft takes it. */
interface Valued<Value> {
  onValue?(value: Value): void;
}

/**
 * Returns what all fields share: the attributes that link a field with its hint, its error and the value of someone else, and those below
 * it. `describe` makes that value readable.
 */
export function useField(
  { label, name, hint }: Labelled,
  describe: (value: unknown) => string = (value) => String(value),
) {
  const id = useId();
  const error = useFieldError(name);
  const conflict = useContext(FieldConflicts)[name];
  const retried = useContext(RetriedField);
  const described = [
    retried?.name === name && retried.messageId,
    hint !== undefined && `${id}-hint`,
    error !== undefined && `${id}-error`,
    conflict !== undefined && `${id}-conflict`,
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
        {conflict && (
          <FieldConflict
            id={`${id}-conflict`}
            label={label}
            theirs={describe(conflict.theirs)}
            conflict={conflict}
          />
        )}
      </>
    ),
  };
}

/** A one-line input: text, password, date and so on, by its `type`. */
export function TextField({
  label,
  name,
  hint,
  onValue,
  ...rest
}: Labelled & Valued<string> & Omit<ComponentProps<'input'>, 'name'>) {
  const { attributes, below } = useField({ label, name, hint });
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={attributes.id}>
        {label}
      </label>
      <input
        type="text"
        className={styles.input}
        {...(onValue && { onChange: ({ currentTarget }) => onValue(currentTarget.value) })}
        {...rest}
        {...attributes}
      />
      {below}
    </div>
  );
}

export function TextArea({
  label,
  name,
  hint,
  onValue,
  ...rest
}: Labelled & Valued<string> & Omit<ComponentProps<'textarea'>, 'name'>) {
  const { attributes, below } = useField({ label, name, hint });
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={attributes.id}>
        {label}
      </label>
      <textarea
        className={styles.input}
        spellCheck={false}
        {...(onValue && { onChange: ({ currentTarget }) => onValue(currentTarget.value) })}
        {...rest}
        {...attributes}
      />
      {below}
    </div>
  );
}

/** A native select, which works with every keyboard, phone and screen reader. */
export function SelectField<Value extends string>({
  label,
  name,
  hint,
  options,
  onValue,
  ...rest
}: Labelled &
  Valued<Value> &
  Omit<ComponentProps<'select'>, 'name'> & {
    options: readonly { value: Value; label: string; disabled?: boolean }[];
  }) {
  const { attributes, below } = useField({ label, name, hint }, labelAmong(options));
  const choose = (text: string) => {
    const chosen = options.find(({ value }) => value === text);
    if (chosen !== undefined) onValue?.(chosen.value);
  };
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={attributes.id}>
        {label}
      </label>
      <select
        className={styles.input}
        {...(onValue && { onChange: ({ currentTarget }) => choose(currentTarget.value) })}
        {...rest}
        {...attributes}
      >
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

/** Returns a function that finds the label of a value. */
const labelAmong =
  (options: readonly { value: string; label: string }[]) =>
  (value: unknown): string =>
    options.find((option) => option.value === value)?.label ?? String(value);

/** A checkbox. Its form value is `on` if checked. */
export function CheckboxField({
  label,
  name,
  hint,
  onValue,
  ...rest
}: Labelled & Valued<boolean> & Omit<ComponentProps<'input'>, 'name' | 'type'>) {
  const { attributes, below } = useField({ label, name, hint }, (value) =>
    value === true ? 'selected' : 'not selected',
  );
  return (
    <div className={styles.choice}>
      <input
        type="checkbox"
        {...(onValue && { onChange: ({ currentTarget }) => onValue(currentTarget.checked) })}
        {...rest}
        {...attributes}
      />
      <div>
        <label htmlFor={attributes.id}>{label}</label>
        <div>{below}</div>
      </div>
    </div>
  );
}

/** A group of radio buttons, each with a label and an optional hint. */
export function RadioGroup<Value extends string>({
  label,
  name,
  options,
  value,
  onValue,
}: {
  label: string;
  name: string;
  options: readonly { value: Value; label: string; hint?: ReactNode }[];
  value: Value;
  onValue(value: Value): void;
}) {
  const { attributes, error, below } = useField({ label, name }, labelAmong(options));
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
            onChange={() => onValue(option.value)}
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

/** The conflict of a field of a draft that has several inputs. It stands after one of them. `theirs`: the other value in words. */
export function GroupConflict({ label, name, theirs }: Labelled & { theirs: string }) {
  const conflict = useContext(FieldConflicts)[name];
  return conflict && <FieldConflict label={label} theirs={theirs} conflict={conflict} />;
}
