import type { FieldError } from '../../../api/failure.ts';
import { truncate } from '../../../components/truncate.ts';
import { looksLikeApex } from './dns-advice.ts';

/** Limits the length of names in messages, in case a whole file was pasted. */
export const LONGEST_NAME = 80;

/** Parses names separated by lines, spaces or commas. Accepts URLs and removes duplicates. */
export function readNames(text: string): string[] {
  const names = text.split(/[\s,;]+/).map((word) =>
    word
      .replace(/^https?:\/\//i, '')
      .replace(/[/:?#].*$/, '')
      .toLowerCase(),
  );
  return [...new Set(names.filter((name) => name !== ''))];
}

/** Returns `www.example.com` for `example.com` and vice versa; null for a wildcard. */
export function twinOf(name: string): string | null {
  if (name.startsWith('*.')) return null;
  return name.startsWith('www.') ? name.slice('www.'.length) : `www.${name}`;
}

export interface NewDomain {
  name: string;
  redirect_to?: string;
}

/** Visitors do not try www before `blog.example.com`. */
const isTriedWithWww = (name: string) =>
  name.startsWith('www.') || (name.includes('.') && looksLikeApex(name));

/** Returns the domains to add. With `twins`, it adds missing www twins as redirects. */
export function withTwins(names: readonly string[], present: readonly string[], twins: boolean): NewDomain[] {
  const known = new Set([...names, ...present]);
  const added = names.map((name): NewDomain => ({ name }));
  if (!twins) return added;
  const redirects = names.flatMap((name): NewDomain[] => {
    const twin = twinOf(name);
    return twin === null || known.has(twin) || !isTriedWithWww(name)
      ? []
      : [{ name: twin, redirect_to: name }];
  });
  return [...added, ...redirects];
}

/** Moves the errors of a request to the names field, and adds the names to which the server refers by index. */
export function nameErrors(errors: readonly FieldError[], domains: readonly NewDomain[]): FieldError[] {
  return errors.map(({ field, message }) => {
    const [, index] = /^domains\.(\d+)\./.exec(field) ?? [];
    const name = index === undefined ? undefined : domains[Number(index)]?.name;
    const isNamed =
      name === undefined ||
      message.startsWith(`${name} `) ||
      // A short name may be a word of the message.
      (name.includes('.') && message.includes(name));
    const sentence = isNamed ? message : `${truncate(name, LONGEST_NAME)}: ${message}`;
    return { field: 'names', message: sentence };
  });
}
