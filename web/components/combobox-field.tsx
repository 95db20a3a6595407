import { Combobox } from '@base-ui/react/combobox';
import ChevronUpDownIcon from '@heroicons/react/24/outline/ChevronUpDownIcon';
import { type RefObject, useLayoutEffect, useRef } from 'react';
import styles from './combobox-field.module.css';
import { useField } from './fields.tsx';
import formStyles from './form.module.css';

export interface ChoiceFieldProps {
  label: string;
  name: string;
  hint?: string;
  options: readonly { value: string; label: string }[];
  /** The chosen value of a controlled field. */
  value?: string;
  /** The value that an uncontrolled field begins with. */
  defaultValue?: string;
  required?: boolean;
  onChange?(value: string): void;
}

type Option = ChoiceFieldProps['options'][number];

/** Number of options shown at once. Typing finds the others. */
const SHOWN = 100;

/** A field that searches a long list of options. The form has the value of the chosen one. */
export function ComboboxField({
  label,
  name,
  hint,
  options,
  value,
  defaultValue,
  required = false,
  onChange,
  hadFocus,
}: ChoiceFieldProps & {
  /** Whether the select that stood here while this loaded had the focus. */
  hadFocus: RefObject<boolean>;
}) {
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (hadFocus.current) input.current?.focus();
  }, [hadFocus]);
  const { attributes, below } = useField(name, hint);
  const { id, name: _, ...described } = attributes;
  const none = options.find((option) => option.value === '');
  // In a field that must be filled, it only says what to do.
  const offered = required ? options.filter((option) => option !== none) : options;
  const found = (wanted: string) => offered.find((option) => option.value === wanted) ?? null;
  return (
    <div className={formStyles.field}>
      <label className={formStyles.label} htmlFor={id}>
        {label}
      </label>
      <Combobox.Root
        name={name}
        items={offered}
        limit={SHOWN}
        required={required}
        autoHighlight
        {...(value === undefined
          ? { defaultValue: found(defaultValue ?? '') }
          : {
              value: found(value),
              onValueChange: (option: Option | null) => onChange?.(option?.value ?? ''),
            })}
      >
        <Combobox.InputGroup className={styles.group}>
          <Combobox.Input
            ref={input}
            id={id}
            className={`${formStyles.input} ${styles.input}`}
            placeholder={none?.label ?? 'Search'}
            autoComplete="off"
            spellCheck={false}
            {...described}
          />
          <Combobox.Trigger className={styles.trigger} aria-label={`Show the list: ${label}`}>
            <ChevronUpDownIcon />
          </Combobox.Trigger>
        </Combobox.InputGroup>
        <Combobox.Portal>
          <Combobox.Positioner
            className={styles.positioner}
            sideOffset={4}
            // It stands outside of the page's landmarks.
            role="region"
            aria-label={`Options: ${label}`}
          >
            <Combobox.Popup className={styles.popup}>
              <Combobox.Empty className={styles.empty}>
                Nothing matches. Type less of the name.
              </Combobox.Empty>
              <Combobox.List className={styles.list} aria-label={label}>
                {(option: Option) => (
                  <Combobox.Item key={option.value} value={option} className={styles.option}>
                    {option.label}
                  </Combobox.Item>
                )}
              </Combobox.List>
            </Combobox.Popup>
          </Combobox.Positioner>
        </Combobox.Portal>
      </Combobox.Root>
      {below}
    </div>
  );
}
