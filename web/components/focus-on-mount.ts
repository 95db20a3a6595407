import { type RefObject, useEffect, useRef } from 'react';

/** For what has just taken the place of something else on the page: whoever types or listens goes on here. */
export function useFocusOnMount<Focused extends HTMLElement>(): RefObject<Focused | null> {
  const element = useRef<Focused>(null);
  useEffect(() => element.current?.focus(), []);
  return element;
}
