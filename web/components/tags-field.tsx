import { Combobox } from '@base-ui/react/combobox';
import XMarkIcon from '@heroicons/react/24/outline/XMarkIcon';
import { useRef, useState } from 'react';
import comboboxStyles from './combobox-field.module.css';
import { useField } from './fields.tsx';
import formStyles from './form.module.css';
import { keyOf, LONGEST_TAG } from './tag-names.ts';
import styles from './tags-field.module.css';

/** Number of suggestions shown at once. Typing finds the others. */
const SHOWN = 100;

/**
 * A field for tags. It suggests those of the account, and with `mayCreate` takes new ones. A typed text becomes a tag when the user
 * leaves the field, too.
 */
export function TagsField({
  label,
  name,
  hint,
  value,
  onChange,
  suggestions,
  mayCreate = false,
}: {
  label: string;
  name: string;
  hint?: string;
  value: readonly string[];
  onChange(tags: string[]): void;
  suggestions: readonly string[];
  mayCreate?: boolean;
}) {
  const [typed, setTyped] = useState('');
  const group = useRef<HTMLDivElement>(null);
  const popup = useRef<HTMLDivElement>(null);
  const { attributes, below } = useField({ label, name, hint });
  const { id, name: _, ...described } = attributes;
  const wanted = typed.trim();
  const known = [...suggestions, ...value.filter((tag) => !suggestions.includes(tag))];
  const isNew = wanted !== '' && !known.some((tag) => keyOf(tag) === keyOf(wanted));

  function takeTyped() {
    const tag = known.find((other) => keyOf(other) === keyOf(wanted)) ?? (mayCreate ? wanted : '');
    if (keyOf(tag) === '') return;
    if (!value.some((other) => keyOf(other) === keyOf(tag))) onChange([...value, tag]);
    setTyped('');
  }

  return (
    <div className={formStyles.field}>
      <label className={formStyles.label} htmlFor={id}>
        {label}
      </label>
      <Combobox.Root
        multiple
        items={isNew && mayCreate ? [...known, wanted] : known}
        limit={SHOWN}
        autoHighlight
        value={[...value]}
        onValueChange={(tags: string[], details) => {
          // Escape would remove all tags. It closes the dialog instead.
          if (details.reason === 'escape-key') {
            details.allowPropagation();
            return;
          }
          onChange(tags);
          setTyped('');
        }}
        inputValue={typed}
        onInputValueChange={(text, { reason }) => {
          // Closing the list would remove the text.
          if (reason !== 'input-clear') setTyped(text);
        }}
      >
        <Combobox.Chips ref={group} className={`${formStyles.input} ${styles.chips}`}>
          <Combobox.Value>
            {(tags: string[]) => (
              <>
                {tags.map((tag) => (
                  <Combobox.Chip key={tag} className={styles.chip} aria-label={tag}>
                    {tag}
                    <Combobox.ChipRemove className={styles.remove} aria-label={`Remove ${tag}`}>
                      <XMarkIcon />
                    </Combobox.ChipRemove>
                  </Combobox.Chip>
                ))}
                <Combobox.Input
                  id={id}
                  className={styles.input}
                  placeholder={tags.length > 0 ? '' : mayCreate ? 'Search or create a tag' : 'Search tags'}
                  maxLength={LONGEST_TAG}
                  autoComplete="off"
                  spellCheck={false}
                  onBlur={({ currentTarget, relatedTarget }) => {
                    // Another window has the focus, or the list of options.
                    if (document.activeElement === currentTarget) return;
                    if (relatedTarget instanceof Node && popup.current?.contains(relatedTarget)) return;
                    takeTyped();
                  }}
                  onKeyDown={(event) => {
                    if (event.key !== 'Enter' || event.nativeEvent.isComposing || wanted === '') return;
                    if (event.currentTarget.hasAttribute('aria-activedescendant')) return;
                    // The form would be submitted without it.
                    event.preventDefault();
                    event.preventBaseUIHandler();
                    takeTyped();
                  }}
                  {...described}
                />
              </>
            )}
          </Combobox.Value>
        </Combobox.Chips>
        <Combobox.Portal>
          <Combobox.Positioner
            className={comboboxStyles.positioner}
            anchor={group}
            sideOffset={4}
            // It stands outside of the page's landmarks.
            role="region"
            aria-label={`Options: ${label}`}
          >
            <Combobox.Popup ref={popup} className={comboboxStyles.popup}>
              <Combobox.Empty className={comboboxStyles.empty}>
                {mayCreate ? 'Type a name to create a tag.' : 'No tag matches.'}
              </Combobox.Empty>
              <Combobox.List className={comboboxStyles.list} aria-label={label}>
                {(tag: string) => (
                  <Combobox.Item key={tag} value={tag} className={comboboxStyles.option}>
                    {known.includes(tag) ? tag : `Create “${tag}”`}
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
