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
  return {
    get: (name: string) => parameters.get(name) ?? '',
    /** Changes these parameters and keeps the others. */
    set(changes: Parameters) {
      const next = new URLSearchParams(window.location.search);
      for (const [name, value] of Object.entries(changes)) {
        if (value === '') next.delete(name);
        else next.set(name, value);
      }
      try {
        navigate(next.size === 0 ? path : `${path}?${next}`, { replace: true });
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
