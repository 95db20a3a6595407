import { useEffect, useState } from 'react';

/** So long nothing is typed before the server is asked. */
const REST_MS = 200;

/** A text once nobody has changed it for a while; an empty one at once. */
export function useDebounced(text: string): string {
  const [rested, setRested] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), REST_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return text === '' ? '' : rested;
}
