import { useState } from 'react';
import { useDebounced } from './debounced.ts';

/** Shown near a search field. Typing again sends another request. */
export const SEARCH_FAILED = 'The search failed. Try again.';

/** A text that the user types to search on the server, and what the server is asked for once typing pauses. */
export function useSearchText() {
  const [typed, setTyped] = useState('');
  const wanted = typed.trim().toLowerCase();
  const asked = useDebounced(wanted);
  return { typed, setTyped, asked, isPaused: asked === wanted };
}
