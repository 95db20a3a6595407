import { useLayoutEffect, useRef } from 'react';

/**
 * Where the focus goes when a dialog closes: back to what opened it, or, where that has gone with what was deleted, to the heading
 * of the part that it stood in, or else to the content of the page.
 */
export function useReturnFocus(open: boolean): () => HTMLElement | null {
  const places = useRef<(Element | null)[]>([]);
  useLayoutEffect(() => {
    if (!open) return;
    const opener = document.activeElement;
    places.current =
      opener === null || opener === document.body
        ? []
        : [
            opener,
            opener.closest('section[aria-labelledby]')?.querySelector('h2') ?? null,
            document.getElementById('content'),
          ];
  }, [open]);
  return () =>
    places.current.filter((place) => place instanceof HTMLElement).find((place) => place.isConnected) ?? null;
}
