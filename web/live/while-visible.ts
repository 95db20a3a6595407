/**
 * Calls `begin` whenever the page becomes visible, and the function that it returned when the page is hidden, until
 * the returned function is called.
 */
export function whileVisible(
  begin: () => () => void,
  page: Pick<Document, 'addEventListener' | 'removeEventListener' | 'hidden'> = document,
): () => void {
  let end: (() => void) | undefined;
  const stop = () => {
    end?.();
    end = undefined;
  };
  const look = () => {
    if (page.hidden) stop();
    else end ??= begin();
  };
  page.addEventListener('visibilitychange', look);
  look();
  return () => {
    page.removeEventListener('visibilitychange', look);
    stop();
  };
}
