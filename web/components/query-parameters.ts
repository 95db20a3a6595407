import { useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';

/** Names with what they stand for; an empty text: nothing is said of it. */
export type Parameters = Record<string, string>;

/**
 * What a page is asked to show, kept in the query string of its address: Back, a reload and a link bring it again. Changing it
 * replaces the entry of the history, so that Back leaves the page.
 */
export function useQueryParameters() {
  const [path, navigate] = useLocation();
  const [parameters] = useSearchParams();
  return {
    get: (name: string) => parameters.get(name) ?? '',
    /** Says these anew and leaves the others. */
    set(changes: Parameters) {
      const next = new URLSearchParams(window.location.search);
      for (const [name, value] of Object.entries(changes)) {
        if (value === '') next.delete(name);
        else next.set(name, value);
      }
      try {
        navigate(next.size === 0 ? path : `${path}?${next}`, { replace: true });
      } catch (error) {
        // Safari refuses the hundredth change within some seconds; the next one takes this with it.
        if (!(error instanceof DOMException && error.name === 'SecurityError')) throw error;
      }
    },
  };
}

/** A text that somebody types: what is shown never waits for the address, which may be behind a fast hand. */
export function useEditableText(kept: string, keep: (text: string) => void) {
  const [state, setState] = useState({ typed: kept, kept });
  if (state.kept !== kept) setState({ typed: kept, kept });
  const type = (typed: string) => {
    setState({ typed, kept });
    keep(typed);
  };
  return [state.typed, type] as const;
}
