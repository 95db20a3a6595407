import { useEffect, useState } from 'react';

/** Typing must pause this long before the server is asked. */
const DELAY_MS = 200;

/** Returns the text once it has not changed for a moment. An empty text is returned at once. */
export function useDebounced(text: string): string {
  const [debounced, setDebounced] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(text), DELAY_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return text === '' ? '' : debounced;
}
