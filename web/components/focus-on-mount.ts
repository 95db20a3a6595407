import { type RefObject, useLayoutEffect, useRef } from 'react';

/** Focuses an element when it mounts, for content that replaces what had the focus. */
export function useFocusOnMount<Focused extends HTMLElement>(): RefObject<Focused | null> {
  const element = useRef<Focused>(null);
  useLayoutEffect(() => element.current?.focus(), []);
  return element;
}
