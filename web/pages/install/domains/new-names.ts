import type { FieldError } from '../../../api/failure.ts';
import { truncate } from '../../../components/truncate.ts';
import { looksLikeApex } from './dns-advice.ts';

/** Enough to know one's name by; a whole file pasted by mistake is one name too. */
export const LONGEST_NAME = 80;

/** Names as people write or paste them: by lines, spaces or commas, whole URLs among them, each once. */
export function readNames(text: string): string[] {
  const names = text.split(/[\s,;]+/).map((word) =>
    word
      .replace(/^https?:\/\//i, '')
      .replace(/[/:?#].*$/, '')
      .toLowerCase(),
  );
  return [...new Set(names.filter((name) => name !== ''))];
}

/** `www.example.com` for `example.com`, and the other way; null for a wildcard. */
export function twinOf(name: string): string | null {
  if (name.startsWith('*.')) return null;
  return name.startsWith('www.') ? name.slice('www.'.length) : `www.${name}`;
}

export interface NewDomain {
  name: string;
  redirect_to?: string;
}

/** Nobody tries www before `blog.example.com`. */
const isTriedWithWww = (name: string) => name.startsWith('www.') || looksLikeApex(name);

/**
 * What to add: each name, and if wanted the twin that visitors try as a redirect to it, unless that is named or there
 * already.
 */
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

/** The faults of a request, each at the field of the names and with the name that it is of, which the server only counts. */
export function faultsOfNames(faults: readonly FieldError[], domains: readonly NewDomain[]): FieldError[] {
  return faults.map(({ field, message }) => {
    const [, index] = /^domains\.(\d+)\./.exec(field) ?? [];
    const name = index === undefined ? undefined : domains[Number(index)]?.name;
    const isNamed = name === undefined || message.includes(name);
    const sentence = isNamed ? message : `${truncate(name, LONGEST_NAME)}: ${message}`;
    return { field: 'names', message: sentence };
  });
}
