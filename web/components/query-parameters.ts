import { useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';

/** Parameters by name. An empty value means that the parameter is absent. */
export type Parameters = Record<string, string>;

/**
 * Keeps filters and paging in the query string, so that Back, reloads and links restore them. A change replaces the
 * history entry, so that Back leaves the page.
 */
export function useQueryParameters() {
  const [path, navigate] = useLocation();
  const [parameters] = useSearchParams();
  const addressWith = (present: URLSearchParams, changes: Parameters) => {
    const next = new URLSearchParams(present);
    for (const [name, value] of Object.entries(changes)) {
      if (value === '') next.delete(name);
      else next.set(name, value);
    }
    return next.size === 0 ? path : `${path}?${next}`;
  };
  return {
    get: (name: string) => parameters.get(name) ?? '',
    /** Returns the address of this page with these parameters changed, for links. Back returns from it. */
    addressWith: (changes: Parameters) => addressWith(parameters, changes),
    /** Changes these parameters and keeps the others. */
    set(changes: Parameters) {
      try {
        navigate(addressWith(new URLSearchParams(window.location.search), changes), { replace: true });
      } catch (error) {
        // Safari refuses more than 100 changes in a few seconds. The next change includes this one.
        if (!(error instanceof DOMException && error.name === 'SecurityError')) throw error;
      }
    },
  };
}

/**
 * The text of an input that is also stored elsewhere. The input shows typed text at once, even if `keep` stores it
 * late.
 */
export function useEditableText(kept: string, keep: (text: string) => void) {
  const [state, setState] = useState({ typed: kept, kept });
  if (state.kept !== kept) setState({ typed: kept, kept });
  const type = (typed: string) => {
    setState({ typed, kept });
    keep(typed);
  };
  return [state.typed, type] as const;
}
