import { useLayoutEffect, useRef } from 'react';

/**
 * Where the focus goes when a dialog closes: back to what opened it, or, where that has gone with what was deleted, to the heading
 * of the part that it stood in, or else to the content of the page. Who has gone on to another page from within goes on in that.
 */
export function useReturnFocus(open: boolean): () => HTMLElement | null {
  const places = useRef<(Element | null)[]>([]);
  const page = useRef('');
  useLayoutEffect(() => {
    if (!open) return;
    const opener = document.activeElement;
    page.current = window.location.pathname;
    places.current =
      opener === null || opener === document.body
        ? []
        : [
            opener,
            opener.closest('section[aria-labelledby]')?.querySelector('h2') ?? null,
            document.getElementById('content'),
          ];
  }, [open]);
  return () => {
    if (page.current !== window.location.pathname) return document.getElementById('content');
    return (
      places.current.filter((place) => place instanceof HTMLElement).find((place) => place.isConnected) ??
      null
    );
  };
}
