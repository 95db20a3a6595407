import { Combobox } from '@base-ui/react/combobox';
import ChevronUpDownIcon from '@heroicons/react/24/outline/ChevronUpDownIcon';
import { type RefObject, useLayoutEffect, useMemo, useRef } from 'react';
import styles from './combobox-field.module.css';
import { useField } from './fields.tsx';
import formStyles from './form.module.css';
import { SEARCH_FAILED } from './search-text.ts';

export interface ChoiceFieldProps {
  label: string;
  name: string;
  hint?: string;
  options: readonly { value: string; label: string }[];
  /** The chosen value; empty for none. */
  value: string;
  onChange(value: string): void;
  required?: boolean;
  /** The chosen option, if `options` may lack it. */
  chosen?: { value: string; label: string } | undefined;
  /** Set if the server searches: `options` are the first that match, then. */
  onServer?: ServerSearch;
}

/** A search on the server. */
export interface ServerSearch {
  /** Number of options without a search; undefined before the first answer and after a failed search. */
  total: number | undefined;
  /** Gets the typed text; empty if the text is that of the chosen option. */
  onSearch(text: string): void;
  /** Whether the options are those for the typed text. */
  isSettled: boolean;
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
  required = false,
  onChange,
  chosen,
  onServer,
  hadFocus,
}: ChoiceFieldProps & {
  /** Whether the select that stood here while this loaded had the focus. */
  hadFocus: RefObject<boolean>;
}) {
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (hadFocus.current) input.current?.focus();
  }, [hadFocus]);
  const { attributes, below } = useField({ label, name, hint });
  const { id, name: _, ...described } = attributes;
  const none = options.find((option) => option.value === '');
  // In a field that must be filled, it only says what to do.
  const offered = required ? options.filter((option) => option !== none) : options;
  const found = (wanted: string) =>
    offered.find((option) => option.value === wanted) ?? (chosen?.value === wanted ? chosen : null);
  const selected = useStable(found(value));
  const hasFailed = onServer?.isSettled && onServer.total === undefined;
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
        isItemEqualToValue={(one, other) => one?.value === other?.value}
        {...(onServer && searchedBy(onServer))}
        value={selected}
        onValueChange={(option: Option | null) => onChange(option?.value ?? '')}
      >
        <Combobox.InputGroup className={styles.group}>
          <Combobox.Input
            ref={input}
            id={id}
            className={`${formStyles.input} ${styles.input}`}
            placeholder={none?.label ?? 'Search'}
            autoComplete="off"
            spellCheck={false}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || event.currentTarget.hasAttribute('aria-activedescendant')) return;
              if (event.currentTarget.value === (selected?.label ?? '')) return;
              // A typed text is no choice. The form would be submitted with the former one.
              event.preventDefault();
              event.preventBaseUIHandler();
            }}
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
                {hasFailed
                  ? SEARCH_FAILED
                  : onServer?.isSettled === false
                    ? 'Searching…'
                    : 'Nothing matches. Type less of the name.'}
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
      {hasFailed && (
        <span className={formStyles.error} role="alert">
          {SEARCH_FAILED}
        </span>
      )}
    </div>
  );
}

/** Returns the same object as long as the option is the same. The combobox takes another one for a choice, and shows its label instead of the typed text. */
function useStable(option: Option | null): Option | null {
  const { value, label } = option ?? {};
  return useMemo(
    () => (value === undefined || label === undefined ? null : { value, label }),
    [value, label],
  );
}

/**
 * The behaviour of the combobox if the server searches. Until the server answers, the options of the former text are filtered here,
 * so that Enter chooses none that does not match.
 */
function searchedBy({ onSearch, isSettled }: ServerSearch) {
  const holds = ({ label }: Option, text: string) => label.toLowerCase().includes(text.trim().toLowerCase());
  return {
    filter: (option: Option, text: string) => (isSettled && option.value !== '') || holds(option, text),
    onInputValueChange: (text: string, { reason }: { reason: string }) =>
      onSearch(reason === 'input-change' ? text : ''),
  };
}
