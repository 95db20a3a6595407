import { useQuery } from '@tanstack/react-query';
import { useEffect, useId, useState } from 'react';
import { searchFor } from '../api/search.ts';
import { useDebounced } from './debounced.ts';
import styles from './filter.module.css';

interface Choice {
  id: string;
  name: string;
}

/** The type of the input event when a suggestion is chosen. Some browsers send another event. */
const SUGGESTED = 'insertReplacementText';

/**
 * A filter above a list that the user chooses by typing a name: the server suggests the sites or installs of the account
 * with it. An empty text filters nothing.
 */
export function SearchChip({
  accountId,
  kind,
  label,
  name,
  offered,
  chosen,
  onChoose,
}: {
  accountId: string;
  kind: 'site' | 'install';
  label: string;
  name: string;
  /** A choice that is always offered. */
  offered?: Choice;
  /** The chosen one, with its name; null for none. */
  chosen: Choice | null;
  /** Gets an ID, or an empty text for none. */
  onChoose(id: string): void;
}) {
  const list = useId();
  const [typed, setTyped] = useState(chosen?.name ?? '');
  const [shown, setShown] = useState(chosen?.name);
  // Chosen elsewhere: by the address, or by a button that clears the filters.
  if (shown !== chosen?.name) {
    setShown(chosen?.name);
    setTyped(chosen?.name ?? '');
  }
  const wanted = typed.trim().toLowerCase();
  const asked = useDebounced(wanted);
  const { data, isFetching } = useQuery(searchFor(typed === chosen?.name ? '' : asked, accountId));
  const isSettled = asked === wanted && !isFetching;
  const options = namedApart([
    ...(offered?.name.toLowerCase().includes(wanted) ? [offered] : []),
    ...(data?.results.filter((found) => found.kind === kind) ?? []),
  ]);

  // The choice may come before its suggestions: by Enter the first of them, otherwise the one of that name.
  const [awaits, setAwaits] = useState<'first' | 'same' | null>(null);
  const same = options.find(({ text }) => text.toLowerCase() === wanted);
  const found = same ?? (awaits === 'first' ? options[0] : undefined);
  useEffect(() => {
    if (awaits === null || !isSettled) return;
    setAwaits(null);
    if (found === undefined) setTyped(chosen?.name ?? '');
    else onChoose(found.id);
  }, [awaits, isSettled, found, chosen, onChoose]);

  return (
    <label className={styles.chip} data-active={chosen !== null || undefined}>
      {label}
      <input
        className={styles.choice}
        name={name}
        list={list}
        autoComplete="off"
        spellCheck={false}
        placeholder="Any"
        value={typed}
        onChange={({ currentTarget: { value }, nativeEvent }) => {
          setTyped(value);
          const isSuggestion = !(nativeEvent instanceof InputEvent) || nativeEvent.inputType === SUGGESTED;
          setAwaits(isSuggestion && value !== '' ? 'same' : null);
          if (value === '' && chosen !== null) onChoose('');
        }}
        onKeyDown={({ key }) => {
          if (key === 'Enter' && wanted !== '') setAwaits('first');
        }}
        onBlur={() => {
          if (wanted !== '' && typed !== chosen?.name) setAwaits('same');
        }}
      />
      <datalist id={list}>
        {options.map(({ id, text }) => (
          <option key={id} value={text} />
        ))}
      </datalist>
    </label>
  );
}

/** Numbers the second and later ones of the same name, because the browser returns only the text. */
function namedApart(found: readonly Choice[]): { id: string; text: string }[] {
  return found.map(({ id, name }, index) => {
    const before = found.slice(0, index).filter((other) => other.name === name).length;
    return { id, text: before === 0 ? name : `${name} (${before + 1})` };
  });
}
