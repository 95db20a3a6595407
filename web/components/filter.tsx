import MagnifyingGlassIcon from '@heroicons/react/24/outline/MagnifyingGlassIcon';
import type { ComponentProps } from 'react';
import { useField } from './fields.tsx';
import styles from './filter.module.css';

interface Named {
  label: string;
  name: string;
}

/** A filter above a list: a chip that names what it filters, and stands out while it does. The empty value filters nothing. */
export function FilterChip({
  label,
  options,
  ...rest
}: Named & { options: readonly { value: string; label: string }[] } & Omit<
    ComponentProps<'select'>,
    'name'
  >) {
  return (
    <label className={styles.chip} data-active={rest.value !== '' || undefined}>
      {label}
      <select className={styles.choice} {...rest}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A date that filters a list, as a chip. What is wrong with it stands below. */
export function DateChip({ label, name, ...rest }: Named & Omit<ComponentProps<'input'>, 'name' | 'type'>) {
  const { attributes, below } = useField({ label, name });
  return (
    <span className={styles.dated}>
      <label className={styles.chip} data-active={rest.value !== '' || undefined}>
        {label}
        <input type="date" className={styles.choice} {...rest} {...attributes} />
      </label>
      {below}
    </span>
  );
}

/** The search field above a list. */
export function SearchField({
  label,
  hint,
  ...rest
}: Named & { hint?: string } & Omit<ComponentProps<'input'>, 'name'>) {
  return (
    <label className={styles.search}>
      <span className="visually-hidden">{label}</span>
      <MagnifyingGlassIcon />
      <input type="search" placeholder={hint === undefined ? label : `${label}: ${hint}`} {...rest} />
    </label>
  );
}
