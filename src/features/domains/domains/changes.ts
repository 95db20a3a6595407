import type { DomainRow } from './store.ts';

type Settings = Pick<DomainRow, 'is_primary' | 'redirect_to_name' | 'secure_all_urls'>;

/** A name that was added, before anything was asked of it. */
export const NEW_NAME: Settings = { is_primary: false, redirect_to_name: null, secure_all_urls: false };

/** What is otherwise about a domain now than before, in the API's words; empty if nothing is. */
export function changesBetween(before: Settings, now: Settings): Record<string, string | boolean | null> {
  return {
    ...(before.is_primary === now.is_primary ? {} : { primary: now.is_primary }),
    ...(before.redirect_to_name === now.redirect_to_name ? {} : { redirect_to: now.redirect_to_name }),
    ...(before.secure_all_urls === now.secure_all_urls ? {} : { secure_all_urls: now.secure_all_urls }),
  };
}
